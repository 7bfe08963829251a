import { STATUS_CODES } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { INestApplication, Type } from '@nestjs/common';
import * as swagger from '@nestjs/swagger';
import type {
  ContentObject,
  ExampleObject,
  ParameterObject,
  ReferenceObject,
  RequestBodyObject,
  ResponseObject,
} from '@nestjs/swagger';
import { parametersOf } from '../discovery/nest-internals.js';
import { DECLARED_DTOS, fieldsOf } from '../fields/field.js';
import type { JsonSchema } from '../fields/schema/json-schema.js';
import { type Direction, withProperties } from '../fields/schema/schema-of.js';
import { anyError } from '../http/openapi/errors.js';
import { headersWith } from '../http/openapi/headers.js';
import {
  JSON_TYPE,
  type Operation,
  refersTo,
  type Schema,
  schemaRef,
} from '../http/openapi/model.js';
import { declaredOperation } from '../http/openapi/operation.js';
import { inEnvelope } from '../http/openapi/responses.js';
import type { RestPlan, Route } from '../http/openapi/routes.js';
import { Schemas } from '../http/openapi/schemas.js';
import { decorateDto, decorateHandler, isClass, nameOf } from './swagger-decorators.js';

/** The schemas of an application, and the routes and DTOs of a team as `@nestjs/swagger` describes them. */
export class SwaggerRoutes extends Schemas {
  private readonly schemas: Readonly<Record<string, Schema>>;
  private readonly paths: swagger.OpenAPIObject['paths'];
  private readonly dtos: ReadonlyMap<string, Type<object>>;

  /** @param plans those of the team */
  constructor(
    app: INestApplication,
    private readonly plans: readonly RestPlan[],
  ) {
    super();
    const used = plans.flatMap(({ controller, name, documentation = { summary: '' } }) => {
      const { response, dryRun, meta } = documentation;
      const types = parametersOf(controller, name).map(({ type }) => type);
      return [...types, ...[response, dryRun, meta].flat()].filter(isClass);
    });
    const dtos = [...DECLARED_DTOS, ...used];
    dtos.forEach(decorateDto);
    plans.forEach(decorateHandler);
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

  /** A DTO without fields has one schema as a request and as a response. */
  override referenceTo(dto: Type<object>, direction: Direction): ReferenceObject {
    if (fieldsOf(dto).length > 0) return super.referenceTo(dto, direction);
    return this.addDescribed(nameOf(dto));
  }

  override exampleOf(...[dto, direction, choice]: Parameters<Schemas['exampleOf']>) {
    const example = fieldsOf(dto).length > 0 && super.exampleOf(dto, direction, choice);
    const { required = [] } = this.resolve(this.referenceTo(dto, direction));
    return example && required.every((name) => name in example) ? example : undefined;
  }

  /**
   * Describes a route by its plan and, if it is one of the team, by the decorators of `@nestjs/swagger`.
   * @returns undefined if a decorator excludes the route from the document
   */
  describe(route: Route): Operation | undefined {
    const declared = declaredOperation(route, this);
    if (!this.plans.some(({ handler }) => handler === route.handler)) return declared;
    const described = this.paths[route.path]?.[route.method];
    if (!described) return undefined;
    const { requestBody, ...others } = described;
    const body = declared.requestBody ?? (requestBody && this.adopt(requestBody, 'input'));
    const { tags, summary, description, parameters, responses, ...own } = this.adopt(others);
    const isAll = route.httpMethod === 'ALL';
    return {
      ...declared,
      ...own,
      // Each method of `@All()` needs an id of its own.
      operationId: given(isAll ? undefined : own.operationId, declared.operationId),
      tags: tags ?? declared.tags,
      summary: given(summary, declared.summary),
      description: description ?? declared.description,
      parameters: [
        ...(declared.parameters ?? []),
        ...((parameters as ParameterObject[] | undefined) ?? []).filter((one) => !isBare(one)),
      ],
      ...(body && { requestBody: body as RequestBodyObject }),
      responses: responsesOf(route, declared.responses as Responses, responses as Responses),
    };
  }

  /** Adds the properties that are no fields. */
  protected override schemaOf(dto: Type<object>, direction: Direction): JsonSchema {
    const described = this.schemas[nameOf(dto)] ?? {};
    return withProperties(super.schemaOf(dto, direction), this.adopt(described) as JsonSchema);
  }

  /** Copies a part of the document of `@nestjs/swagger`, and adds the schemas to which it refers. */
  private adopt<T extends object>(part: T, direction: Direction = 'output'): T {
    return JSON.parse(JSON.stringify(part), (_, value: unknown) => {
      const name = refersTo(value);
      if (name === undefined) return value;
      const dto = this.dtoOf(name);
      return (dto ? this.referenceTo(dto, direction) : this.addDescribed(name)).$ref;
    }) as T;
  }

  private addDescribed(name: string): ReferenceObject {
    const { [name]: schema } = this.schemas;
    if (!schema) return schemaRef(name);
    return this.add(name, name, 'output', () => this.adopt(schema) as JsonSchema);
  }

  /** A reference that a team has written with `getSchemaPath(LeadDto)` has no number. */
  private dtoOf(name: string): Type<object> | undefined {
    if (name in this.schemas || this.dtos.has(name)) return this.dtos.get(name);
    const numbered = [...this.dtos].find(([one]) => one.startsWith(`${name}.`));
    return numbered?.[1];
  }
}

type Responses = Readonly<Record<string, ResponseObject>>;

/** Adds the responses that decorators describe. Those of JSON are sent in the envelope, and errors in that of errors. */
function responsesOf(route: Route, declared: Responses, described: Responses): Responses {
  const { documentation: { response: dto, files } = {}, hasEnvelope, status } = route;
  // `@nestjs/swagger` adds the status 200, which `@Redirect()` replaces.
  const statuses = Object.keys(described).filter((one) => one !== '200' || status < 300);
  const responseOf = (one: string): ResponseObject => {
    const isError = /^[45d]/.test(one);
    const base = declared[one] ?? (isError ? anyError(Number(one)) : { headers: headersWith() });
    const { content, ...response } = described[one] ?? { description: '' };
    const isDeclared = one in declared && (dto ?? files);
    const sent = content && hasEnvelope && !isError ? inEnvelopes(content) : content;
    return {
      ...base,
      ...response,
      description: given(response.description, STATUS_CODES[one] ?? 'Any other response'),
      headers: { ...base.headers, ...response.headers },
      ...(sent && !isDeclared && { content: sent }),
    };
  };
  const all = [...Object.keys(declared), ...statuses];
  return Object.fromEntries(all.map((one) => [one, responseOf(one)]));
}

function inEnvelopes({ [JSON_TYPE]: json, ...others }: ContentObject): ContentObject {
  if (!json) return others;
  const { examples } = json as { examples?: Readonly<Record<string, ExampleObject>> };
  const wrapped = Object.entries(examples ?? {}).map(
    ([name, one]) => [name, { ...one, value: { data: one.value as unknown } }] as const,
  );
  const named = examples && { examples: Object.fromEntries(wrapped) };
  return { ...others, [JSON_TYPE]: { ...inEnvelope(json), ...named } };
}

/** Returns a text of decorators, which is empty or undefined if there is none, or else another one. */
function given(described: string | undefined, other: string): string {
  return described === undefined || described === '' ? other : described;
}

/** Whether `@nestjs/swagger` only knows that there is a parameter of the path. */
function isBare(one: ParameterObject): boolean {
  const schema = { type: 'string' };
  return isDeepStrictEqual(one, { name: one.name, in: 'path', required: true, schema });
}
