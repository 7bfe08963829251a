import type { JsonSchema } from '../../../src/platform/fields/schema/json-schema.js';
import type { Arguments } from './agent.js';

/**
 * Converts a schema for strict function calling, as `convertSchemasToStrict` of @openai/agents does:
 * every property is required, and optional ones may be null. The package itself needs a newer Node.js.
 */
export function strictSchemaOf(schema: JsonSchema): JsonSchema {
  const { properties, required = [], items } = schema;
  const strict = (name: string, property: JsonSchema) =>
    required.includes(name) ? strictSchemaOf(property) : nullable(strictSchemaOf(property));
  return {
    ...schema,
    ...(items && { items: strictSchemaOf(items) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, strict(name, property)]),
      ),
      required: Object.keys(properties),
      additionalProperties: false,
    }),
  };
}

/** The arguments that a model sends for a strict schema: null for every argument that is not given. */
export function strictArguments(schema: JsonSchema, given: Arguments): Arguments {
  const { required = [] } = strictSchemaOf(schema);
  return Object.fromEntries(required.map((name) => [name, given[name] ?? null]));
}

function nullable(schema: JsonSchema): JsonSchema {
  const { type, enum: values } = schema;
  return {
    ...schema,
    type: [...new Set([type ?? [], 'null'].flat())],
    ...(values && !values.includes(null) && { enum: [...values, null] }),
  };
}
