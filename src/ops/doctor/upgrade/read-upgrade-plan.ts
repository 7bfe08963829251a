import { extensionMigrationsOf } from '../../../platform/extension/extensions.js';
import type { DatabaseContext } from '../context.js';
import { planUpgrade, type UpgradePlan } from './plan-upgrade.js';

/** The numbers of rows that PostgreSQL has estimated, or those of changes since. Neither reads the tables. */
const FIND_ROWS = `
  select pg_class.relname as name, greatest(reltuples, n_live_tup, 0)::float8 as rows
  from pg_class left join pg_stat_all_tables on relid = pg_class.oid
  where relnamespace = current_schema()::regnamespace and relkind = 'r'`;

/** Plans the upgrade of a database to this version. */
export async function readUpgradePlan({
  sql,
  executed = {},
  extensions,
}: Pick<DatabaseContext, 'sql' | 'executed' | 'extensions'>): Promise<UpgradePlan> {
  const tables = await sql.read<{ name: string; rows: number }>(FIND_ROWS);
  const rows = new Map(tables.map((table) => [table.name, table.rows]));
  return planUpgrade(executed, extensionMigrationsOf(extensions), rows);
}
