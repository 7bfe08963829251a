import { VERSION } from '../../../platform/config/version.js';
import {
  compareMigrations,
  type ExecutedMigrations,
  MIGRATION_NAMES,
  MIGRATIONS_TABLE,
} from '../../../platform/data/executed-migrations.js';
import type { ExtensionMigrations } from '../../../platform/data/extension-migrations.js';
import { MIGRATION_EFFECTS, OLDEST_BESIDE, RELEASES } from './migration-effects.js';

/** The least time of a migration: its transaction, and its row in the table of migrations. */
const LEAST_SECONDS = 0.1;

/** The write-ahead log of an index or of filled rows is about as large as they are. */
const WITH_LOG = 2;

/** A migration that will run, with estimates from the numbers of rows. */
export interface PlannedMigration {
  readonly name: string;
  /** Null for a migration of an extension. */
  readonly does: string | null;
  /** The numbers of rows on which the estimates depend, by table. */
  readonly rows: Readonly<Record<string, number>>;
  /** Null if nothing is known of it. */
  readonly estimated_seconds: number | null;
  readonly estimated_bytes: number | null;
}

/** What this version does with a database when it starts. */
export interface UpgradePlan {
  /** The release whose schema the database has; null if it is none of those that are known. */
  readonly from: string | null;
  readonly to: string;
  readonly migrations: readonly PlannedMigration[];
  /** The sum of the known estimates. */
  readonly estimated_seconds: number;
  /** Free disk space that they need, with the write-ahead log. */
  readonly estimated_bytes: number;
  /** Whether instances of that release may go on meanwhile. */
  readonly old_instances_may_run: boolean;
}

/**
 * Plans the upgrade of a database to this version.
 * @param rows estimated numbers of rows by table
 */
export function planUpgrade(
  executed: ExecutedMigrations,
  ofExtensions: readonly ExtensionMigrations[],
  rows: ReadonlyMap<string, number>,
): UpgradePlan {
  const { missing } = compareMigrations(executed, ofExtensions);
  const migrations = missing.map((name) => planMigration(name, rows));
  const sumOf = (key: 'estimated_seconds' | 'estimated_bytes') =>
    migrations.reduce((sum, migration) => sum + (migration[key] ?? 0), 0);
  const from = releaseOf(executed[MIGRATIONS_TABLE] ?? []);
  return {
    from,
    to: VERSION,
    migrations,
    estimated_seconds: Math.round(sumOf('estimated_seconds') * 10) / 10,
    estimated_bytes: WITH_LOG * sumOf('estimated_bytes'),
    old_instances_may_run: from !== null && isAtLeast(from, OLDEST_BESIDE),
  };
}

function planMigration(name: string, rows: ReadonlyMap<string, number>): PlannedMigration {
  const effect = MIGRATION_EFFECTS[name];
  if (!effect) {
    return { name, does: null, rows: {}, estimated_seconds: null, estimated_bytes: null };
  }
  const tables = Object.entries(effect.rows ?? {}).map(([table, { seconds, bytes }]) => {
    const count = rows.get(table) ?? 0;
    return { table, count, seconds: (seconds * count) / 100_000, bytes: bytes * count };
  });
  const seconds = tables.reduce((sum, table) => sum + table.seconds, LEAST_SECONDS);
  return {
    name,
    does: effect.does,
    rows: Object.fromEntries(tables.map(({ table, count }) => [table, count])),
    estimated_seconds: Math.round(seconds * 10) / 10,
    estimated_bytes: tables.reduce((sum, table) => sum + table.bytes, 0),
  };
}

/** The newest release all of whose migrations have run. */
function releaseOf(executed: readonly string[]): string | null {
  const complete = Object.entries(RELEASES).filter(([, last]) => {
    const ofRelease = MIGRATION_NAMES.slice(0, MIGRATION_NAMES.indexOf(last) + 1);
    return ofRelease.every((name) => executed.includes(name));
  });
  return complete.at(-1)?.[0] ?? null;
}

function isAtLeast(release: string, oldest: keyof typeof RELEASES): boolean {
  const names = Object.keys(RELEASES);
  return names.indexOf(release) >= names.indexOf(oldest);
}
