import type pg from 'pg';
import type { DataSource, EntityManager } from 'typeorm';
import { destroyConnection } from '../connection/resilient-client.js';
import { poolOf, withConnection } from '../connection/driver-pool.js';
import { sendStatements } from '../connection/statement-pipeline.js';
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

/** Runs statements on jobs or events of all organizations in one transaction, as the database user. */
export async function acrossOrganizations<T>(
  dataSource: DataSource,
  work: (manager: EntityManager) => Promise<T>,
  timeoutMs = TIMEOUT_MS,
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  let cancelTimer = (): void => undefined;
  try {
    cancelTimer = destroyAfter((await runner.connect()) as pg.PoolClient, timeoutMs);
    return await runner.manager.transaction(async (manager) => {
      await manager.query(ACROSS_ORGANIZATIONS, [String(timeoutMs)]);
      return work(manager);
    });
  } finally {
    cancelTimer();
    await runner.release();
  }
}

/**
 * Runs one statement on jobs or events of all organizations in a transaction of its own, as the database user. It
 * takes one round trip.
 * @param mayBeUndone whether a crash of PostgreSQL may undo the last statements
 * @param before an expression to evaluate first. The statement sees what was committed until then.
 * @throws any error of the driver
 */
export async function queryAcrossOrganizations<Row>(
  dataSource: DataSource,
  text: string,
  values: readonly unknown[] = [],
  { mayBeUndone = false, before }: { mayBeUndone?: boolean; before?: string } = {},
): Promise<Row[]> {
  const settings = mayBeUndone ? WITHOUT_WAIT : ACROSS_ORGANIZATIONS;
  const first = before === undefined ? settings : `${settings}, ${before}`;
  const setting = { name: '', text: first, values: [String(TIMEOUT_MS)], isSetting: true };
  const results = await withConnection(poolOf(dataSource), destroyAfter, (client) =>
    sendStatements<Row>(client, [setting, { name: '', text, values }]),
  );
  return results.flat();
}

/** @returns a function that cancels the timer */
function destroyAfter(client: pg.PoolClient, ms = TIMEOUT_MS): () => void {
  const timer = setTimeout(() => {
    destroyConnection(client);
  }, ms);
  return () => {
    clearTimeout(timer);
  };
}
