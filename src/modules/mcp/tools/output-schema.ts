import type { JsonSchema } from '../../../platform/fields/schema/json-schema.js';
import { jsonSchemaOf } from '../../../platform/fields/schema/schema-of.js';
import { PAGE_META_SCHEMA } from '../../../platform/data/lists/page.js';
import type { ObjectSchema } from './input-schema.js';
import { takesDryRun, type ToolDeclaration } from './tool.decorator.js';

const ANY_OBJECT: JsonSchema = { type: 'object' };

/** The part of the position of a page that agents cannot know. */
const META: ObjectSchema = {
  type: 'object',
  properties: { total: shapeOf(PAGE_META_SCHEMA.properties.total) },
  additionalProperties: true,
};

/**
 * Builds the output schema of a tool. It holds only fields and their types, because models read the
 * list of tools with every prompt. A nullable field has no `type`, because not every host accepts an
 * array of types.
 */
export function outputSchemaOf(tool: ToolDeclaration): ObjectSchema {
  const { output, isPage, brief } = tool;
  const record: ObjectSchema = { ...shapeOf(jsonSchemaOf(output, 'output')), type: 'object' };
  if (brief?.result) {
    const some = picked(record, brief.result);
    return isPage ? pageOf(some) : some;
  }
  if (isPage) return pageOf(namesOf(record));
  return takesDryRun(tool) ? withDryRun(record) : record;
}

/** Some of the fields. Without `additionalProperties`, hosts such as Mastra remove the others from results. */
function picked({ properties = {} }: ObjectSchema, names: readonly string[]): ObjectSchema {
  const kept = Object.entries(properties).filter(([name]) => names.includes(name));
  return { type: 'object', properties: Object.fromEntries(kept), additionalProperties: true };
}

/** Adds the fields of the answer to a dry run. */
function withDryRun(record: ObjectSchema): ObjectSchema {
  const added = { dry_run: { type: 'boolean' }, would_answer: ANY_OBJECT, record: ANY_OBJECT };
  return { ...record, properties: { ...record.properties, ...added } };
}

/** The fields without their types, which the tool for a single record states. */
function namesOf({ properties = {} }: ObjectSchema): ObjectSchema {
  const names = Object.keys(properties).map((name) => [name, {}]);
  return { type: 'object', properties: Object.fromEntries(names) as ObjectSchema['properties'] };
}

function pageOf(item: ObjectSchema): ObjectSchema {
  const properties = { data: { type: 'array', items: item }, meta: META };
  return { type: 'object', properties, required: ['data', 'meta'] };
}

/** Keeps the types of a schema and of its parts. */
function shapeOf({ type, properties, items }: JsonSchema): JsonSchema {
  if (Array.isArray(type)) return {};
  const shapes = Object.entries(properties ?? {}).map(([name, schema]) => [name, shapeOf(schema)]);
  return {
    ...(type && { type }),
    ...(properties && { properties: Object.fromEntries(shapes) as typeof properties }),
    ...(items && { items: shapeOf(items) }),
  };
}
