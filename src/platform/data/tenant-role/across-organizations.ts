import type { DataSource } from 'typeorm';
import { poolOf } from '../connection/driver-pool.js';
import { type PipelineStatement, sendStatements } from '../connection/statement-pipeline.js';
import { WORKER_SETTING } from './tenant-role.js';

/** How long a transaction may take. A connection that is silent for longer was lost. */
const TIMEOUT_MS = 10_000;

/**
 * The first setting makes row-level security show the rows of all organizations. The others make PostgreSQL
 * end the transaction of a process that has died.
 */
const ACROSS_ORGANIZATIONS = `select set_config('${WORKER_SETTING}', 'on', true),
  set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $1, true)`;

/** Does not wait until the commit is on disk or on a standby. */
const WITHOUT_WAIT = `${ACROSS_ORGANIZATIONS}, set_config('synchronous_commit', 'off', true)`;

export interface AcrossOptions {
  /** Whether a crash of PostgreSQL may undo the statements. */
  readonly mayBeUndone?: boolean;
  readonly timeoutMs?: number;
}

/**
 * Runs statements of background work in one transaction, as the database user: on jobs or events of all organizations,
 * or on tables that belong to none. It takes one round trip. Each statement sees what was committed before it.
 * @returns the rows of the last one
 * @throws any error of the driver
 */
export async function runAcrossOrganizations<Row>(
  dataSource: DataSource,
  statements: readonly Pick<PipelineStatement, 'text' | 'values'>[],
  { mayBeUndone = false, timeoutMs = TIMEOUT_MS }: AcrossOptions = {},
): Promise<Row[]> {
  const text = mayBeUndone ? WITHOUT_WAIT : ACROSS_ORGANIZATIONS;
  const setting = { text, values: [String(timeoutMs)], isSetting: true };
  const results = await poolOf(dataSource).use((client, limitTo) => {
    limitTo(timeoutMs);
    return sendStatements<Row>(client, [setting, ...statements]);
  });
  return results.at(-1) ?? [];
}

/** Runs one statement. @see runAcrossOrganizations */
export function queryAcrossOrganizations<Row>(
  dataSource: DataSource,
  text: string,
  values: readonly unknown[] = [],
  options?: AcrossOptions,
): Promise<Row[]> {
  return runAcrossOrganizations<Row>(dataSource, [{ text, values }], options);
}
