import { Injectable } from '@nestjs/common';
import { translateErrors } from '../connection/driver-error.js';
import type { ConnectionPool } from '../connection/driver-pool.js';
import { LostConnectionError, type PipelineStatement } from '../connection/statement-pipeline.js';
import { BatchConnections } from './batch-connections.js';
import { type Deadline, type LockWait, refusalOf, SET_TIMEOUTS } from './policies.js';
import type { Statement } from './statement.js';
import { TimeBudget } from './time-budget.js';

/**
 * Runs the statements of requests that no organization restricts, as the database user: before the organization is known,
 * on tables that the tenant role may not use, and on the state of the database. `WorkerDatabase` runs those of background
 * work, which may use all connections of the administration data source for seconds.
 */
@Injectable()
export class SharedDatabase {
  constructor(
    private readonly connections: BatchConnections,
    private readonly timeBudget: TimeBudget,
  ) {}

  /**
   * Reads a few rows, and once more if the connection is lost.
   * @param deadline when it must end. Default: after the time of one operation.
   * @throws ApiError `query_failed`
   */
  read<Row>(
    text: string,
    values: readonly unknown[] = [],
    deadline = this.timeBudget.startDeadline(),
  ): Promise<Row[]> {
    const { batches, closeIdle, settings } = this.connections;
    const statement = settings.fixed(text, values);
    const attempt = () => this.send<Row>(batches, deadline, 'brief', [statement]);
    const rows = attempt().catch((error: unknown) => {
      if (!(error instanceof LostConnectionError) || !deadline.allowsNewConnection) throw error;
      closeIdle();
      return attempt();
    });
    return refused(translateErrors(rows, 'query_failed'), deadline);
  }

  /**
   * Runs statements in one transaction, in one round trip. They are planned each time, because a plan for an empty table
   * would be slow later.
   * @returns the rows of the last statement
   * @throws ApiError `create_failed`
   */
  write<Row>(...statements: readonly Statement[]): Promise<Row[]> {
    const deadline = this.timeBudget.startDeadline();
    const rows = this.send<Row>(this.connections.requests, deadline, 'long', statements);
    return refused(translateErrors(rows, 'create_failed'), deadline);
  }

  private async send<Row>(
    pool: ConnectionPool,
    deadline: Deadline,
    wait: LockWait,
    statements: readonly PipelineStatement[],
  ): Promise<Row[]> {
    const { settings } = this.connections;
    const sending = pool.send<Row>(deadline, () => [
      settings.setting('timeouts', SET_TIMEOUTS, deadline.timeouts(wait)),
      ...statements,
    ]);
    return (await sending).at(-1) ?? [];
  }
}

/** @throws the error of an operation that is not repeated */
async function refused<T>(running: Promise<T>, deadline: Deadline): Promise<T> {
  try {
    return await running;
  } catch (error) {
    throw refusalOf(error, deadline);
  }
}
