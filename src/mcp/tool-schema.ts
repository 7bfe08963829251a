import { IdDto } from '../fields/id.dto.js';
import type { JsonSchema } from '../fields/json-schema.js';
import { jsonSchemaOf } from '../fields/schema-of.js';
import type { Effect, ToolDeclaration } from './tool.decorator.js';
import { ownInputOf } from './tool-arguments.js';

/** A tool as `tools/list` tells it. */
export interface ToolListing {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations: Annotations;
}

type ObjectSchema = JsonSchema & { readonly type: 'object' };

/** Hints of the protocol; the data of a tool is all inside the organization. */
interface Annotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: false;
}

const HINTS: Readonly<Record<Effect, Omit<Annotations, 'openWorldHint'>>> = {
  reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  creates: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  updates: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  deletes: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
};

const ANY_OBJECT: JsonSchema = { type: 'object' };
const COUNT: JsonSchema = { type: 'integer' };
const META = objectOf({ page: COUNT, limit: COUNT, total: COUNT, total_pages: COUNT });

export function listingOf(tool: ToolDeclaration): ToolListing {
  const { name, title, description, effect } = tool;
  return {
    name,
    title,
    description,
    inputSchema: inputSchemaOf(tool),
    outputSchema: outputSchemaOf(tool),
    annotations: { ...HINTS[effect], openWorldHint: false },
  };
}

/** What the arguments of a tool may be, as REST says it of its bodies and queries. */
function inputSchemaOf(tool: ToolDeclaration): ObjectSchema {
  const { id, input = Object, effect } = tool;
  const parts = [ownInputOf(tool), input].map((dto) => jsonSchemaOf(dto, 'input'));
  const properties = Object.assign({}, ...parts.map((part) => part.properties)) as Properties;
  const named = id === undefined ? {} : { id: { ...properties.id, description: id } };
  const required = parts.flatMap((part) => part.required ?? []);
  return {
    type: 'object',
    properties: mapValues({ ...properties, ...named }, (schema) => briefly(schema, effect)),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

type Properties = Readonly<Record<string, JsonSchema | undefined>>;

/**
 * The list of tools is read with every prompt, so it has the first sentence of a description,
 * examples where they say more than the schema, and null only where it means something.
 */
function briefly(schema: JsonSchema, effect: Effect): JsonSchema {
  const { minLength, pattern, description, examples, items, ...rest } = schema;
  const explainsItself = rest.enum ?? rest.format ?? rest.default;
  const brief = {
    ...rest,
    // Elsewhere an empty text means null.
    ...(pattern && { minLength }),
    ...(items && { items: briefly(items, effect) }),
    ...(description && { description: description.replace(/(?<=\.) .*/s, '') }),
    ...(effect === 'creates' && explainsItself === undefined && examples && { examples }),
  };
  return effect === 'updates' ? brief : withoutNull(brief);
}

/** Where there is nothing yet to empty, null means left out. */
function withoutNull({ type, enum: values, ...rest }: JsonSchema): JsonSchema {
  return {
    type: Array.isArray(type) ? (type as string[]).find((name) => name !== 'null') : type,
    ...(values && { enum: values.filter((value) => value !== null) }),
    ...rest,
  };
}

/** What a tool answers; of records that another tool gets whole, the id alone. */
function outputSchemaOf({ output, isPage, effect }: ToolDeclaration): ObjectSchema {
  const isToldElsewhere = isPage || effect === 'creates' || effect === 'updates';
  const schema = jsonSchemaOf(isToldElsewhere ? IdDto : output, 'output');
  const record: ObjectSchema = { ...shapeOf(schema), type: 'object' };
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

/** The types of a schema alone: what a result looks like, in few words. */
function shapeOf({ type, properties, items }: JsonSchema): JsonSchema {
  return {
    type,
    ...(properties && { properties: mapValues(properties, shapeOf) }),
    ...(items && { items: shapeOf(items) }),
  };
}

function mapValues(
  schemas: Properties,
  change: (schema: JsonSchema) => JsonSchema,
): Record<string, JsonSchema> {
  const entries = Object.entries(schemas);
  return Object.fromEntries(entries.map(([name, schema]) => [name, change(schema ?? {})]));
}
