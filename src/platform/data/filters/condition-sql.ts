import type { Conditions } from '../lists/conditions.js';
import { containing } from '../lists/search-text.js';
import { tagSql } from '../lists/tag-sql.js';
import type { Condition, FilterValue } from './filter.js';
import type { FilterField, FilterKind } from './filter-target.js';
import { normalFormOf } from './forms.js';

/** The types of PostgreSQL in which columns are compared. */
const TYPES: Readonly<Record<FilterKind, string>> = {
  ...{ text: 'text', email: 'text', phone: 'text', one_of: 'text', tags: 'text', options: 'text' },
  ...{ uuid: 'uuid', flag: 'boolean', number: 'bigint', time: 'timestamptz', date: 'date' },
  ...{ numbers: 'integer[]', object: 'jsonb', json: 'jsonb' },
};

/** Columns of `custom_field_values`, by the kinds of fields, with their types. */
const VALUE_COLUMNS: Readonly<
  Partial<Record<FilterKind, readonly [column: string, type: string]>>
> = {
  number: ['number_value', 'float8'],
  date: ['date_value', 'date'],
  time: ['time_value', 'timestamptz'],
};

const COMPARISONS: Readonly<Record<string, string>> = {
  ...{ eq: '=', gt: '>', gte: '>=', lt: '<', lte: '<=' },
};

/** How a value is rounded to an integer, so that columns of integers are compared as with the value itself. */
const ROUNDING: Readonly<Record<string, (value: number) => number>> = {
  ...{ gt: Math.floor, gte: Math.ceil, lt: Math.ceil, lte: Math.floor },
};

/** A term that matches an ASCII text in the same places, whether or not its spaces and apostrophes are folded. */
const PLAIN_TERM = /^[!-&(-~]+$/;

/**
 * Writes the SQL of conditions. It is true of the records that match, and false or NULL of the others. Every value is a
 * parameter.
 */
export class ConditionSql {
  /** @param region of phone numbers without a country code */
  constructor(
    private readonly conditions: Conditions,
    private readonly region: string,
  ) {}

  /** @param table of the records of the field */
  of(condition: Condition, table: string): string {
    const { field, operator } = condition;
    if (operator === 'is_empty') return this.isEmpty(field);
    if (field.definitionId !== undefined) return this.ofStoredValues(condition, table);
    if (field.key !== undefined) return this.ofCustomField(condition, field.key);
    switch (operator) {
      case 'contains':
      case 'starts_with':
        return this.containing(condition);
      case 'has_any':
        return oneOf(valuesOf(condition).map((tag) => this.hasTag(field, String(tag))));
      default:
        return this.comparing(condition);
    }
  }

  private isEmpty({ kind, column, key }: FilterField): string {
    if (key !== undefined) {
      return `coalesce(jsonb_typeof(${this.valueOf(column, key)}), 'null') = 'null'`;
    }
    if (kind === 'object') return `${column} = '{}'`;
    return kind === 'tags' ? `${column} = '{}'` : `${column} is null`;
  }

  private comparing(condition: Condition): string {
    const { field, operator } = condition;
    const { kind, column, comparedColumn = column } = field;
    const values = kind === 'number' ? integersOf(condition) : valuesOf(condition);
    if (values.length === 0) return 'false';
    const forms =
      comparedColumn === column ? values : values.map((text) => this.normal(field, text));
    return this.compare(comparedColumn, operator, forms, TYPES[kind]);
  }

  /** Folds the stored text, as the term is folded. Of phones, the digits are compared. */
  private containing({ field, operator, value }: Condition): string {
    const { kind, column } = field;
    const term = String(value);
    const pattern = containing(term).slice(operator === 'starts_with' ? 1 : 0);
    const folded =
      kind === 'phone'
        ? `regexp_replace(latitude_fold(${column}), '[^0-9]+', '', 'g')`
        : foldedBy(column, term);
    return `(${folded}) collate "C" like ${this.conditions.parameter(pattern)}`;
  }

  /**
   * A value of a custom field is compared with values of the same type. PostgreSQL orders numbers of JSON as numbers, without
   * errors on other types.
   */
  private ofCustomField({ field, operator, value }: Condition, key: string): string {
    const stored = this.valueOf(field.column, key);
    const text = `(${stored} #>> '{}')`;
    const values = [value].flat();
    switch (field.kind) {
      case 'options': {
        const options = this.conditions.parameter(values);
        return `(jsonb_typeof(${stored}) = 'array' and ${stored} ?| ${options}::text[])`;
      }
      case 'time':
        return this.compare(`custom_field_time(${text})`, operator, values, 'timestamptz');
      case 'date':
        return this.compare(`${text} collate "C"`, operator, values, 'text');
      default: {
        const json = values.map((each) => JSON.stringify(each));
        const compared = this.compare(stored, operator, json, 'jsonb');
        return operator === 'eq' || operator === 'in'
          ? compared
          : `(jsonb_typeof(${stored}) = 'number' and ${compared})`;
      }
    }
  }

  /** Looks the values of a defined field up in the table that has an index on them. */
  private ofStoredValues({ field, operator, value }: Condition, table: string): string {
    const [column, type] = VALUE_COLUMNS[field.kind] ?? ['text_value', 'text'];
    const values = [value].flat().map((each) => (type === 'text' ? String(each) : each));
    const rule = this.conditions.parameter(field.definitionId);
    return `exists (select from custom_field_values where organization_id = $1 and rule_id = ${rule}::uuid
      and lead_id = ${table}.id and ${this.compare(column, operator, values, type)})`;
  }

  private compare(
    column: string,
    operator: Condition['operator'],
    values: readonly FilterValue[],
    type: string,
  ): string {
    const comparison = COMPARISONS[operator];
    return comparison === undefined
      ? `${column} = any(${this.conditions.parameter(values)}::${type}[])`
      : `${column} ${comparison} ${this.conditions.parameter(values[0])}::${type}`;
  }

  private valueOf(column: string, key: string): string {
    return `(${column} -> ${this.conditions.parameter(key)}::text)`;
  }

  private hasTag({ column }: FilterField, tag: string): string {
    return tagSql(this.conditions, column, tag);
  }

  private normal(field: FilterField, value: FilterValue): string {
    return normalFormOf(field, String(value), this.region);
  }
}

/** SQL conditions of which one is enough. */
function oneOf(clauses: readonly string[]): string {
  return clauses.length === 1 ? (clauses[0] ?? 'false') : `(${clauses.join(' or ')})`;
}

function valuesOf({ value }: Condition): readonly FilterValue[] {
  return [value].flat();
}

/** The integers with which a column of integers is compared in place of the numbers; none if it equals no number. */
function integersOf(condition: Condition): number[] {
  const numbers = valuesOf(condition).map(Number);
  const round = ROUNDING[condition.operator];
  if (!round) return numbers.filter(Number.isSafeInteger);
  const { MAX_SAFE_INTEGER: max } = Number;
  return numbers.map((number) => Math.min(max, Math.max(-max, round(number))));
}

/** The SQL function is slower than the lower case of an ASCII text, in which a plain term is found as well. */
function foldedBy(column: string, term: string): string {
  if (!PLAIN_TERM.test(term)) return `latitude_fold(${column})`;
  return `case when octet_length(${column}) = char_length(${column})
    then lower(${column} collate "C") else latitude_fold(${column}) end`;
}
