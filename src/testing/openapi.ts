import addFormats from 'ajv-formats';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type {
  ExampleObject,
  HeaderObject,
  ReferenceObject,
  ResponseObject,
  SchemaObject,
} from '@nestjs/swagger';
import type { JsonSchema } from '../platform/fields/schema/json-schema.js';
import type { OpenApiDocument, Operation } from '../platform/http/openapi/model.js';
import type { Answer } from './api-client.js';
import type { ErrorBody } from './factories.js';
import type { Properties } from './canary-values.js';
import { routeName, type Route, ROUTES } from './routes.js';

const JSON_IN_UTF8 = 'application/json; charset=utf-8';

const COMPONENTS = 'urn:latitude:components';

const CORE_PATHS = new Set(ROUTES.map(({ pattern }) => pattern.replace(':id', '{id}')));

interface PathTemplate {
  readonly template: string;
  readonly regexp: RegExp;
  readonly operations: Readonly<Record<string, Operation>>;
}

type Json = Readonly<Record<string, unknown>>;

/** Validates requests and responses against an OpenAPI document. */
export class OpenApiValidator {
  private readonly ajv: Ajv2020;
  private readonly validators = new Map<object, ValidateFunction>();
  /** Path templates, those with fewer parameters first. */
  private readonly templates: readonly PathTemplate[];

  constructor(readonly document: OpenApiDocument) {
    this.templates = Object.entries(document.paths)
      .sort(([a], [b]) => a.split('{').length - b.split('{').length)
      .map(([template, operations]) => {
        const regexp = new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
        return { template, regexp, operations };
      });
    // The linter of the document checks its schemas. Ajv would compile the schema of schemas for each document.
    const options = { meta: false, validateSchema: false };
    this.ajv = new Ajv2020({ ...options, strict: true, allowUnionTypes: true, allErrors: true });
    addFormats.default(this.ajv).addFormat('decimal', true);
    // The components are shared, so that each is compiled once.
    const shared = { $id: COMPONENTS, $defs: closed(document.components.schemas) };
    this.ajv.addSchema(shared, COMPONENTS, false, false);
  }

  /** All operations by method and path. */
  get operations(): readonly (readonly [name: string, operation: Operation])[] {
    return Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
      ),
    );
  }

  operationOf(route: Route): Operation {
    const name = routeName(route).replace(/:(\w+)/g, '{$1}');
    const [, operation] = this.operations.find(([candidate]) => candidate === name) ?? [];
    if (!operation) throw new Error(`${name} is not in the OpenAPI document`);
    return operation;
  }

  /** The query parameters and the body fields of a route. */
  inputOf(route: Route): Readonly<Record<'query' | 'body', Properties>> {
    const { parameters = [], requestBody } = this.operationOf(route);
    const inQuery = parameters.filter((parameter) => parameter.in === 'query');
    const schema = requestBody?.content['application/json']?.schema ?? {};
    const { properties = {} } = this.resolve<{ properties?: Properties }>(schema);
    return {
      query: Object.fromEntries(inQuery.map((one) => [one.name, one.schema as JsonSchema])),
      body: properties,
    };
  }

  /** The documented error codes of a route. */
  errorCodesOf(route: Route): string[] {
    const { responses } = this.operationOf(route);
    return Object.values(responses).flatMap((response) => Object.keys(this.errorsIn(response)));
  }

  /** The example of each documented error of a response, by code. */
  errorsIn(response: ResponseObject | ReferenceObject): Readonly<Record<string, ErrorBody>> {
    const { examples = {} } =
      this.resolve<ResponseObject>(response).content?.['application/json'] ?? {};
    return Object.fromEntries(
      Object.entries(examples as Record<string, ExampleObject>).map(([code, { value }]) => [
        code,
        (value as { error: ErrorBody }).error,
      ]),
    );
  }

  /** @returns differences between a response and the document; of a team's routes, only those of `data` */
  validateRequestAnswer(method: string, target: string, answer: Answer): unknown[] {
    const [path = ''] = target.split('?');
    if (method === 'OPTIONS' || !/^\/api(\/|$)/.test(path)) return [];
    const isHead = method === 'HEAD';
    const verb = isHead ? 'get' : method.toLowerCase();
    const { template = '', operations } =
      this.templates.find(({ regexp }) => regexp.test(path)) ?? {};
    const operation = operations?.[verb];
    if (!operation) return this.validateUnknownRoute(answer, isHead);
    return CORE_PATHS.has(template)
      ? this.validateAgainst(operation.responses, answer, isHead)
      : this.validateData(operation.responses, answer, isHead);
  }

  /**
   * Compares the body of a successful response. Guards, pipes and handlers of a team can send statuses, errors
   * and headers that the document does not have.
   */
  private validateData(
    responses: Operation['responses'],
    { status, body }: Answer,
    isHead: boolean,
  ): unknown[] {
    const described = status < 400 && !isHead ? responses[status] : undefined;
    const media =
      described && this.resolve<ResponseObject>(described).content?.['application/json'];
    return media ? [...this.schemaErrors(media.schema ?? {}, body)] : [];
  }

  /** A response to an unknown route must match the errors of some documented route. */
  private validateUnknownRoute(answer: Answer, isHead: boolean): unknown[] {
    if (answer.status < 400) return [`${answer.status} where no route is described`];
    let first: unknown[] = [];
    for (const [, { responses }] of this.operations) {
      const differences = this.validateAgainst(responses, answer, isHead);
      if (differences.length === 0) return [];
      if (first.length === 0) first = differences;
    }
    return first;
  }

  /** @returns differences between the response of a route and the document */
  differences(route: Route, answer: Answer): unknown[] {
    return this.validateAgainst(this.operationOf(route).responses, answer);
  }

  private validateAgainst(
    responses: Operation['responses'],
    { status, headers, body }: Answer,
    isHead = false,
  ): unknown[] {
    // Routes with guards of a team can answer any error.
    const { default: other } = responses;
    const described = responses[status] ?? (status >= 400 ? other : undefined);
    if (!described) return [`${status} is not described`];
    const response = this.resolve<ResponseObject>(described);
    const media = response.content?.['application/json'];
    const type = headers.get('content-type');
    const ofHeaders = this.headerErrors(response, headers);
    const files = Object.keys(response.content ?? {}).filter((name) => name !== 'application/json');
    if (files.length > 0) {
      const isFile = files.some((name) => type?.split(';')[0] === name);
      return isFile ? ofHeaders : [...ofHeaders, `the content type is ${type}`];
    }
    if (!media || isHead) return body === undefined ? ofHeaders : [...ofHeaders, 'has a body'];
    const { code } = (body as { error?: { code: string } } | undefined)?.error ?? {};
    return [
      ...ofHeaders,
      ...(type === JSON_IN_UTF8 ? [] : [`the content type is ${type}`]),
      ...(code === undefined || other || !media.examples || code in media.examples
        ? []
        : [`${code} is not described`]),
      ...this.schemaErrors(media.schema ?? {}, body),
    ];
  }

  /** Documented headers that are missing, malformed, or not documented for this response. */
  private headerErrors({ headers: described = {} }: ResponseObject, headers: Headers): string[] {
    return Object.entries(this.document.components.headers).flatMap(([name, { schema = {} }]) => {
      const value = headers.get(name);
      const { [name]: header } = described;
      const isRequired = header && this.resolve<HeaderObject>(header).required;
      if (value === null) return isRequired ? [`${name} is missing`] : [];
      if (!header) return [`${name} is not described`];
      const read = (schema as SchemaObject).type === 'integer' ? Number(value) : value;
      return this.schemaErrors(schema, read).length > 0 ? [`${name} is ${value}`] : [];
    });
  }

  /** @returns the errors of a value against a schema of the document */
  schemaErrors(schema: object, value: unknown): readonly ErrorObject[] {
    const validate = this.validators.get(schema) ?? this.compile(schema);
    return validate(value) ? [] : (validate.errors ?? []);
  }

  private compile(schema: object): ValidateFunction {
    const validate = this.ajv.compile(closed(schema) as object);
    this.validators.set(schema, validate);
    return validate;
  }

  /** All examples in the document, with their schemas. */
  examples(): { schema: object; value: unknown }[] {
    return objectsIn(this.document).flatMap((node): { schema: object; value: unknown }[] => {
      const { schema, example, examples = [] } = node;
      if (Array.isArray(examples)) {
        const values = example === undefined ? examples : [example];
        return values.map((value: unknown) => ({
          schema: (schema as object | undefined) ?? node,
          value,
        }));
      }
      const named = Object.values(examples as Record<string, { value: unknown }>);
      return named.map(({ value }) => ({ schema: schema as object, value }));
    });
  }

  private resolve<T>(node: object): T {
    if (!('$ref' in node)) return node as T;
    const steps = String(node.$ref).replace('#/', '').split('/');
    return steps.reduce<unknown>((at, step) => (at as Json)[step], this.document) as T;
  }
}

/** All objects in the document. */
function objectsIn(node: unknown): Json[] {
  if (typeof node !== 'object' || node === null) return [];
  const inside = Object.values(node).flatMap(objectsIn);
  return Array.isArray(node) ? inside : [node as Json, ...inside];
}

function closeReferences(schemas: readonly Json[]): unknown[] {
  return schemas.map((schema) => ('$ref' in schema ? closed(schema) : schema));
}

/** Adds `additionalProperties: false` to a schema and its nested schemas. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  if ('$ref' in schema)
    return { $ref: String(schema.$ref).replace('#/components/schemas', `${COMPONENTS}#/$defs`) };
  const entries = Object.entries(schema).map(
    // A schema in `allOf` only narrows another one, which refuses additional fields itself.
    ([key, value]) =>
      [key, key === 'allOf' ? closeReferences(value as Json[]) : closed(value)] as const,
  );
  const isObject = (schema as Json).type === 'object' && 'properties' in schema;
  return { ...(isObject && { additionalProperties: false }), ...Object.fromEntries(entries) };
}
