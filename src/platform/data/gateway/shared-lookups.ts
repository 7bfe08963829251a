import { Injectable } from '@nestjs/common';
import { SessionContext } from '../connection/session-context.js';
import { translateErrors } from '../connection/driver-error.js';
import { LostConnectionError, sendStatements } from '../connection/statement-pipeline.js';
import { BatchConnections } from './batch-connections.js';
import { SET_TIMEOUTS } from './policies.js';
import { TimeBudget } from './time-budget.js';

/**
 * Short reads that run as the database user: those of requests before their organization is known, of tables that the
 * tenant role may not read, and of the state of the database.
 */
@Injectable()
export class SharedLookups {
  constructor(
    private readonly connections: BatchConnections,
    private readonly timeBudget: TimeBudget,
    private readonly context: SessionContext,
  ) {}

  /**
   * Reads a few rows, and once more if the connection is lost.
   * @param name the statement is prepared under this name, after a prefix that statements of organizations do not have
   * @param deadline when it must end. Default: after the time of one operation.
   * @throws ApiError `query_failed`
   */
  find<Row>(
    name: string,
    text: string,
    values: readonly unknown[],
    deadline = this.timeBudget.startDeadline(),
  ): Promise<Row[]> {
    const nameOf = (prepared: string) => (this.context.preparesStatements ? prepared : '');
    const statement = { name: nameOf(`lookup ${name}`), text, values };
    const timeouts = { name: nameOf('timeouts'), text: SET_TIMEOUTS, isSetting: true };
    const { pool, closeIdle } = this.connections;
    const attempt = () =>
      pool.use(async (client, limitTo) => {
        limitTo(deadline.connectionMs);
        const first = { ...timeouts, values: deadline.timeouts('brief') };
        return (await sendStatements<Row>(client, [first, statement])).flat();
      });
    const rows = attempt().catch((error: unknown) => {
      if (!(error instanceof LostConnectionError) || deadline.retryDelayBudgetMs < 0) throw error;
      closeIdle();
      return attempt();
    });
    return translateErrors(rows, 'query_failed');
  }
}
