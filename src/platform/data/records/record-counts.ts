/** A table whose records are counted in `record_counts`, by organization. */
export interface CountedTable {
  readonly name: string;
  /** SQL condition of records that are not deleted. */
  readonly notDeleted: 'deleted_at is null' | 'true';
  /** Columns by whose values records are counted, in addition to the total. */
  readonly counted: readonly string[];
}

/** A count that differs from the number of records. */
export interface CountDrift {
  readonly resource: string;
  /** The column and its value. Both are empty for the total. */
  readonly filter: string;
  readonly value: string;
  readonly counted: number;
  readonly actual: number;
}

/** The shard that repairs write to. Writes of records use the others (`keepCounts`). */
const REPAIRS = -1;

/** Adds new counts to those that `record_counts` holds. The version differs after each change of a count. */
export const ADD_TO_COUNTS = `on conflict (organization_id, resource, filter, value, shard) do update
  set records = counts.records + excluded.records, version = counts.version + excluded.version`;

/** Number of the advisory lock of repairs. The value is arbitrary but fixed. */
const REPAIR_LOCK = 7_284_914;

/** Statement that serializes the repairs of the organization `$1` until the transaction ends. */
export const LOCK_REPAIRS = `select pg_advisory_xact_lock(${REPAIR_LOCK}, hashtext($1::text))`;

/**
 * SQL of the number of records of the organization `$1`: all, or those with a value in a column. The rows of a count
 * are its shards.
 */
export function recordCount(table: string, filter = '', value = `''`): string {
  return `(select coalesce(sum(records), 0)::int ${fromShards(table, filter, value)})`;
}

/** Query of the numbers of records of the organization `$1` by the values of a counted column, those without a value too. */
export function recordCountsOf(table: string, column: string): string {
  const counts = `select filter, value, sum(records)::int as n from record_counts
    where organization_id = $1 and resource = '${table}' and filter in ('', '${column}')
    group by filter, value having sum(records) > 0`;
  return `with counts as materialized (${counts})
    select value, n, n as records from counts where filter <> ''
    union all select null, n, n from (
      select sum(case filter when '' then n else -n end) as n from counts) others where n > 0`;
}

/** SQL of a number that each write to the records of the organization `$1` increases by a random amount. */
export function recordsVersion(table: string): string {
  return `(select coalesce(sum(version), 0)::bigint ${fromShards(table, '', `''`)})`;
}

function fromShards(table: string, filter: string, value: string): string {
  return `from record_counts where organization_id = $1 and resource = '${table}'
    and filter = '${filter}' and value = ${value}`;
}

/** Statement that returns the wrong counts of the organization `$1` as `CountDrift` rows. */
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
 * Statement that corrects the counts of the organization `$1` and returns them as `CountDrift` rows.
 * It is safe with concurrent writers: its snapshot has the records and the counts of a write, or neither.
 */
export function repairCounts(table: CountedTable): string {
  return `with drift as (${findCountDrift(table)}),
    corrected as (
      insert into record_counts as counts
        (organization_id, resource, filter, value, shard, records, version)
      select $1, resource, filter, value, ${REPAIRS}, actual - counted,
        (extract(epoch from clock_timestamp()) * 1000)::bigint
      from drift order by filter, value
      ${ADD_TO_COUNTS})
    select * from drift`;
}

/** SQL of the counts that a record is part of: the total, and one for each counted column. */
export function countedValues({ counted }: CountedTable): string {
  const values = [`('', '')`, ...counted.map((column) => `('${column}', ${column}::text)`)];
  return `(values ${values.join(', ')}) as each_count (filter, value)`;
}
