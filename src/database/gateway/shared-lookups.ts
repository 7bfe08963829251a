import { Injectable } from '@nestjs/common';
import { SessionContext } from '../connection/session-context.js';
import { StatementPipeline } from '../connection/statement-pipeline.js';
import { BatchConnections } from './batch-connections.js';
import { TimeBudget } from './time-budget.js';

const SET_TIMEOUTS = `select set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true)`;

/** A statement that finds a few rows of any organization by an index. */
export interface Lookup {
  /** The name under which the statement is prepared. */
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
    return this.connections.share(async (client, limitTo) => {
      const deadline = this.timeBudget.startDeadline();
      limitTo(deadline);
      const nameOf = (prepared: string) => (this.context.hasOwnSession ? prepared : '');
      const [lockMs, statementMs] = deadline.timeouts('brief');
      const timeouts = {
        name: nameOf('timeouts'),
        text: SET_TIMEOUTS,
        values: [lockMs, statementMs],
      };
      const pipeline = new StatementPipeline<Row>(timeouts, { name: nameOf(name), text }, [values]);
      client.query(pipeline);
      return pipeline.result;
    });
  }
}
