import type { Type } from '@nestjs/common';
import { type Field, fieldsOf, isUpdate } from './field.js';
import type { JsonSchema } from './json-schema.js';

/** Whether a DTO is sent by a caller or answered to one. */
export type Direction = 'input' | 'output';

/** The JSON Schema of a DTO: of what it takes, or of what it answers. */
export function jsonSchemaOf(dto: Type<object>, direction: Direction): JsonSchema {
  const fields = fieldsOf(dto);
  const isCreate = direction === 'input' && !isUpdate(dto);
  const propertyOf = (field: Field) => {
    const given = direction === 'input' ? field.inputSchema : field.schema;
    const schema = isCreate ? schemaOf(field) : given;
    return mayBeNull(field, isCreate) ? nullable(schema) : schema;
  };
  const required = requiredFields(dto, direction).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, propertyOf(field)])),
    ...(required.length > 0 && { required }),
    // An answer may have further fields some day; a request has none that are unknown.
    ...(direction === 'input' && { additionalProperties: false }),
  };
}

/** The JSON Schema of what a field accepts, with the default of where it is not given. */
export function schemaOf({ inputSchema, presence }: Field): JsonSchema {
  const { default: value } = presence;
  return value === undefined ? inputSchema : { ...inputSchema, default: value };
}

/**
 * An object of the examples that a DTO declares.
 * @param choice whether the fields that may be left out are in it
 * @returns undefined where a field that must stand has none
 */
export function exampleOf(
  dto: Type<object>,
  direction: Direction,
  choice: 'every field' | 'required fields' = 'every field',
): Record<string, unknown> | undefined {
  const required = requiredFields(dto, direction);
  if (required.some((field) => exampleOfField(field) === undefined)) return undefined;
  const fields = choice === 'every field' ? fieldsOf(dto) : required;
  const examples = fields.map((field) => [field.name, exampleOfField(field)] as const);
  return Object.fromEntries(examples.filter(([, example]) => example !== undefined));
}

function exampleOfField({ schema }: Field): unknown {
  return schema.examples?.[0];
}

/** The fields that always stand in an answer, or must in a create. */
function requiredFields(dto: Type<object>, direction: Direction): readonly Field[] {
  if (direction === 'output') return fieldsOf(dto);
  return isUpdate(dto) ? [] : fieldsOf(dto).filter(({ presence }) => presence.required);
}

/** On create, null means left out; elsewhere it is the value of a field that is not set. */
function mayBeNull({ presence }: Field, isCreate: boolean): boolean {
  return !presence.required && (isCreate || presence.default === undefined);
}

function nullable(schema: JsonSchema): JsonSchema {
  return {
    ...schema,
    type: [schema.type ?? [], 'null'].flat(),
    ...(schema.enum && { enum: [...schema.enum, null] }),
  };
}
