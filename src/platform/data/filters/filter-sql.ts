import type { Call } from '../call.js';
import type { Conditions } from '../lists/conditions.js';
import { tableNamed } from '../records/tenant-entity.js';
import { ConditionSql } from './condition-sql.js';
import type { Condition, Filter, Related, UntypedFilter } from './filter.js';
import type { FilterTarget } from './filter-target.js';
import { isServed, unservedIn } from './served-conditions.js';
import { NO_DEFINITIONS, withDefinitions } from './with-definitions.js';

/**
 * Selects the records that match a filter. The logic of filters has two values: NULL stands for false, and `is not true`
 * negates both.
 */
export function addFilter(
  call: Call,
  conditions: Conditions,
  target: FilterTarget,
  untyped: UntypedFilter | undefined,
): Conditions {
  if (!untyped) return conditions;
  const filter = withDefinitions(untyped, NO_DEFINITIONS);
  const sql = new FilterSql(conditions, call.tenant.phoneRegion);
  // Each becomes a clause of its own, so that lists can read the total of a single equality from the counters.
  for (const each of filter.kind === 'and' ? filter.filters : [filter]) {
    const isIndexed = each.kind === 'condition' && isServed(each, target);
    if (!isIndexed) conditions.broad(sql.of(each, target), unservedIn(each, target));
    else if (isSimpleEquality(each)) conditions.equal(each.field.column, each.value);
    else if (each.field.kind === 'tags') conditions.search(sql.of(each, target));
    else if (each.field.name === UPDATED_AT) conditions.updated(sql.of(each, target));
    else conditions.and(sql.of(each, target));
  }
  return conditions;
}

/** The column of the time of the last change, in each table with filters. */
const UPDATED_AT = 'updated_at';

/** Whether a condition is that of a parameter such as `status`. */
function isSimpleEquality({ operator, field }: Condition): boolean {
  const { kind, key } = field;
  return operator === 'eq' && key === undefined && (kind === 'text' || kind === 'one_of');
}

class FilterSql {
  private readonly conditions: ConditionSql;

  constructor(conditions: Conditions, region: string) {
    this.conditions = new ConditionSql(conditions, region);
  }

  of(filter: Filter, target: FilterTarget, isNegated = false): string {
    switch (filter.kind) {
      case 'and':
      case 'or': {
        const all = (filter.kind === 'and') !== isNegated;
        const clauses = filter.filters.map((each) => this.of(each, target, isNegated));
        return `(${clauses.join(all ? ' and ' : ' or ')})`;
      }
      case 'not':
        return this.of(filter.filter, target, !isNegated);
      case 'related':
        return `${isNegated ? 'not ' : ''}exists (${this.related(filter, target)})`;
      case 'condition': {
        const clause = this.conditions.of(filter, target.table);
        return isNegated ? `(${clause}) is not true` : clause;
      }
    }
  }

  /** In the subquery, columns without a table are those of the related records. */
  private related({ relation, filter }: Related, { table }: FilterTarget): string {
    const { target, column, relatedColumn } = relation;
    return `select from ${target.table} where organization_id = $1
      and ${tableNamed(target.table).notDeleted} and ${relatedColumn} = ${table}.${column}
      and ${this.of(filter, target)}`;
  }
}
