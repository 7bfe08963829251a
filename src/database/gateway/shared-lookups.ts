import { Injectable } from '@nestjs/common';
import { BatchConnections } from './batch-connections.js';
import { TimeBudget } from './time-budget.js';

/** A statement that finds a few rows of any organization by an index. */
export interface Lookup {
  /** The name of the prepared statement. */
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
  ) {}

  /** @throws any error of the driver */
  find<Row>({ name, text, values }: Lookup): Promise<Row[]> {
    return this.connections.use(async (client, limitTo) => {
      limitTo(this.timeBudget.startDeadline());
      const result = await client.query({ name, text, values: [...values] });
      return result.rows as Row[];
    });
  }
}
