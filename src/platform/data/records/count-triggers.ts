import type { DataSource } from 'typeorm';
import { ADD_TO_COUNTS, type CountedTable, countedValues } from './record-counts.js';

/**
 * What a write adds to the version of the counts, which shows whether a cached total is still valid. It is random:
 * after a failover that lost writes, the versions of later writes differ from those of the lost ones.
 */
const VERSION_INCREMENT = '1 + (random() * 1000000)::int';

/** Each connection writes to one shard, so that concurrent writers rarely lock the same row. */
const SHARDS = 32;

const OPERATIONS = { insert: ['new'], update: ['old', 'new'], delete: ['old'] } as const;

/**
 * Statements for a migration that create the counter triggers of a table. Records that exist already
 * are counted by `repairCounts`.
 */
export function keepCounts(table: CountedTable): string[] {
  const perOperation = Object.entries(OPERATIONS).flatMap(([operation, rows]) => {
    const trigger = `${table.name}_count_${operation}`;
    const transitions = rows.map((age) => `${age} table as ${age}_rows`).join(' ');
    return [
      // Each statement locks the counts in the same order, which prevents deadlocks. The total (an empty filter) is
      // also written if it stays the same, because its version must change.
      `create function ${trigger}() returns trigger language plpgsql set search_path from current
       as $$ begin
         insert into record_counts as counts
           (organization_id, resource, filter, value, shard, records, version)
         select organization_id, '${table.name}', filter, value,
           pg_backend_pid() % ${SHARDS}, sum(change), ${VERSION_INCREMENT}
         from (${rows.map((age) => changedRows(table, age)).join(' union all ')}) changed
           cross join lateral ${countedValues(table)}
         where value is not null
         group by organization_id, filter, value having filter = '' or sum(change) <> 0
         order by organization_id, filter, value
         ${ADD_TO_COUNTS};
         return null;
       end $$`,
      `create trigger ${trigger} after ${operation} on ${table.name} referencing ${transitions}
       for each statement execute function ${trigger}()`,
    ];
  });
  return [...perOperation, ...resetCountsOnTruncate(table)];
}

/** A trigger on `truncate` has no transition tables. */
function resetCountsOnTruncate({ name }: CountedTable): string[] {
  return [
    `create function ${name}_count_truncate() returns trigger language plpgsql
       set search_path from current
     as $$ begin
       update record_counts set records = 0, version = version + 1 where resource = '${name}';
       return null;
     end $$`,
    `create trigger ${name}_count_truncate after truncate on ${name}
     for each statement execute function ${name}_count_truncate()`,
  ];
}

/** Statements for a migration that drop the counter triggers of a table. */
export function dropCounts({ name }: CountedTable): string[] {
  const operations = [...Object.keys(OPERATIONS), 'truncate'];
  return operations.map((operation) => `drop function ${name}_count_${operation} cascade`);
}

function changedRows({ counted, notDeleted }: CountedTable, age: 'new' | 'old'): string {
  const columns = ['organization_id', `${age === 'new' ? '1' : '-1'} as change`, ...counted];
  return `select ${columns.join(', ')} from ${age}_rows where ${notDeleted}`;
}

/**
 * Finds the columns of the JSON array `$1` that the triggers on one of the operations `$2` do not count; the empty column is
 * the number of all records. The source of a trigger function names each column: `countedValues` writes
 * `('status', status::text)`.
 */
const FIND_UNCOUNTED = `
  select "table", string_agg(coalesce(nullif("column", ''), 'all records'), ', ' order by "column") as columns
  from json_to_recordset($1) as declared ("table" text, "column" text)
  where exists (select from unnest($2::text[]) operation where not exists (
    select from pg_trigger join pg_proc on pg_proc.oid = tgfoid
    where tgrelid = to_regclass("table") and tgname = "table" || '_count_' || operation
      and tgenabled <> 'D' and position('(''' || "column" || ''', ' in prosrc) > 0))
  group by 1 order by 1`;

/**
 * Compares the counter triggers of the database with the declared tables.
 * @throws Error that names each declared column that a trigger of its table does not count
 */
export async function assertCountTriggers(
  dataSource: DataSource,
  tables: readonly CountedTable[],
): Promise<void> {
  const declared = tables.flatMap(({ name: table, counted }) =>
    ['', ...counted].map((column) => ({ table, column })),
  );
  const uncounted = await dataSource.query<{ table: string; columns: string }[]>(FIND_UNCOUNTED, [
    JSON.stringify(declared),
    Object.keys(OPERATIONS),
  ]);
  if (uncounted.length === 0) return;
  const named = uncounted.map(({ table, columns }) => `${table} (${columns})`);
  throw new Error(
    `The counter triggers of the database do not count what repositories declare: ${named.join('; ')}. ` +
      'Add a migration that runs dropCounts, keepCounts and repairCounts for each table.',
  );
}
