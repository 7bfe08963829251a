import { applyDecorators, type Type } from '@nestjs/common';
import * as swagger from '@nestjs/swagger';
import { type HandlerParameter, parametersOf } from '../discovery/nest-internals.js';
import { fieldsOf } from '../fields/field.js';
import { refersTo, type Schema } from '../http/openapi/model.js';
import type { RestPlan } from '../http/openapi/routes.js';
import { type PlainProperty, plainPropertiesOf } from './class-schema.js';

/** The schemas of types that are not classes with properties. */
const SIMPLE: ReadonlyMap<unknown, Schema> = new Map<unknown, Schema>([
  [String, { type: 'string' }],
  [Number, { type: 'number' }],
  [Boolean, { type: 'boolean' }],
  [Array, { type: 'array', items: {} }],
  [Object, {}],
]);

/** The handlers and DTOs that have their decorators. A document can be created several times. */
const DECORATED = new WeakSet<object>();

/** The names of DTOs of fields end with a number, because DTOs of two modules can have the same name. */
let lastNumber = 0;

export function nameOf(dto: Type<object>): string {
  return refersTo(swagger.getSchemaPath(dto)) ?? dto.name;
}

function isNew(target: object): boolean {
  const isFirst = !DECORATED.has(target);
  DECORATED.add(target);
  return isFirst;
}

/** Includes a handler in the description. `@nestjs/swagger` leaves out a body of parts, and says that the items of an array are strings. */
export function decorateHandler({ controller, name, handler }: RestPlan): void {
  if (!isNew(handler)) return;
  const parts = parametersOf(controller, name).filter(({ source }) => source === 'body');
  const whole = parts.find((part) => part.name === undefined);
  const declared = Reflect.getMetadata(swagger.DECORATORS.API_PARAMETERS, handler) as
    { in: string }[] | undefined;
  const isDescribed = isClass(whole?.type) || declared?.some((one) => one.in === 'body');
  const schema = whole ? schemaOfPart(whole.type) : schemaOfParts(parts);
  const bodies = parts.length > 0 && !isDescribed ? [swagger.ApiBody({ schema })] : [];
  const decorate = applyDecorators(swagger.ApiIncludeEndpoint(), ...bodies);
  decorate(controller.prototype as object, name, { value: handler });
}

function schemaOfParts(parts: readonly HandlerParameter[]): Schema {
  const properties = parts.map((part) => [part.name, schemaOfPart(part.type)] as const);
  // A pipe of a part can accept that it is missing.
  const required = parts.flatMap((part) => (part.pipes.length === 0 ? [part.name ?? ''] : []));
  return {
    type: 'object',
    properties: Object.fromEntries(properties) as Record<string, Schema>,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function schemaOfPart(type: unknown): Schema {
  return isClass(type) ? { $ref: swagger.getSchemaPath(type) } : (SIMPLE.get(type) ?? {});
}

/** Whether a type is a class with properties. */
export function isClass(type: unknown): type is Type<object> {
  return type !== undefined && !SIMPLE.has(type);
}

/** Numbers a DTO of fields, and says with `@ApiProperty()` what rules of class-validator declare. */
export function decorateDto(dto: Type<object>): void {
  if (!isNew(dto)) return;
  if (fieldsOf(dto).length > 0) swagger.ApiSchema({ name: `${dto.name}.${++lastNumber}` })(dto);
  const prototype = dto.prototype as object;
  for (const property of plainPropertiesOf(dto)) {
    const { name, nested } = property;
    const type = Reflect.getMetadata('design:type', prototype, name) as Type;
    const { API_MODEL_PROPERTIES } = swagger.DECORATORS;
    const declared = Reflect.getMetadata(API_MODEL_PROPERTIES, prototype, name) as
      object | undefined;
    swagger.ApiProperty({ type, ...ruleOptions(property), ...declared })(prototype, name);
    if (nested) decorateDto(nested);
  }
}

function ruleOptions({ required, schema, isArray, nested }: PlainProperty) {
  const { items: _items, type: _type, ...bounds } = schema;
  const options = nested ? { ...bounds, type: () => nested, isArray } : schema;
  return { ...options, required } as swagger.ApiPropertyOptions;
}
