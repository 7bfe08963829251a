import { applyDecorators, type Type } from '@nestjs/common';
import * as swagger from '@nestjs/swagger';
import { isScope } from '../../access/scopes.js';
import { parametersOf } from '../../discovery/nest-internals.js';
import { DECLARED_DTOS, type Field, fieldsOf, isUpdate } from '../../fields/field.js';
import type { JsonSchema } from '../../fields/schema/json-schema.js';
import { jsonSchemaOf, schemaOf } from '../../fields/schema/schema-of.js';
import {
  exampleOfClass,
  plainPropertiesOf,
  type ValidatedProperty,
} from '../../fields/schema/validation-schema.js';
import type { Schema } from './model.js';
import { responseDtoOf, type RestHandler } from './routes.js';

/** Extension of an operation with its handler. */
export const HANDLER = 'x-handler';

/** Extension of a schema with all of its types, such as `['string', 'null']`, because `@ApiProperty()` takes one. `adopter()` puts them back. */
export const TYPES = 'x-types';

const { API_MODEL_PROPERTIES, API_OPERATION, API_PARAMETERS } = swagger.DECORATORS;

/** The schemas of types that are not classes with properties. */
const SIMPLE: ReadonlyMap<unknown, Schema> = new Map<unknown, Schema>([
  [String, { type: 'string' }],
  [Number, { type: 'number' }],
  [Boolean, { type: 'boolean' }],
  [Array, { type: 'array', items: {} }],
  [Object, {}],
]);

/** The controllers, handlers and DTOs that have their decorators. A document can be created several times. */
const DECORATED = new WeakSet<object>();

/** The classes that describe DTOs with fields as requests. */
const REQUESTS = new WeakMap<Type<object>, Type<object>>();

/** The names of schemas of DTOs with fields end with a number, because DTOs of two modules can have the same name. */
let lastNumber = 0;

/** Says with the decorators of @nestjs/swagger what those of Latitude and of class-validator declare. */
export function decorate(handlers: readonly RestHandler[]): void {
  // Subclasses come first: @nestjs/swagger copies the properties that a base class has at that time into a subclass.
  [...DECLARED_DTOS].reverse().forEach(decorateDto);
  for (const { input } of handlers) [input?.query?.type, input?.body?.type].forEach(decorateDto);
  for (const handler of handlers) decorateHandler(handler);
}

function isNew(target: object): boolean {
  const isFirst = !DECORATED.has(target);
  DECORATED.add(target);
  return isFirst;
}

function decorateHandler(route: RestHandler): void {
  const { controller, name, handler, tag, documentation, access, furtherScopes, input } = route;
  const [query, body] = [input?.query?.type, input?.body?.type];
  if (isNew(controller) && tag) swagger.ApiTags(tag.name)(controller);
  if (!isNew(handler)) return;
  const declared = <T>(key: string) => Reflect.getMetadata(key, handler) as T | undefined;
  const operation = declared<swagger.OperationObject>(API_OPERATION);
  const parameters = declared<readonly { in: string }[]>(API_PARAMETERS) ?? [];
  const parts = parameters.some((parameter) => parameter.in === 'body') ? [] : partsOf(route);
  const file = route.file
    ? [
        swagger.ApiConsumes(...route.file.types),
        swagger.ApiBody({ schema: { type: 'string', format: 'binary' }, required: true }),
      ]
    : [];
  applyDecorators(
    swagger.ApiIncludeEndpoint(),
    swagger.ApiExtension(HANDLER, { handler }),
    swagger.ApiOperation({
      summary: [operation?.summary, documentation?.summary].find(Boolean),
      description: operation?.description ?? documentation?.description,
      security: [{ apiKey: [] }],
      ...(isScope(access) && { 'x-required-scope': access }),
      ...(furtherScopes.length > 0 && { 'x-further-scopes': furtherScopes }),
    }),
    ...(query ? fieldsOf(query).map(queryOf) : []),
    ...(hasFields(body) ? [bodyOf(body)] : parts),
    ...file,
    ...responseOf(route),
  )(controller.prototype as object, name, { value: handler });
  // Of several parameters with a name, the first is in the document: that of a field.
  const ofFields = declared<object[]>(API_PARAMETERS)?.slice(parameters.length) ?? [];
  Reflect.defineMetadata(API_PARAMETERS, [...ofFields, ...parameters], handler);
}

/** The parameter of a field. It replaces what the class of the query says about the field as part of a response. */
function queryOf(field: Field): MethodDecorator {
  const { description, examples, ...schema } = schemaOf(field);
  const required = field.presence.required === true;
  const options = { name: field.name, required, selfRequired: required, description, schema };
  return swagger.ApiQuery({ ...options, examples } as swagger.ApiQueryOptions);
}

function bodyOf(dto: Type<object>): MethodDecorator {
  const complete = exampleOfClass(dto, 'input');
  const minimal = isUpdate(dto) ? undefined : exampleOfClass(dto, 'input', 'required fields');
  const examples = {
    ...(complete && { complete: { summary: 'All fields', value: complete } }),
    ...(minimal && { minimal: { summary: 'Required fields', value: minimal } }),
  };
  const options = { type: requestOf(dto), ...(Object.keys(examples).length > 0 && { examples }) };
  return swagger.ApiBody(options);
}

/**
 * The body of a handler that takes parts of it, or a value without a class. @nestjs/swagger leaves out the parts, and
 * says that the items of an array are strings.
 */
function partsOf({ controller, name }: RestHandler): MethodDecorator[] {
  const parts = parametersOf(controller, name).filter(({ source }) => source === 'body');
  const whole = parts.find((part) => part.name === undefined);
  if (parts.length === 0 || isClass(whole?.type)) return [];
  const properties = parts.map((part) => [part.name, schemaOfPart(part.type)] as const);
  // A pipe of a part can accept that it is missing.
  const required = parts.flatMap((part) => (part.pipes.length === 0 ? [part.name] : []));
  const schema = {
    type: 'object',
    properties: Object.fromEntries(properties) as Record<string, Schema>,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
  const options = { schema: whole ? schemaOfPart(whole.type) : schema };
  const classes = parts.map(({ type }) => type).filter(isClass);
  return [
    swagger.ApiBody(options as swagger.ApiBodyOptions),
    swagger.ApiExtraModels(...classes.map(requestOf)),
  ];
}

function schemaOfPart(type: unknown): Schema {
  if (isClass(type)) return { $ref: swagger.getSchemaPath(requestOf(type)) };
  return SIMPLE.get(type) ?? {};
}

/** Whether a type is a class with properties. */
function isClass(type: unknown): type is Type<object> {
  return type !== undefined && !SIMPLE.has(type);
}

/** The response of `@ApiRoute()`, without the envelope, unless it has a `meta` of its own. */
function responseOf({ documentation, status, hasEnvelope }: RestHandler): MethodDecorator[] {
  const { files, meta, record, statuses = [] } = documentation ?? {};
  const responses = (options: swagger.ApiResponseNoStatusOptions) =>
    [status, ...statuses].map((code) => swagger.ApiResponse({ ...options, status: code }));
  if (files) return responses({ content: contentOfFiles(files) });
  const dto = responseDtoOf(documentation);
  if (!dto || !hasEnvelope) return [];
  const isList = Array.isArray(documentation?.response);
  const one = { $ref: swagger.getSchemaPath(dto) };
  const exampleOfOne = hasFields(dto) ? exampleOfClass(dto, 'output') : undefined;
  const example = isList && exampleOfOne ? [exampleOfOne] : exampleOfOne;
  if (meta) {
    const data = isList ? { type: 'array', items: one } : one;
    const properties = { data, meta: { $ref: swagger.getSchemaPath(meta) } };
    const schema = { type: 'object', properties, required: Object.keys(properties) } as Schema;
    const exampleOfMeta = exampleOfClass(meta, 'output');
    const isComplete = example !== undefined && exampleOfMeta !== undefined;
    const examples = isComplete && { example: { data: example, meta: exampleOfMeta } };
    const content = { 'application/json': { schema, ...examples } };
    return [swagger.ApiExtraModels(dto, meta), ...responses({ content })];
  }
  if (record) {
    const items = { anyOf: [one, someFieldsOf(record)] };
    const schema = { type: 'array', items } as Schema;
    return [swagger.ApiExtraModels(dto), ...responses({ schema, example })];
  }
  return responses({ type: isList ? [dto] : dto, example });
}

/** The items of a list with the parameter `fields`. The schema of whole records describes the fields. */
function someFieldsOf(record: Type<object>): Schema {
  const { properties = {} } = jsonSchemaOf(record, 'output');
  const plain = Object.entries(properties).map(
    ([name, { description: _, examples: __, ...schema }]) => [name, schema] as const,
  );
  return {
    type: 'object',
    description: 'The fields that the parameter `fields` names.',
    properties: Object.fromEntries(plain) as Record<string, Schema>,
    required: ['id'],
  };
}

/** @param types content types */
function contentOfFiles(types: readonly string[]): swagger.ContentObject {
  const names = types.map((type) => type.replace(/;.*/, ''));
  return Object.fromEntries(names.map((name) => [name, { schema: { type: 'string' } }]));
}

/** Returns the class that describes a DTO as a request, because @nestjs/swagger has one schema for each class. */
function requestOf(dto: Type<object>): Type<object> {
  if (!hasFields(dto)) return dto;
  const request = REQUESTS.get(dto) ?? class {};
  if (!REQUESTS.has(dto)) decorateClass(request, dto, withoutDefaults(jsonSchemaOf(dto, 'input')));
  REQUESTS.set(dto, request);
  return request;
}

/** Describes a DTO as a response. One that has only rules of class-validator has the same schema as a request. */
function decorateDto(dto: Type<object> | undefined): void {
  if (dto && isNew(dto)) decorateClass(dto, dto, jsonSchemaOf(dto, 'output'));
}

function decorateClass(
  described: Type<object>,
  dto: Type<object>,
  { type: _, properties = {}, ...schema }: JsonSchema,
): void {
  const prototype = described.prototype as object;
  const ofDto = (key: string, name: string): unknown =>
    Reflect.getMetadata(key, dto.prototype as object, name);
  if (hasFields(dto)) {
    swagger.ApiSchema({ name: `${dto.name}.${++lastNumber}`, ...schema })(described);
  }
  for (const [name, property] of Object.entries(properties)) {
    const [type, ...others] = [property.type ?? []].flat();
    // In a schema, `required` is a list of properties. @nestjs/swagger reads from `selfRequired` whether this one is required.
    const options = {
      ...property,
      type,
      ...(others.length > 0 && { [TYPES]: property.type }),
      selfRequired: schema.required?.includes(name) === true,
    };
    swagger.ApiProperty(options as swagger.ApiPropertyOptions)(prototype, name);
  }
  for (const property of plainPropertiesOf(dto)) {
    const { name, nested } = property;
    const type = ofDto('design:type', name) as Type;
    const declared = ofDto(API_MODEL_PROPERTIES, name) as object | undefined;
    swagger.ApiProperty({ type, ...ruleOptions(property), ...declared })(prototype, name);
    decorateDto(nested);
  }
}

function ruleOptions({ required, schema, isArray, nested }: ValidatedProperty) {
  const { items: _items, type: _type, ...bounds } = schema;
  const options = nested ? { ...bounds, type: () => nested, isArray } : schema;
  return { ...options, required } as swagger.ApiPropertyOptions;
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

function hasFields(dto: Type<object> | undefined): dto is Type<object> {
  return dto !== undefined && fieldsOf(dto).length > 0;
}
