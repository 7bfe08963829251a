import { protectTenantTable } from '../tenant-role/tenant-role.js';

/** A table whose records are counted. */
export interface CountedTable {
  readonly name: string;
  /** The condition of records that exist; deleted ones may still be in the table. */
  readonly notDeleted: 'deleted_at is null' | 'true';
  /** Columns by whose values records are counted as well. */
  readonly counted: readonly string[];
}

/** A count that is not what it should be. */
export interface CountDrift {
  readonly resource: string;
  /** The column and its value; both empty for all records. */
  readonly filter: string;
  readonly value: string;
  readonly counted: number;
  readonly actual: number;
}

/**
 * How many records an organization has, in all (`filter` and `value` empty) and by column and value:
 * the sum of shards, which writers change beside one another. `version` grows with every write.
 */
export const CREATE_RECORD_COUNTS = [
  `create table record_counts (
    organization_id uuid not null,
    resource text collate "C" not null,
    filter text collate "C" not null,
    value text collate "C" not null,
    shard smallint not null,
    records bigint not null,
    version bigint not null,
    primary key (organization_id, resource, filter, value, shard)
  ) with (fillfactor = 50)`,
  ...protectTenantTable('record_counts'),
];

/** Writers wait for one another only where their connections happen to share one. */
const SHARDS = 32;

/** The shard in which repairs are booked. */
const REPAIRS = -1;

const ADD_TO_COUNTS = `on conflict (organization_id, resource, filter, value, shard) do update
  set records = counts.records + excluded.records, version = counts.version + excluded.version`;

/** Any fixed number: of two repairs at once, the second finds nothing left to do. */
const REPAIR_LOCK = 7_284_914;

/** Lets one repair of an organization, `$1`, at a time go on until its transaction ends. */
export const LOCK_REPAIRS = `select pg_advisory_xact_lock(${REPAIR_LOCK}, hashtext($1::text))`;

const OPERATIONS = { insert: ['new'], update: ['old', 'new'], delete: ['old'] } as const;

/**
 * Statements that make a table keep its counts from the moment on that they are committed. What it
 * holds by then is counted by `repairCounts`.
 */
export function keepCounts(table: CountedTable): string[] {
  const kept = Object.entries(OPERATIONS).flatMap(([operation, rows]) => {
    const trigger = `${table.name}_count_${operation}`;
    const transitions = rows.map((age) => `${age} table as ${age}_rows`).join(' ');
    return [
      // A statement takes its locks in one order, or two of them could wait for one another.
      `create function ${trigger}() returns trigger language plpgsql set search_path from current
       as $$ begin
         insert into record_counts as counts
           (organization_id, resource, filter, value, shard, records, version)
         select organization_id, '${table.name}', filter, value,
           pg_backend_pid() % ${SHARDS}, sum(change), count(*)
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
  return [...kept, ...keepCountsOfNothing(table)];
}

/** A `truncate` tells its triggers no rows. */
function keepCountsOfNothing({ name }: CountedTable): string[] {
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

/** Removes what `keepCounts` made. */
export function dropCounts({ name }: CountedTable): string[] {
  return [...Object.keys(OPERATIONS), 'truncate'].map((operation) => {
    return `drop function ${name}_count_${operation} cascade`;
  });
}

/** SQL of the number of all records of `$1`, the organization, or of those with a value. */
export function recordCount(table: string, filter = '', value = `''`): string {
  return sumOverShards('records', 'int', table, filter, value);
}

/** SQL of a number that is another one after every write to the records of `$1`. */
export function recordsVersion(table: string): string {
  return sumOverShards('version', 'bigint', table);
}

function sumOverShards(
  column: 'records' | 'version',
  type: 'int' | 'bigint',
  table: string,
  filter = '',
  value = `''`,
): string {
  return `(select coalesce(sum(${column}), 0)::${type} from record_counts
    where organization_id = $1 and resource = '${table}' and filter = '${filter}'
      and value = ${value})`;
}

/** A statement that finds the counts of `$1` that are wrong, in one snapshot: `CountDrift` rows. */
export function findCountDrift(table: CountedTable): string {
  return `select '${table.name}' as resource, filter, value,
      coalesce(counts.records, 0)::int as counted, coalesce(scan.records, 0)::int as actual
    from (select filter, value, count(*) as records
        from ${table.name} cross join lateral ${countedValues(table)}
        where organization_id = $1 and ${table.notDeleted} and value is not null
        group by filter, value) scan
      full join (select filter, value, sum(records) as records
        from record_counts where organization_id = $1 and resource = '${table.name}'
        group by filter, value) counts using (filter, value)
    where coalesce(counts.records, 0) <> coalesce(scan.records, 0)`;
}

/**
 * A statement that books what the counts of `$1` lack and returns what it found, also while others
 * write: each of them is in its snapshot with both its records and its counts, or with neither.
 */
export function repairCounts(table: CountedTable): string {
  return `with drift as (${findCountDrift(table)}),
    booked as (
      insert into record_counts as counts
        (organization_id, resource, filter, value, shard, records, version)
      select $1, resource, filter, value, ${REPAIRS}, actual - counted,
        (extract(epoch from clock_timestamp()) * 1000)::bigint
      from drift order by filter, value
      ${ADD_TO_COUNTS})
    select * from drift`;
}

function changedRows({ counted, notDeleted }: CountedTable, age: 'new' | 'old'): string {
  const columns = ['organization_id', `${age === 'new' ? '1' : '-1'} as change`, ...counted];
  return `select ${columns.join(', ')} from ${age}_rows where ${notDeleted}`;
}

function countedValues({ counted }: CountedTable): string {
  const values = [`('', '')`, ...counted.map((column) => `('${column}', ${column}::text)`)];
  return `(values ${values.join(', ')}) as each_count (filter, value)`;
}
