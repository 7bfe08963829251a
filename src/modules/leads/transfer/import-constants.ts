import type { FieldProblem } from '../../../platform/errors/field-problem.js';
import { PickOf, UpdateOf } from '../../../platform/fields/field.js';
import { readInput } from '../../../platform/fields/input/read-input.js';
import { parseJsonText } from '../../../platform/fields/input/strict-json.js';
import { isObject } from '../../../platform/fields/kinds/json-object.js';
import { CreateLeadDto } from '../lead.dto.js';
import { UNIQUE_FIELDS } from '../lead-values.js';
import type { LeadValues } from './cells.js';
import { FIELDS } from './column-names.js';

/** The values that all lines of a file have. */
export type ImportConstants = Readonly<Record<string, unknown>>;

const NAMES = [...FIELDS.keys()].filter((name) => !UNIQUE_FIELDS.some((field) => field === name));

/** The fields that lines can share. */
class ImportConstantsDto extends UpdateOf(
  PickOf(CreateLeadDto, NAMES as (keyof CreateLeadDto)[]),
) {}

/**
 * Reads the parameter `set`.
 * @returns the values, and what is wrong with them
 */
export function readConstants(text = '{}'): {
  readonly value: ImportConstants;
  readonly problems: readonly FieldProblem[];
} {
  const parsed = parseJsonText(text);
  if (!parsed || ('value' in parsed && !isObject(parsed.value))) {
    return { value: {}, problems: [{ field: 'set', message: 'must be a JSON object of fields' }] };
  }
  const given = isObject(parsed.value) ? parsed.value : {};
  const { value, problems } = readInput(ImportConstantsDto, given, parsed.problems);
  const found = [
    ...problems.map(({ field, message }) => ({ field, message: shared(field) ?? message })),
    ...Object.keys(given)
      .filter((name) => given[name] === null && !problems.some(({ field }) => field === name))
      .map((field) => ({ field, message: 'must not be null' })),
  ];
  const located = found.map(({ field, message }) => ({
    field: field === 'body' ? 'set' : `set.${field}`,
    message,
  }));
  return { value: { ...value }, problems: located };
}

function shared(field: string): string | undefined {
  return UNIQUE_FIELDS.some((name) => name === field)
    ? 'cannot be set, because no two leads share it'
    : undefined;
}

/**
 * Adds constants to the values of a line: tags to its tags, and the others where it has no value.
 * @param isNew whether the line can only create a lead, which has no tags yet
 */
export function withConstants(
  values: LeadValues,
  { tags, custom_fields: custom, ...others }: ImportConstants,
  isNew: boolean,
): LeadValues {
  const merged: LeadValues = { ...values };
  for (const [name, value] of Object.entries(others)) {
    if (value !== undefined && isEmpty(merged[name])) merged[name] = value;
  }
  if (isObject(custom)) merged.custom_fields = withKeys(values.custom_fields, custom);
  if (!Array.isArray(tags) || tags.length === 0) return merged;
  const own = values.tags;
  if (Array.isArray(own))
    merged.tags = [...new Set([...(own as unknown[]), ...(tags as unknown[])])];
  else if (isEmpty(own)) {
    Reflect.deleteProperty(merged, 'tags');
    merged[isNew ? 'tags' : 'add_tags'] = tags;
  }
  // Other values of tags stay, for the error of the field.
  return merged;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function withKeys(own: unknown, custom: object): unknown {
  if (isEmpty(own)) return custom;
  if (!isObject(own)) return own;
  const filled = Object.entries(custom).filter(
    ([key]) => !Object.hasOwn(own, key) || isEmpty(own[key]),
  );
  return { ...own, ...Object.fromEntries(filled) };
}
