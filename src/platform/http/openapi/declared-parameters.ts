import type { Type } from '@nestjs/common';
import type * as swaggerPackage from '@nestjs/swagger';
import type { ApiBodyOptions } from '@nestjs/swagger';
import { fieldsOf } from '../../fields/field.js';
import type { JsonSchema } from '../../fields/schema/json-schema.js';
import { documentedInputOf } from '../../fields/schema/validation-schema.js';
import { type HandlerParameter, parametersOf } from '../../discovery/nest-internals.js';
import type { Schema } from './model.js';
import type { RestHandler } from './routes.js';
import { withoutDefaults } from './without-defaults.js';

/** The package, which is loaded on demand. */
export type Swagger = typeof swaggerPackage;

/** The schemas of types that are not classes with properties. The items of an array are unknown. */
const SIMPLE: ReadonlyMap<unknown, Schema> = new Map<unknown, Schema>([
  [String, { type: 'string' }],
  [Number, { type: 'number' }],
  [Boolean, { type: 'boolean' }],
  [Array, { type: 'array', items: {} }],
  [Object, {}],
  [undefined, {}],
]);

/** A document can be created several times, but each handler is described once. */
const DESCRIBED = new WeakSet<object>();

/**
 * Describes the body of a handler that takes parts of it, or a value without a class: @nestjs/swagger would describe
 * the part as the whole. The decorators that the handler has take precedence.
 * @returns the classes to which the description refers
 */
export function describeBody(
  { controller, name, handler }: RestHandler,
  swagger: Swagger,
): Type<object>[] {
  const parts = parametersOf(controller, name).filter(({ source }) => source === 'body');
  const whole = parts.find((part) => part.name === undefined);
  const isClass = whole !== undefined && !SIMPLE.has(whole.type);
  if (parts.length === 0 || isClass || DESCRIBED.has(handler)) return [];
  DESCRIBED.add(handler);
  const models = new Set<Type<object>>();
  const schemaOf = ({ type }: HandlerParameter): Schema => {
    const simple = SIMPLE.get(type);
    if (simple || !type) return simple ?? {};
    if (fieldsOf(type).length > 0) return withoutDefaults(documentedInputOf(type));
    models.add(type);
    return { $ref: swagger.getSchemaPath(type) };
  };
  const schema = whole ? schemaOf(whole) : bodyOfParts(parts, schemaOf);
  for (const decorate of [
    swagger.ApiBody({ schema } as ApiBodyOptions),
    swagger.ApiExtraModels(...models),
  ]) {
    decorate(controller.prototype as object, name, { value: handler });
  }
  return [...models];
}

/** The object whose properties are the parts. A pipe of a part can accept that it is missing. */
function bodyOfParts(
  parts: readonly HandlerParameter[],
  schemaOf: (part: HandlerParameter) => Schema,
): Schema {
  const properties = parts.map((part) => [part.name, schemaOf(part)] as const);
  const required = parts.flatMap(({ name, pipes }) => (name && pipes.length === 0 ? [name] : []));
  return withoutDefaults({
    type: 'object',
    properties: Object.fromEntries(properties) as JsonSchema['properties'],
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  });
}
