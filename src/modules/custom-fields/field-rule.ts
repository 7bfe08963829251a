import { parseDateTime } from '../../platform/fields/kinds/date-time.js';
import type { CustomFieldDto, FieldType } from './custom-field.dto.js';

/** What a definition demands of the values of its key. The function `enforce_custom_field_rules` of PostgreSQL enforces the same. */
export interface FieldRule {
  readonly id: string;
  readonly field_id: string;
  readonly key: string;
  readonly type: FieldType;
  /** The values of a `select` or `multi_select`. */
  readonly options: readonly string[];
  readonly required: boolean;
  readonly is_unique: boolean;
  readonly is_filterable: boolean;
}

/** A rule that is enforced, with what its definition says for people. */
export interface EnforcedRule extends FieldRule {
  readonly status: 'pending' | 'active';
  readonly label: string | null;
  readonly description: string | null;
}

/** The typed columns of stored values, by the type of the field. */
const COLUMNS = {
  ...{ text: 'text', boolean: 'text', select: 'text', multi_select: 'text' },
  ...{ number: 'number', date: 'date', datetime: 'time' },
} as const satisfies Record<FieldType, string>;

/** The kinds of the typed columns of `custom_field_values`. */
export const VALUE_KINDS = [...new Set(Object.values(COLUMNS))];

/** The column of `custom_field_values` with the values of a type. */
export function valueColumnOf(type: FieldType): string {
  return `${COLUMNS[type]}_value`;
}

/** Whether the values are stored beside the leads. */
export function isStored({ is_unique, is_filterable }: FieldRule): boolean {
  return is_unique || is_filterable;
}

/** The longest text of a field whose values are stored beside the leads. */
const MAX_STORED = 500;

/** Types whose values can be unique. */
const UNIQUE_TYPES: readonly FieldType[] = ['text', 'number', 'date', 'datetime', 'select'];

export function mayBeUnique(type: FieldType): boolean {
  return UNIQUE_TYPES.includes(type);
}

export function hasOptions(type: FieldType): boolean {
  return type === 'select' || type === 'multi_select';
}

/** The rule of a definition. */
export function ruleOf(id: string, definition: Omit<CustomFieldDto, 'created_at' | 'updated_at'>) {
  const { id: field_id, key, type, options, required, unique, filterable } = definition;
  const values = options.map(({ value }) => value);
  const flags = { required, is_unique: unique, is_filterable: filterable };
  return { id, field_id, key, type, options: values, ...flags } satisfies FieldRule;
}

/** PostgreSQL knows no other offsets. */
const OFFSET = /[+-](?:0\d|1[0-5])(?::?\d\d)?$|[Zz]$/;
const HAS_OFFSET = /[Tt].*[+-]/;

function isTime(value: unknown): boolean {
  if (typeof value !== 'string' || value !== value.trim()) return false;
  if (parseDateTime(value, 'down') === undefined) return false;
  return !HAS_OFFSET.test(value) || OFFSET.test(value);
}

/** What is wrong with a value that is neither missing nor null; undefined if it fits. */
export function problemOfValue(rule: FieldRule, value: unknown): string | undefined {
  const { type, options } = rule;
  const isOption = (each: unknown) => typeof each === 'string' && options.includes(each);
  switch (type) {
    case 'text':
      if (typeof value !== 'string') return 'must be a string';
      return isStored(rule) && Array.from(value).length > MAX_STORED
        ? `must be at most ${MAX_STORED} characters`
        : undefined;
    case 'number':
      return typeof value === 'number' ? undefined : 'must be a number';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'date':
      return isTime(value) && (value as string).length === 10
        ? undefined
        : 'must be a date such as 2026-01-31';
    case 'datetime':
      return isTime(value)
        ? undefined
        : 'must be an ISO 8601 date-time such as 2026-01-31T09:30:00Z';
    case 'select':
      return isOption(value) ? undefined : `must be one of ${options.join(', ')}`;
    case 'multi_select':
      return Array.isArray(value) && value.every(isOption)
        ? undefined
        : `must be an array of ${options.join(', ')}`;
  }
}
