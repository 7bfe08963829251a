import { applyDecorators, type INestApplication, type Type } from '@nestjs/common';
import * as swagger from '@nestjs/swagger';
import { type HandlerParameter, parametersOf } from '../discovery/nest-internals.js';
import { DECLARED_DTOS, fieldsOf } from '../fields/field.js';
import type { JsonSchema } from '../fields/schema/json-schema.js';
import type { Direction } from '../fields/schema/schema-of.js';
import {
  NOT_PLAIN,
  type PlainOperation,
  refersTo,
  type Schema,
  schemaRef,
} from '../http/openapi/model.js';
import { type RestHandler, resultsOf, type RoutePath } from '../http/openapi/routes.js';
import type { PlainRoutes, Schemas } from '../http/openapi/schemas.js';
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

/** Describes plain routes of a team and their DTOs by `@nestjs/swagger`. */
export class SwaggerRoutes implements PlainRoutes {
  readonly nameOf = nameOf;
  private readonly schemas: Readonly<Record<string, Schema>>;
  private readonly paths: swagger.OpenAPIObject['paths'];
  private readonly dtos: ReadonlyMap<string, Type<object>>;

  constructor(
    app: INestApplication,
    private readonly handlers: readonly RestHandler[],
  ) {
    const used = handlers.flatMap((handler) => {
      const { controller, name } = handler;
      const types = parametersOf(controller, name).map(({ type }) => type);
      return [...types, ...resultsOf(handler)].filter(isClass);
    });
    const dtos = [...DECLARED_DTOS, ...used];
    dtos.forEach(decorateDto);
    handlers.forEach(decorateHandler);
    const ofFields = dtos.filter((dto) => fieldsOf(dto).length > 0);
    this.dtos = new Map(ofFields.map((dto) => [nameOf(dto), dto]));
    const config = { openapi: '3.1.0', info: { title: '', version: '' } };
    const { components, paths } = swagger.SwaggerModule.createDocument(app, config, {
      ignoreGlobalPrefix: true,
      autoTagControllers: false,
      onlyIncludeDecoratedEndpoints: true,
      operationIdFactory: () => '',
      extraModels: used,
    });
    this.schemas = components?.schemas ?? {};
    this.paths = paths;
  }

  schemaOf(name: string, schemas: Schemas): JsonSchema {
    return this.adopt(this.schemas[name] ?? {}, schemas) as JsonSchema;
  }

  operationOf(route: RoutePath, schemas: Schemas): PlainOperation | undefined {
    if (!this.handlers.some(({ handler }) => handler === route.handler)) return NOT_PLAIN;
    const operation = this.paths[route.path]?.[route.method];
    if (!operation) return undefined;
    // `@nestjs/swagger` adds the status 200, which `@Redirect()` replaces.
    const { 200: ok, ...others } = operation.responses as PlainOperation['responses'];
    const body = operation.requestBody as PlainOperation['requestBody'];
    const requestBody = body && this.adopt(body, schemas, 'input');
    const adopted = this.adopt(
      {
        tags: [],
        ...operation,
        parameters: (operation.parameters ?? []) as PlainOperation['parameters'],
        requestBody: undefined,
        responses: ok && route.status < 300 ? { ...others, 200: ok } : others,
        // Each method of `@All()` needs an id of its own.
        operationId: route.httpMethod === 'ALL' ? undefined : operation.operationId,
      },
      schemas,
    );
    return { ...adopted, ...(requestBody && { requestBody }) };
  }

  /** Copies a part of the document of `@nestjs/swagger`, and adds the schemas to which it refers. */
  private adopt<T extends object>(part: T, schemas: Schemas, direction: Direction = 'output'): T {
    return JSON.parse(JSON.stringify(part), (_, value: unknown) => {
      const name = refersTo(value);
      return name === undefined ? value : this.adoptSchema(name, schemas, direction).$ref;
    }) as T;
  }

  private adoptSchema(name: string, schemas: Schemas, direction: Direction) {
    const dto = this.dtoOf(name);
    if (dto) return schemas.referenceTo(dto, direction);
    if (!(name in this.schemas)) return schemaRef(name);
    return schemas.add(name, name, 'output', () => this.schemaOf(name, schemas));
  }

  /** A reference that a team has written with `getSchemaPath(LeadDto)` has no number. */
  private dtoOf(name: string): Type<object> | undefined {
    if (name in this.schemas || this.dtos.has(name)) return this.dtos.get(name);
    const numbered = [...this.dtos].find(([one]) => one.startsWith(`${name}.`));
    return numbered?.[1];
  }
}

function nameOf(dto: Type<object>): string {
  return refersTo(swagger.getSchemaPath(dto)) ?? dto.name;
}

function isNew(target: object): boolean {
  const isFirst = !DECORATED.has(target);
  DECORATED.add(target);
  return isFirst;
}

/** Includes a handler in the description. `@nestjs/swagger` leaves out a body of parts, and says that the items of an array are strings. */
function decorateHandler({ controller, name, handler }: RestHandler): void {
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
function isClass(type: unknown): type is Type<object> {
  return type !== undefined && !SIMPLE.has(type);
}

/** Numbers a DTO of fields, and says with `@ApiProperty()` what rules of class-validator declare. */
function decorateDto(dto: Type<object>): void {
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
