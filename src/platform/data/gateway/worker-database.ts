import { Injectable } from '@nestjs/common';
import type { PipelineStatement } from '../connection/statement-pipeline.js';
import { WORKER_SETTING } from '../tenant-role/tenant-role.js';
import { BatchConnections } from './batch-connections.js';

/** How long a transaction may take. A connection that is silent for longer was lost. */
const TIMEOUT_MS = 10_000;

/**
 * The first setting makes row-level security show the rows of all organizations. The others make PostgreSQL
 * end the transaction of a process that has died.
 */
const SET_WORKER = `select set_config('${WORKER_SETTING}', 'on', true),
  set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $1, true)`;

/** Does not wait until the commit is on disk or on a standby. */
const WITHOUT_WAIT = `${SET_WORKER}, set_config('synchronous_commit', 'off', true)`;

interface WorkerOptions {
  /** Whether a crash of PostgreSQL may undo the statements. */
  readonly mayBeUndone?: boolean;
  readonly timeoutMs?: number;
}

/**
 * Runs the statements of background work, as the database user: on jobs or events of all organizations, or on tables
 * that belong to none. They have no caller, so that errors of the driver are not translated.
 */
@Injectable()
export class WorkerDatabase {
  constructor(private readonly connections: BatchConnections) {}

  /**
   * Runs statements in one transaction, in one round trip. Each sees what was committed before it.
   * @returns the rows of the last one
   * @throws any error of the driver
   */
  async run<Row>(
    statements: readonly Pick<PipelineStatement, 'text' | 'values'>[],
    { mayBeUndone = false, timeoutMs = TIMEOUT_MS }: WorkerOptions = {},
  ): Promise<Row[]> {
    const text = mayBeUndone ? WITHOUT_WAIT : SET_WORKER;
    const setting = { text, values: [String(timeoutMs)], isSetting: true };
    const sent = [setting, ...statements];
    const { administration } = this.connections;
    return (await administration.send<Row>({ connectionMs: timeoutMs }, () => sent)).at(-1) ?? [];
  }

  /** Runs one statement. @see run */
  query<Row>(
    text: string,
    values: readonly unknown[] = [],
    options?: WorkerOptions,
  ): Promise<Row[]> {
    return this.run<Row>([{ text, values }], options);
  }
}
