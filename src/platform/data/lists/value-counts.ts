import { validationError } from '../../errors/api-error.js';
import { TIME_ZONE_PROBLEM, timeZoneForSql } from '../../fields/kinds/time-zone.js';
import { DatabaseFailure, sqlStateOf } from '../connection/driver-error.js';
import type { TenantDatabase } from '../gateway/tenant-database.js';
import { recordCountsOf } from '../records/record-counts.js';
import { type TenantTable, updateTimesOf } from '../records/tenant-entity.js';
import { scanSelected } from './broad-filter.js';
import type { Conditions } from './conditions.js';
import type { Counts, ValueCountDto } from './count.dto.js';
import { type ChosenGrouping, timeUnitOf } from './grouping.js';
import { matchingTable } from './matching-records.js';

/** The largest number of values, and of days, weeks or months. */
const MAX_VALUES = 366;

type Value = ValueCountDto['value'];

/** The single row of the statement. */
interface CountsRow {
  readonly total: number;
  readonly other: number;
  /** Pairs of a value, or the number of a unit of time, and its count. */
  readonly counts: readonly (readonly [Value, number])[];
}

/** SQL of the groups: their values, the number of rows of each, and that of records in case they differ. */
interface Groups {
  readonly value: string;
  readonly from: string;
  readonly records?: string;
  /** The values that are rows. Default: all. */
  readonly isRow?: string;
  /** The order of values with the same count. Default: by code point. */
  readonly order?: string;
}

/** SQLSTATE of a time zone that PostgreSQL does not know. */
const INVALID_PARAMETER_VALUE = '22023';

/** Counts the records of a table by value, in one statement (docs/contract/counts.md). */
export class ValueCounts {
  constructor(
    private readonly database: TenantDatabase,
    private readonly table: TenantTable,
  ) {}

  /**
   * @param timeZone of days, weeks and months
   * @throws ApiError `validation_error` for a time zone that PostgreSQL does not know; `filter_too_broad` if it takes too
   *   long, `overloaded` if too many others run; `query_failed`
   */
  async read(conditions: Conditions, grouping: ChosenGrouping, timeZone: string): Promise<Counts> {
    const { values } = conditions;
    const zone = `${conditions.parameter(timeZoneForSql(timeZone))}::text`;
    const isCounted = this.isCounted(conditions, grouping);
    const text = this.textOf(conditions, grouping, zone);
    const statement = { text, values, plan: 'custom', mayUseReplica: true } as const;
    const reading = isCounted
      ? this.database.read<CountsRow>(conditions.call, statement)
      : scanSelected<CountsRow>(this.database, conditions, statement);
    const rows = await reading.catch((error: unknown) => {
      if (!isOfTimeZone(error)) throw error;
      throw validationError([{ field: 'time_zone', message: TIME_ZONE_PROBLEM }]);
    });
    const [{ total, other, counts }] = rows as [CountsRow];
    const unit = timeUnitOf(grouping);
    const all = unit ? withoutHoles(counts, other > 0, unit.name) : counts;
    return { data: all.map(([value, count]) => ({ value, count })), meta: { total, other } };
  }

  /** Whether triggers count the values. */
  private isCounted(conditions: Conditions, { column, per = 'value' }: ChosenGrouping): boolean {
    const { counted = [] } = this.table;
    return per === 'value' && conditions.isEmpty && counted.includes(column);
  }

  private textOf(conditions: Conditions, grouping: ChosenGrouping, zone: string): string {
    const { name } = this.table;
    const { column } = grouping;
    const table = matchingTable({
      table: name,
      updateTimes: updateTimesOf(this.table),
      conditions,
    });
    const groups = groupsOf(table, conditions, grouping, zone);
    const { value, from, records = 'count(*)', isRow = 'true', order = BY_CODE_POINT } = groups;
    const scan = `select ${value} as value, count(*) as n, ${records} as records
      from ${from} where ${conditions.sql} group by 1`;
    const rank = timeUnitOf(grouping)
      ? 'coalesce(max(value) over () - value + 1, 0)'
      : `row_number() over (order by n desc, ${order} nulls last)`;
    // The last column fails for an unknown time zone, also if there are no records.
    return `with groups as materialized (${this.isCounted(conditions, grouping) ? recordCountsOf(name, column) : scan}),
      ranked as materialized (select value, n, ${rank} as rank from groups where ${isRow}),
      shown as materialized (select * from ranked where rank <= ${MAX_VALUES})
      select (select coalesce(sum(records), 0)::int from groups) as total,
        ((select coalesce(sum(n), 0) from groups) - (select coalesce(sum(n), 0) from shown))::int as other,
        (select coalesce(json_agg(json_build_array(value, n) order by rank), '[]') from shown) as counts,
        timezone(${zone}, now()) as now`;
  }
}

const BY_CODE_POINT = 'value::text collate "C"';

/** Numbers by size, then texts by code point. */
const BY_JSON = `case when jsonb_typeof(value) = 'number' then value::numeric end nulls last,
  (value #>> '{}') collate "C"`;

function groupsOf(
  table: string,
  conditions: Conditions,
  grouping: ChosenGrouping,
  zone: string,
): Groups {
  const { column, per, key, isList } = grouping;
  const unit = timeUnitOf(grouping);
  if (unit) {
    const local = `(${column} at time zone ${zone})`;
    return {
      value: `case when ${column} is not null then ${unit.number(withinYears(local))} end`,
      from: table,
    };
  }
  if (key !== undefined) {
    const given = `${column} -> ${conditions.parameter(key)}::text`;
    if (isList) {
      const list = `case jsonb_typeof(${given}) when 'array' then ${given} else '[]' end`;
      const elements = `(select element, row_number() over () as position
        from (select distinct jsonb_array_elements(${list}) as element) found) each`;
      return { ...elementsOf(table, elements), order: BY_JSON };
    }
    return {
      // All objects and arrays are one group.
      value: `case when jsonb_typeof(${given}) in ('object', 'array') then '[]'
        else nullif(${given}, 'null') end`,
      from: table,
      isRow: `value is distinct from '[]'`,
      order: BY_JSON,
    };
  }
  return per === 'element'
    ? elementsOf(table, `unnest(${column}) with ordinality each (element, position)`)
    : { value: column, from: table };
}

/** A local time in the years of the contract. A zone can move a time of their first or last day out of them. */
function withinYears(local: string): string {
  return `least(greatest(${local}, timestamp '0001-01-01'), timestamp '9999-12-31')`;
}

/** A group for each element, and one for records without any. A record has several rows, of which the first counts it. */
function elementsOf(table: string, elements: string): Groups {
  return {
    value: 'element',
    from: `${table} left join lateral ${elements} on true`,
    records: 'count(*) filter (where coalesce(position, 1) = 1)',
  };
}

/**
 * Names the numbers of units of time, and adds those between them. Null comes last.
 * @param hasEarlier whether there are counts before the shown ones
 */
function withoutHoles(
  counts: CountsRow['counts'],
  hasEarlier: boolean,
  nameOf: (number: number) => string,
): [Value, number][] {
  const known = new Map(counts);
  const numbers = [...known.keys()].filter((number) => typeof number === 'number');
  const last = Math.max(...numbers);
  const first = hasEarlier ? last - MAX_VALUES + 1 : Math.min(...numbers);
  const length = numbers.length === 0 ? 0 : last - first + 1;
  const run = Array.from({ length }, (_, index): [Value, number] => {
    const number = first + index;
    return [nameOf(number), known.get(number) ?? 0];
  });
  const missing = known.get(null);
  return missing === undefined ? run : [...run, [null, missing]];
}

function isOfTimeZone(error: unknown): boolean {
  return error instanceof DatabaseFailure && sqlStateOf(error.cause) === INVALID_PARAMETER_VALUE;
}
