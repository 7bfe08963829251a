import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type Migration, MigrationExecutor, type QueryRunner } from 'typeorm';
import { logger } from '../config/logger.js';
import {
  INSUFFICIENT_PRIVILEGE,
  LOCK_NOT_AVAILABLE,
  sqlStateOf,
} from './connection/driver-error.js';
import { withPool } from './connection/driver-pool.js';
import { createExtensions } from './create-extensions.js';
import {
  assertCurrentSchema,
  assertUpgradable,
  hasSchema,
  MIGRATIONS_TABLE,
  readExecutedMigrations,
  recordedNames,
} from './executed-migrations.js';
import type { ExtensionMigrations } from './extension-migrations.js';
import { reindexNames } from './names-collation.js';
import { prepareTenantRole } from './tenant-role/prepare-tenant-role.js';
import type { TransactionRole } from './connection/session-context.js';

/** Number of the advisory lock of migrations. The value is arbitrary but fixed. */
const MIGRATION_LOCK = 7_284_913;

/** How often an instance tries to get this lock. */
const TRY_LOCK_MS = 100;

/** How often an instance logs that it waits for another one, or that a migration is still running. */
const LOG_EVERY_MS = 5_000;

/** How long a migration waits for the lock of a table. Statements of other instances wait behind it. */
const LOCK_TIMEOUT_MS = 50;

/**
 * The pause before a migration that did not get a lock runs again. Statements that waited for it run during
 * the pause.
 */
const RETRY_MS = 200;

/** SQLSTATEs of missing privileges. TypeORM also creates tables that it may not see: `42P07`. */
const FORBIDDEN: readonly unknown[] = [INSUFFICIENT_PRIVILEGE, '42P07'];

/** The level of the log for each step. */
type StepLevel = 'debug' | 'info';

interface MigrateOptions {
  /** Called each time that migrations are pending or another instance migrates. */
  readonly before?: () => Promise<void>;
  /** The migrations of extensions, which run after those of Latitude. */
  readonly extensionMigrations?: readonly ExtensionMigrations[];
  /** Whether a schema stays as it is, and must be that of this program. A database without one gets it. */
  readonly keepsSchema?: boolean;
}

/**
 * Brings the schema and the privileges of the tenant role up to date. Several instances may start at
 * once.
 * @returns the role of the application's statements; undefined if they run as the database user
 * @throws Error whose message is meant for the user if the database user lacks privileges, or the schema is not that of
 *   this program and stays as it is
 */
export async function migrate(
  dataSource: DataSource,
  {
    before = () => Promise.resolve(),
    extensionMigrations = [],
    keepsSchema = false,
  }: MigrateOptions = {},
): Promise<TransactionRole | undefined> {
  const lock = dataSource.createQueryRunner();
  try {
    await waitForLock(lock, before);
    const started = performance.now();
    const executed = await explainForbidden(dataSource, () =>
      readExecutedMigrations((text) => dataSource.query(text)),
    );
    if (keepsSchema && hasSchema(executed)) {
      assertCurrentSchema(executed, extensionMigrations);
      return await prepareTenantRole(dataSource);
    }
    assertUpgradable(executed);
    // The steps of a new database are of no interest, unless an earlier attempt was interrupted.
    const isNew = executed[MIGRATIONS_TABLE] === undefined;
    const level = isNew ? 'debug' : 'info';
    await createExtensions(dataSource);
    await runMigrations(dataSource, before, level);
    for (const migrations of extensionMigrations) {
      await runMigrationsOf(migrations, dataSource, before, level);
    }
    await reindexNames(dataSource);
    const role = await prepareTenantRole(dataSource, level);
    if (isNew) {
      const seconds = ((performance.now() - started) / 1_000).toFixed(1);
      logger.info(`The new database was set up in ${seconds} s`);
    }
    return role;
  } finally {
    if (lock.isTransactionActive) await lock.rollbackTransaction().catch(() => undefined);
    await lock.release();
  }
}

async function waitForLock(runner: QueryRunner, before: () => Promise<void>): Promise<void> {
  if (await tryLock(runner)) return;
  await before();
  const started = performance.now();
  let logged = -Infinity;
  // Poll: a statement that waited for the lock would block `create index concurrently`.
  do {
    const now = performance.now();
    if (now - logged >= LOG_EVERY_MS) {
      const seconds = Math.round((now - started) / 1_000);
      logger.info({ seconds }, 'waiting for another instance that migrates the database');
      logged = now;
    }
    await sleep(TRY_LOCK_MS);
  } while (!(await tryLock(runner)));
}

/** Runs the migrations of an extension by a data source of their own, which records them in their own table. */
async function runMigrationsOf(
  { table, migrations }: ExtensionMigrations,
  { options }: DataSource,
  before: () => Promise<void>,
  level: StepLevel,
): Promise<void> {
  const dataSource = new DataSource({
    ...options,
    ...withPool(),
    entities: [],
    migrations: [...migrations],
    migrationsTableName: table,
    poolSize: 2,
  } as DataSource['options']);
  await dataSource.initialize();
  try {
    await runMigrations(dataSource, before, level);
  } finally {
    await dataSource.destroy();
  }
}

async function runMigrations(
  dataSource: DataSource,
  before: () => Promise<void>,
  level: StepLevel,
): Promise<void> {
  await explainForbidden(dataSource, async () => {
    const migrations = new MigrationExecutor(dataSource);
    warnOfNewerSchema(dataSource, await migrations.getExecutedMigrations());
    const pending = await migrations.getPendingMigrations();
    if (pending.length === 0) return;
    await before();
    await runPending(dataSource, pending, level);
  });
}

/** @throws Error that says what to do if the database user lacks privileges */
async function explainForbidden<T>(dataSource: DataSource, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!FORBIDDEN.includes(sqlStateOf(error))) throw error;
    const [{ name, schema }] = await dataSource.query<[{ name: string; schema: string }]>(
      'select quote_ident(current_user) as name, quote_ident(current_schema()) as schema',
    );
    throw new Error(
      `The database user ${name} must own the tables of Latitude and may have to create others ` +
        `(${(error as Error).message}); run as a superuser: grant create on schema ${schema} to ` +
        `${name}; and for each table: alter table ... owner to ${name}`,
      { cause: error },
    );
  }
}

/** Runs migrations one after another, and logs the name, the number and the duration of each. */
async function runPending(
  dataSource: DataSource,
  pending: readonly Migration[],
  level: StepLevel,
): Promise<void> {
  const runner = dataSource.createQueryRunner();
  const executor = new MigrationExecutor(dataSource, runner);
  try {
    for (const [index, migration] of pending.entries()) {
      const started = performance.now();
      const log = (message: string, at: StepLevel = 'info') => {
        const ms = Math.round(performance.now() - started);
        const { name } = migration;
        logger[at]({ migration: name, number: index + 1, of: pending.length, ms }, message);
      };
      const ticker = setInterval(log, LOG_EVERY_MS, 'a migration is still running');
      await run(executor, runner, migration).finally(() => {
        clearInterval(ticker);
      });
      log('a migration is complete', level);
    }
  } finally {
    await runner.release();
  }
}

/** Runs a migration, and repeats it until it gets each lock without a long wait. */
async function run(
  executor: MigrationExecutor,
  runner: QueryRunner,
  migration: Migration,
): Promise<void> {
  // `create index concurrently` runs outside of transactions. It waits for other statements and blocks none.
  if (migration.instance?.transaction === false) {
    await executor.executeMigration(migration);
    return;
  }
  for (;;) {
    await runner.startTransaction();
    try {
      await runner.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await executor.executeMigration(migration);
      await runner.commitTransaction();
      return;
    } catch (error) {
      await runner.rollbackTransaction().catch(() => undefined);
      if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE) throw error;
      await sleep(RETRY_MS);
    }
  }
}

/** A rolling upgrade, or a return to an older version, runs it on the schema of a newer one. */
function warnOfNewerSchema({ migrations: own }: DataSource, executed: readonly Migration[]): void {
  const known = own.flatMap(recordedNames);
  const names = executed.map(({ name }) => name);
  const migrations = names.filter((name) => !known.includes(name)).sort();
  if (migrations.length === 0) return;
  logger.warn({ migrations }, 'the schema of the database is newer than this version');
}

/**
 * Starts a transaction that holds the lock of migrations, unless another instance holds it. The lock belongs to
 * the transaction and not to the session: in transaction mode, a pooler gives the session to other clients.
 *
 * Each attempt is a transaction of its own. `create index concurrently` of another instance may wait for each
 * transaction that has a snapshot when it looks, until that transaction ends.
 */
async function tryLock(runner: QueryRunner): Promise<boolean> {
  await runner.startTransaction();
  await runner.query('set local idle_in_transaction_session_timeout = 0');
  // Without parameters: pg would keep the portal of the statement open, and with it the snapshot.
  const [row] = (await runner.query(
    `select pg_try_advisory_xact_lock(${MIGRATION_LOCK}) as locked`,
  )) as { locked: boolean }[];
  if (row?.locked === true) return true;
  await runner.rollbackTransaction();
  return false;
}
