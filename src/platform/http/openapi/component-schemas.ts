import type { Type } from '@nestjs/common';
import * as swagger from '@nestjs/swagger';
import { parametersOf } from '../../discovery/nest-internals.js';
import { DECLARED_DTOS, fieldsOf } from '../../fields/field.js';
import type { JsonSchema } from '../../fields/schema/json-schema.js';
import { type Direction, jsonSchemaOf } from '../../fields/schema/schema-of.js';
import {
  plainPropertiesOf,
  type ValidatedProperty,
} from '../../fields/schema/validation-schema.js';
import { refersTo, type Schema, schemaRef } from './model.js';
import { responseDtoOf, type RestHandler } from './routes.js';

const { API_MODEL_PROPERTIES } = swagger.DECORATORS;

/** The schemas of types that are not classes with properties. */
const SIMPLE: ReadonlyMap<unknown, Schema> = new Map<unknown, Schema>([
  [String, { type: 'string' }],
  [Number, { type: 'number' }],
  [Boolean, { type: 'boolean' }],
  [Array, { type: 'array', items: {} }],
  [Object, {}],
]);

/** Whether a type is a class with properties. */
export function isClass(type: Type<object> | undefined): type is Type<object> {
  return type !== undefined && !SIMPLE.has(type);
}

/** The classes that @nestjs/swagger knows. A document can be created several times. */
const INTRODUCED = new WeakSet<object>();

/**
 * The DTOs with fields by the names that @nestjs/swagger has for them. They end with a number, because DTOs of two modules
 * can have the same name.
 */
const DTOS = new Map<string, Type<object>>();

/**
 * Tells @nestjs/swagger the names of DTOs with fields, and what the rules of class-validator say about other properties.
 * @returns the classes of the inputs and responses of the handlers
 */
export function introduce(handlers: readonly RestHandler[]): Type<object>[] {
  const classes = handlers.flatMap(({ controller, name, documentation }) => {
    const inputs = parametersOf(controller, name).map(({ type }) => type);
    return [...inputs, responseDtoOf(documentation), documentation?.meta].filter(isClass);
  });
  // Subclasses come first: @nestjs/swagger copies the properties that a base class has at that time into a subclass.
  for (const dto of [...[...DECLARED_DTOS].reverse(), ...classes]) introduceClass(dto);
  return classes;
}

function introduceClass(dto: Type<object>): void {
  if (INTRODUCED.has(dto)) return;
  INTRODUCED.add(dto);
  if (hasFields(dto)) {
    const name = `${dto.name}.${DTOS.size + 1}`;
    DTOS.set(name, dto);
    swagger.ApiSchema({ name })(dto);
  }
  const prototype = dto.prototype as object;
  for (const property of plainPropertiesOf(dto)) {
    const { name, nested } = property;
    const type = Reflect.getMetadata('design:type', prototype, name) as Type;
    const declared = Reflect.getMetadata(API_MODEL_PROPERTIES, prototype, name) as
      object | undefined;
    swagger.ApiProperty({ type, ...ruleOptions(property), ...declared })(prototype, name);
    if (nested) introduceClass(nested);
  }
}

function ruleOptions({ required, schema, isArray, nested }: ValidatedProperty) {
  const { items: _items, type: _type, ...bounds } = schema;
  const options = nested ? { ...bounds, type: () => nested, isArray } : schema;
  return { ...options, required } as swagger.ApiPropertyOptions;
}

/**
 * The schemas of the document. A schema is added when a part of the document refers to it, by the name of its class without
 * `Dto`.
 */
export class ComponentSchemas {
  private readonly names = new Map<string, string>();
  private readonly freeName: (name: string) => string;

  /**
   * @param described those of @nestjs/swagger
   * @param all those of the document
   */
  constructor(
    private readonly described: Readonly<Record<string, Schema>>,
    readonly all: Record<string, Schema>,
  ) {
    this.freeName = freeNames(all);
  }

  /** Returns the schema of a type: a reference to that of a class. */
  of(type: Type<object> | undefined, direction: Direction): Schema {
    if (!isClass(type)) return SIMPLE.get(type) ?? {};
    return this.adopt({ $ref: swagger.getSchemaPath(type) }, direction);
  }

  /** Copies a part of the document of @nestjs/swagger, with references to the schemas of this one. */
  adopt<T extends object>(part: T, direction: Direction): T {
    return JSON.parse(JSON.stringify(part), (_, value: unknown) => {
      const reference = refersTo(value);
      return reference === undefined ? value : schemaRef(this.nameOf(reference, direction)).$ref;
    }) as T;
  }

  /** Returns the properties of a schema or of the one to which it refers. */
  propertiesOf(schema: Schema = {}): Readonly<Record<string, Schema>> {
    if (!('$ref' in schema)) return schema.properties ?? {};
    return this.propertiesOf(this.all[refersTo(schema.$ref) ?? '']);
  }

  private nameOf(reference: string, direction: Direction): string {
    // A reference that a team has written with `getSchemaPath(LeadDto)` has no number.
    const numbered = Object.keys(this.described).find((one) => one.startsWith(`${reference}.`));
    const key = reference in this.described ? reference : (numbered ?? '');
    const { [key]: schema } = this.described;
    const dto = DTOS.get(key);
    const id = dto ? `${key} ${direction}` : key;
    const known = this.names.get(id);
    if (known !== undefined || !schema) return known ?? reference;
    const name = this.freeName(key.replace(/(Dto)?(\.\d+)?$/, ''));
    this.names.set(id, name);
    this.all[name] = {}; // A schema can refer to itself.
    this.all[name] = this.adopt(dto ? withFields(schema, dto, direction) : schema, direction);
    return name;
  }
}

/** Adds the fields of a DTO to its other properties, which @nestjs/swagger has described. */
function withFields(described: Schema, dto: Type<object>, direction: Direction): Schema {
  const ofDto = jsonSchemaOf(dto, direction);
  const { properties: fields = {}, ...schema } =
    direction === 'input' ? withoutDefaults(ofDto) : ofDto;
  const { properties: others = {}, required: known = [] } = described as JsonSchema;
  const properties = { ...fields };
  for (const [name, other] of Object.entries(others))
    properties[name] = { ...other, ...fields[name] };
  const required = [...(schema.required ?? []), ...known.filter((name) => !(name in fields))];
  const { type, ...rest } = schema;
  return { type, properties, ...rest, ...(required.length > 0 && { required }) } as Schema;
}

/**
 * Moves defaults to the descriptions, at any depth. openapi-typescript makes properties with a default
 * required, so that clients would have to send them.
 */
function withoutDefaults({ default: value, properties, ...schema }: JsonSchema): JsonSchema {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const parts = [schema.description, value === undefined ? undefined : `Default: \`${text}\`.`];
  const description = parts.filter(Boolean).join(' ');
  const described = Object.entries(properties ?? {}).map(
    ([name, property]) => [name, withoutDefaults(property)] as const,
  );
  return {
    ...schema,
    ...(description && { description }),
    ...(properties && { properties: Object.fromEntries(described) }),
    ...(schema.items && { items: withoutDefaults(schema.items) }),
  };
}

/** Returns a function that appends a number to names that are in use. */
export function freeNames(used: object): (name: string) => string {
  const taken = new Set(Object.keys(used));
  return (name) => {
    let free = name;
    for (let number = 2; taken.has(free); number++) free = `${name}${number}`;
    taken.add(free);
    return free;
  };
}

export function hasFields(dto: Type<object> | undefined): dto is Type<object> {
  return dto !== undefined && fieldsOf(dto).length > 0;
}
