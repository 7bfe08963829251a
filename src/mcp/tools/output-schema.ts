import type { JsonSchema } from '../../fields/json-schema.js';
import { jsonSchemaOf } from '../../fields/schema-of.js';
import type { ObjectSchema } from './input-schema.js';
import type { ToolDeclaration } from './tool.decorator.js';

const ANY_OBJECT: JsonSchema = { type: 'object' };
const COUNT: JsonSchema = { type: 'integer' };
const META = objectOf({ page: COUNT, limit: COUNT, total: COUNT, total_pages: COUNT });

/**
 * What a tool answers: the fields and their types alone, since the list of tools is read with every
 * prompt. A field that may be null has no `type`: two types make an array, which not every host
 * takes.
 */
export function outputSchemaOf({ output, isPage, effect }: ToolDeclaration): ObjectSchema {
  const record: ObjectSchema = { ...shapeOf(jsonSchemaOf(output, 'output')), type: 'object' };
  if (isPage) return objectOf({ data: { type: 'array', items: record }, meta: META });
  return effect === 'deletes' ? { ...record, properties: withDryRun(record) } : record;
}

/** A dry run answers these alone. */
function withDryRun({ properties }: ObjectSchema): ObjectSchema['properties'] {
  return {
    ...properties,
    dry_run: { type: 'boolean' },
    would_answer: ANY_OBJECT,
    record: ANY_OBJECT,
  };
}

function objectOf(properties: Readonly<Record<string, JsonSchema>>): ObjectSchema {
  return { type: 'object', properties, required: Object.keys(properties) };
}

function shapeOf({ type, properties, items }: JsonSchema): JsonSchema {
  if (Array.isArray(type)) return {};
  return {
    ...(type && { type }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, schema]) => [name, shapeOf(schema)]),
      ),
    }),
    ...(items && { items: shapeOf(items) }),
  };
}
