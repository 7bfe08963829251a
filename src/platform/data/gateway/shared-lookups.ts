import { Injectable } from '@nestjs/common';
import { SessionContext } from '../connection/session-context.js';
import { LostConnectionError, StatementPipeline } from '../connection/statement-pipeline.js';
import { BatchConnections } from './batch-connections.js';
import { type Deadline, SET_TIMEOUTS } from './policies.js';
import { TimeBudget } from './time-budget.js';

/** A statement that finds a few rows of any organization by an index. */
export interface Lookup {
  /** The statement is prepared under this name, after a prefix that statements of organizations do not have. */
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

  /**
   * Runs a lookup, and once more if its connection is lost.
   * @throws any error of the driver
   */
  find<Row>(lookup: Lookup): Promise<Row[]> {
    const deadline = this.timeBudget.startDeadline();
    return this.attempt<Row>(lookup, deadline).catch((error: unknown) => {
      if (!(error instanceof LostConnectionError) || deadline.retryDelayBudgetMs < 0) throw error;
      this.connections.closeIdle();
      return this.attempt<Row>(lookup, deadline);
    });
  }

  private attempt<Row>({ name, text, values }: Lookup, deadline: Deadline): Promise<Row[]> {
    return this.connections.use(async (client, limitTo) => {
      limitTo(deadline);
      const nameOf = (prepared: string) => (this.context.preparesStatements ? prepared : '');
      const timeouts = {
        name: nameOf('timeouts'),
        text: SET_TIMEOUTS,
        values: deadline.timeouts('brief'),
        isSetting: true,
      };
      const statement = { name: nameOf(`lookup ${name}`), text, values };
      const pipeline = new StatementPipeline<Row>([timeouts, statement]);
      client.query(pipeline);
      return (await pipeline.result).flat();
    });
  }
}
