import type { Type } from '@nestjs/common';
import type * as swaggerPackage from '@nestjs/swagger';
import type { ApiBodyOptions } from '@nestjs/swagger';
import { fieldsOf } from '../../fields/field.js';
import type { JsonSchema } from '../../fields/schema/json-schema.js';
import { documentedInputOf } from '../../fields/schema/validation-schema.js';
import { type HandlerParameter, parametersOf } from '../nest-internals.js';
import type { Schema } from './model.js';
import { acceptedBy } from './pipe-schemas.js';
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

/** A parameter of a handler as the document describes it. */
interface Described {
  readonly schema: Schema;
  readonly required: boolean;
  /** For an array that is sent as one string with commas. */
  readonly explode?: false;
}

/** A document can be created several times, but each handler is described once. */
const DESCRIBED = new WeakMap<object, Promise<Type<object>[]>>();

/**
 * Describes the parameters of a handler of which @nestjs/swagger knows too little: those with pipes, arrays
 * and parts of the body. The decorators that the handler has take precedence.
 * @returns the classes to which the descriptions refer
 */
export function describeParameters(
  declared: RestHandler,
  swagger: Swagger,
): Promise<Type<object>[]> {
  const known = DESCRIBED.get(declared.handler);
  if (known) return known;
  const models = decorateParameters(declared, swagger);
  DESCRIBED.set(declared.handler, models);
  return models;
}

async function decorateParameters(
  { controller, name, handler }: RestHandler,
  swagger: Swagger,
): Promise<Type<object>[]> {
  const models = new Set<Type<object>>();
  const schemaOf = (type: Type<object> | undefined): Schema => {
    const simple = SIMPLE.get(type);
    if (simple || !type) return simple ?? {};
    if (fieldsOf(type).length > 0) return withoutDefaults(documentedInputOf(type));
    models.add(type);
    return { $ref: swagger.getSchemaPath(type) };
  };
  const parameters = await Promise.all(
    parametersOf(controller, name).map(
      async (parameter) => [parameter, await described(parameter, schemaOf)] as const,
    ),
  );
  const decorators = [
    ...parameters.flatMap(([parameter, one]) => parameterDecorator(parameter, one, swagger) ?? []),
    ...bodyDecorators(parameters, swagger),
    swagger.ApiExtraModels(...models),
  ];
  for (const decorate of decorators) {
    decorate(controller.prototype as object, name, { value: handler });
  }
  return [...models];
}

async function described(
  { source, type, pipes }: HandlerParameter,
  schemaOf: (type: Type<object> | undefined) => Schema,
): Promise<Described> {
  const accepted = await acceptedBy(pipes);
  const schema = accepted.schema ?? schemaOf(type);
  return {
    schema: accepted.default === undefined ? schema : { ...schema, default: accepted.default },
    required: !accepted.isOptional,
    ...(source !== 'body' && accepted.isArray && { explode: false }),
  };
}

/** Returns the decorator of a named parameter of the query or the path. */
function parameterDecorator(
  { source, name }: HandlerParameter,
  one: Described,
  { ApiParam, ApiQuery }: Swagger,
): MethodDecorator | undefined {
  if (name === undefined || source === 'body') return undefined;
  // With the type of an array, @nestjs/swagger would ignore the schema.
  const options = { name, ...one, type: String };
  return source === 'query' ? ApiQuery(options) : ApiParam(options);
}

/** Returns the decorator of the body of a handler that takes parts of it, or a value without a class. */
function bodyDecorators(
  parameters: readonly (readonly [HandlerParameter, Described])[],
  { ApiBody }: Swagger,
): MethodDecorator[] {
  const ofBody = parameters.filter(([{ source }]) => source === 'body');
  if (ofBody.length === 0) return [];
  const whole = ofBody.find(([{ name }]) => name === undefined);
  if (!whole) return [ApiBody({ schema: bodyOfParts(ofBody) } as ApiBodyOptions)];
  const [{ type, pipes }, { schema }] = whole;
  const isClass = !SIMPLE.has(type) && pipes.length === 0;
  return isClass ? [] : [ApiBody({ schema } as ApiBodyOptions)];
}

function bodyOfParts(parts: readonly (readonly [HandlerParameter, Described])[]): Schema {
  const properties = parts.map(([{ name = '' }, { schema }]) => [name, schema] as const);
  const required = parts.flatMap(([{ name = '' }, one]) => (one.required ? [name] : []));
  return withoutDefaults({
    type: 'object',
    properties: Object.fromEntries(properties) as JsonSchema['properties'],
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  });
}
