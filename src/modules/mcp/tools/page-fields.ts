import type { JsonSchema } from '../../../platform/fields/schema/json-schema.js';
import type { Page } from '../../../platform/data/lists/page.js';

/** The argument of a list tool that names fields beyond the summary. */
export const FIELDS = 'fields';

type Item = Readonly<Record<string, unknown>>;

/** @param further the fields that the summary leaves out */
export function fieldsSchemaOf(further: readonly string[]): JsonSchema {
  return {
    type: 'array',
    items: { type: 'string', enum: further },
    description: 'Further fields to return.',
  };
}

/**
 * Reduces a page to what an agent needs, because models pay for every token: the named fields without
 * nulls, and times without seconds that are zero.
 * @param fields the fields of each item; undefined keeps all of them
 */
export function compactPage(page: Page<object>, fields: readonly string[] | undefined): object {
  const data = page.data.map((item) => {
    const names = fields ?? Object.keys(item);
    const values = names.map((name) => [name, compactValue((item as Item)[name])] as const);
    return Object.fromEntries(values.filter(([, value]) => value !== null && value !== undefined));
  });
  return { data, meta: page.meta };
}

function compactValue(value: unknown): unknown {
  return value instanceof Date ? value.toISOString().replace(/(:00)?\.000Z$/, 'Z') : value;
}
