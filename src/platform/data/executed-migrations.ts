import type { Type } from '@nestjs/common';
import type { MigrationInterface } from 'typeorm';
import { VERSION } from '../config/version.js';
import { MIGRATIONS } from './connection/data-source-options.js';
import { type ExtensionMigrations, MIGRATIONS_TABLE_PREFIX } from './extension-migrations.js';
import { Baseline1766016000000 } from './migrations/1766016000000-baseline.js';

/** The table that records the migrations of Latitude. */
export const MIGRATIONS_TABLE = 'migrations';

/** The names under which the table records all migrations of Latitude, in their order. */
export const MIGRATION_NAMES = namesOf(MIGRATIONS);

/** The oldest migration, which makes the schema of a new database. */
const BASELINE = new Baseline1766016000000();

/** The names of the executed migrations in their order, by the table that records them. */
export type ExecutedMigrations = Readonly<Record<string, readonly string[]>>;

/** Runs a statement and returns its rows. */
type Query = <Row>(text: string) => Promise<Row[]>;

const FIND_TABLES = `
  select relname as name, oid::regclass::text as sql from pg_class
  where relkind = 'r' and pg_table_is_visible(oid)
    and (relname = '${MIGRATIONS_TABLE}' or starts_with(relname, '${MIGRATIONS_TABLE_PREFIX}')) order by 1`;

export async function readExecutedMigrations(query: Query): Promise<ExecutedMigrations> {
  const executed: Record<string, string[]> = {};
  for (const { name, sql } of await query<{ name: string; sql: string }>(FIND_TABLES)) {
    const rows = await query<{ name: string }>(`select name from ${sql} order by id`);
    executed[name] = rows.map((row) => row.name);
  }
  return executed;
}

/** Whether migrations have created the schema of a database, completely or in part. */
export function hasSchema({ [MIGRATIONS_TABLE]: executed = [] }: ExecutedMigrations): boolean {
  return executed.length > 0;
}

/** Whether migrations that the baseline replaces have made a schema, but not all of them. */
export function isOlderThanBaseline(executed: readonly string[]): boolean {
  return (
    executed.some((name) => BASELINE.replaces.includes(name)) && !executed.includes(BASELINE.name)
  );
}

/**
 * Checks that the migrations of this program can follow those of a database.
 * @throws Error whose message is meant for the user and says what to do
 */
export function assertUpgradable({ [MIGRATIONS_TABLE]: executed = [] }: ExecutedMigrations): void {
  if (!isOlderThanBaseline(executed)) return;
  throw new Error(
    `The database has a schema from before release 0.3.0 (it lacks ${BASELINE.name}), which this version does not upgrade: back it up, run "latitude migrate" of release 0.4.0 on it, and then start this version.`,
  );
}

/** The migrations that a database lacks, and those that this program and its extensions do not have. */
export function compareMigrations(
  executed: ExecutedMigrations,
  ofExtensions: readonly ExtensionMigrations[],
): { missing: string[]; unknown: string[] } {
  const known: ExecutedMigrations = Object.fromEntries(
    [{ table: MIGRATIONS_TABLE, migrations: MIGRATIONS }, ...ofExtensions].map(
      ({ table, migrations }) => [table, namesOf(migrations)],
    ),
  );
  return { missing: difference(known, executed), unknown: difference(executed, known) };
}

/**
 * Checks that a database has exactly the migrations of this program.
 * @throws Error whose message is meant for the user and says what to do
 */
export function assertCurrentSchema(
  executed: ExecutedMigrations,
  ofExtensions: readonly ExtensionMigrations[],
): void {
  assertUpgradable(executed);
  const { missing, unknown } = compareMigrations(executed, ofExtensions);
  if (unknown.length > 0) {
    throw new Error(
      `The database has migrations that Latitude ${VERSION} and its extensions do not have (${unknown.join(', ')}): run the command with the version and the extensions that migrated it.`,
    );
  }
  if (missing.length > 0) {
    throw new Error(
      `The database lacks migrations of Latitude ${VERSION} and its extensions (${missing.join(', ')}), and this command does not migrate it: make a backup with the version that has migrated it, then start this version or run "latitude migrate".`,
    );
  }
}

/** The migrations that the others do not have. Those of extensions name their table. */
function difference(some: ExecutedMigrations, others: ExecutedMigrations): string[] {
  return Object.entries(some).flatMap(([table, names]) =>
    names
      .filter((name) => others[table]?.includes(name) !== true)
      .map((name) => (table === MIGRATIONS_TABLE ? name : `${name} of ${table}`)),
  );
}

/** The names under which TypeORM records migrations, in their order. */
export function namesOf(migrations: readonly Type<MigrationInterface>[]): string[] {
  return migrations.flatMap((type) => recordedNames(new type()));
}

/** The name under which TypeORM records a migration, after those of the migrations that it replaces and records itself. */
export function recordedNames(
  migration: MigrationInterface & { readonly replaces?: readonly string[] },
): string[] {
  return [...(migration.replaces ?? []), migration.name ?? migration.constructor.name];
}
