import type { Type } from '@nestjs/common';
import { type Field, fieldsOf, isUpdate } from '../field.js';
import type { JsonSchema } from './json-schema.js';

/** Whether a DTO is a request or a response. */
export type Direction = 'input' | 'output';

/** The JSON Schema of the fields of a DTO as a request or response. */
export function jsonSchemaOf(dto: Type<object>, direction: Direction): JsonSchema {
  const isCreate = direction === 'input' && !isUpdate(dto);
  const propertyOf = (field: Field) => {
    const given = direction === 'input' ? field.inputSchema : field.schema;
    const schema = isCreate ? schemaOf(field) : given;
    return mayBeNull(field, isCreate) ? nullable(schema) : schema;
  };
  const properties = fieldsOf(dto).map((field) => [field.name, propertyOf(field)] as const);
  const isAlways = ({ presence }: Field) => !isCreate || presence.unless === undefined;
  const required = requiredFields(dto, direction)
    .filter(isAlways)
    .map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    // Responses may get more fields in later versions. Requests must not have unknown ones.
    ...(direction === 'input' && { additionalProperties: false }),
  };
}

/** Adds the properties of another schema to one. */
export function withProperties(schema: JsonSchema, others: JsonSchema): JsonSchema {
  const required = [...(schema.required ?? []), ...(others.required ?? [])];
  return {
    ...schema,
    properties: { ...schema.properties, ...others.properties },
    ...(required.length > 0 && { required }),
  };
}

/** The JSON Schema of the input of a field, with its default. */
export function schemaOf({ inputSchema, presence }: Field): JsonSchema {
  const { default: value } = presence;
  return value === undefined ? inputSchema : { ...inputSchema, default: value };
}

/**
 * An example object from the examples that a DTO declares.
 * @param choice whether it includes optional fields
 * @returns undefined if a required field has no example
 */
export function exampleOf(
  dto: Type<object>,
  direction: Direction,
  choice: 'every field' | 'required fields' = 'every field',
): Record<string, unknown> | undefined {
  const required = requiredFields(dto, direction);
  if (required.some((field) => exampleOfField(field) === undefined)) return undefined;
  const fields = choice === 'every field' ? fieldsOf(dto) : required;
  const together = fields.filter(({ isAlternative }) => direction === 'output' || !isAlternative);
  const examples = together.map((field) => [field.name, exampleOfField(field)] as const);
  return Object.fromEntries(examples.filter(([, example]) => example !== undefined));
}

function exampleOfField({ schema }: Field): unknown {
  return schema.examples?.[0];
}

/** The fields that every response has, or that a create requires. */
function requiredFields(dto: Type<object>, direction: Direction): readonly Field[] {
  if (direction === 'output') return fieldsOf(dto).filter(({ mayBeMissing }) => !mayBeMissing);
  return isUpdate(dto) ? [] : fieldsOf(dto).filter(({ presence }) => presence.required);
}

/** On create, null means omitted. Elsewhere it is the value of an unset field. */
function mayBeNull({ presence, mayBeMissing }: Field, isCreate: boolean): boolean {
  if (isCreate && presence.unless !== undefined) return true;
  return !presence.required && !mayBeMissing && (isCreate || presence.default === undefined);
}

/** Adds null to the values of a schema. */
export function nullable(schema: JsonSchema): JsonSchema {
  return {
    ...schema,
    type: [schema.type ?? [], 'null'].flat(),
    ...(schema.enum && { enum: [...schema.enum, null] }),
  };
}
