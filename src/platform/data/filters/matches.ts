import { parseDateTime } from '../../fields/kinds/date-time.js';
import { isObject } from '../../fields/kinds/json-object.js';
import type { Condition, Filter, FilterValue } from './filter.js';
import type { FilterField } from './filter-target.js';
import { normalFormOf, searchFormOf } from './forms.js';

type JsonRecord = Readonly<Record<string, unknown>>;

/**
 * Whether a record matches a filter without relations, as in SQL.
 * @param record in JSON, as in a response to GET
 * @param region of phone numbers without a country code
 */
export function matches(filter: Filter, record: JsonRecord, region: string): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.filters.every((each) => matches(each, record, region));
    case 'or':
      return filter.filters.some((each) => matches(each, record, region));
    case 'not':
      return !matches(filter.filter, record, region);
    case 'related':
      throw new Error(`A record does not have its ${filter.relation.name}.`);
    case 'condition':
      return holds(filter, valueIn(record, filter.field), region);
  }
}

function valueIn(record: JsonRecord, { column, name, key }: FilterField): unknown {
  if (key === undefined) return record[name];
  const custom = record[column];
  return isObject(custom) && Object.hasOwn(custom, key) ? custom[key] : null;
}

function holds({ field, operator, value }: Condition, stored: unknown, region: string): boolean {
  if (operator === 'is_empty') return isEmpty(field, stored);
  if (stored === null || stored === undefined) return false;
  const wanted = (Array.isArray(value) ? value : [value]) as FilterValue[];
  switch (operator) {
    case 'eq':
    case 'in': {
      const form = comparedForm(field, stored, region);
      return form !== undefined && wanted.some((one) => comparedForm(field, one, region) === form);
    }
    case 'has_any': {
      const formOf = field.kind === 'tags' ? tagForm : String;
      return (
        Array.isArray(stored) && wanted.some((one) => stored.map(formOf).includes(formOf(one)))
      );
    }
    case 'contains':
    case 'starts_with': {
      const term = String(value);
      const text = typeof stored === 'string' ? searchFormOf(field, stored) : '';
      return operator === 'contains' ? text.includes(term) : text.startsWith(term);
    }
    default:
      return isInOrder(
        operator,
        comparedForm(field, stored, region),
        comparedForm(field, wanted[0], region),
      );
  }
}

/** Tags and the object of custom fields have a value that means none. In a custom field, only null is none. */
function isEmpty({ kind }: FilterField, stored: unknown): boolean {
  if (kind === 'tags') return Array.isArray(stored) && stored.length === 0;
  if (kind === 'object') return isObject(stored) && Object.keys(stored).length === 0;
  return stored === null || stored === undefined;
}

/** A value in a form that is equal or ordered as in SQL. @returns undefined for a value of another type */
function comparedForm(field: FilterField, value: unknown, region: string): FilterValue | undefined {
  switch (field.kind) {
    case 'time':
      return timeOf(value);
    case 'number':
      return typeof value === 'number' ? value : undefined;
    case 'flag':
      return typeof value === 'boolean' ? value : undefined;
    case 'json':
      return typeof value === 'object' ? undefined : (value as FilterValue);
    default:
      return typeof value === 'string' ? normalFormOf(field, value, region) : undefined;
  }
}

function timeOf(value: unknown): number | undefined {
  if (value instanceof Date) return value.getTime();
  return typeof value === 'string' ? parseDateTime(value, 'down')?.getTime() : undefined;
}

/** The form in which a trigger of PostgreSQL stores tags for filters. */
function tagForm(tag: unknown): string {
  return String(tag).replaceAll('\x1f', ' ').toLowerCase();
}

/** Values of different types have no order. */
function isInOrder(
  operator: 'gt' | 'gte' | 'lt' | 'lte',
  stored: FilterValue | undefined,
  wanted: FilterValue | undefined,
): boolean {
  if (stored === undefined || wanted === undefined || typeof stored !== typeof wanted) return false;
  switch (operator) {
    case 'gt':
      return stored > wanted;
    case 'gte':
      return stored >= wanted;
    case 'lt':
      return stored < wanted;
    case 'lte':
      return stored <= wanted;
  }
}
