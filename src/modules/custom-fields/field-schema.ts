import type { JsonSchema } from '../../platform/fields/schema/json-schema.js';
import type { FieldType } from './custom-field.dto.js';
import type { EnforcedRule } from './field-rule.js';

const TYPES: Readonly<Record<FieldType, JsonSchema>> = {
  text: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  datetime: { type: 'string', description: 'ISO 8601 date-time or date.' },
  select: { type: 'string' },
  multi_select: { type: 'array' },
};

/** The schema of the values of defined custom fields. Null is no value. */
export function fieldsSchemaOf(rules: readonly EnforcedRule[]): JsonSchema {
  return { properties: Object.fromEntries(rules.map((rule) => [rule.key, schemaOf(rule)])) };
}

function schemaOf({ type, options, label, description, required, is_unique }: EnforcedRule) {
  const { type: json, description: form, ...schema } = TYPES[type];
  const notes = [required && 'Required on create.', is_unique && 'Unique.', form];
  const text = [description, ...notes].filter(Boolean).join(' ');
  return {
    ...schema,
    type: [json, 'null'],
    ...(type === 'select' && { enum: [...options, null] }),
    ...(type === 'multi_select' && { items: { type: 'string', enum: options } }),
    ...(label !== null && { title: label }),
    ...(text !== '' && { description: text }),
  } as JsonSchema;
}
