import { Injectable } from '@nestjs/common';
import { SessionContext } from '../connection/session-context.js';
import { BatchConnections } from './batch-connections.js';
import { TimeBudget } from './time-budget.js';

/** A statement that finds a few rows of any organization by an index. */
export interface Lookup {
  /** The name of the statement where it is prepared. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Lookups that requests need before their organization is known. They run as the database user. */
@Injectable()
export class SharedLookups {
  constructor(
    private readonly connections: BatchConnections,
    private readonly timeBudget: TimeBudget,
    private readonly context: SessionContext,
  ) {}

  /** @throws any error of the driver */
  find<Row>({ name, text, values }: Lookup): Promise<Row[]> {
    return this.connections.use(async (client, limitTo) => {
      limitTo(this.timeBudget.startDeadline());
      const isPrepared = this.context.hasOwnSession;
      const query = { name: isPrepared ? name : undefined, text, values: [...values] };
      const result = await client.query(query);
      return result.rows as Row[];
    });
  }
}
