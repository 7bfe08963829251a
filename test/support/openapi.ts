import addFormats from 'ajv-formats';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import type { OpenApiDocument, Operation, Ref, Response } from '../../src/http/openapi/model.js';
import type { Answer } from './api-client.js';
import type { ErrorBody } from './factories.js';
import type { Properties } from './markers.js';
import { nameOf, type Route } from './routes.js';

type Json = Readonly<Record<string, unknown>>;

/** An OpenAPI document, to which requests and answers are held. */
export class ApiDescription {
  private readonly ajv: Ajv2020;

  constructor(readonly document: OpenApiDocument) {
    this.ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
    addFormats.default(this.ajv);
    // Where the schemas' references lead.
    this.ajv.addKeyword('components');
  }

  /** Every operation, by its method and path. */
  get operations(): readonly (readonly [name: string, operation: Operation])[] {
    return Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
      ),
    );
  }

  operationOf(route: Route): Operation {
    const name = nameOf(route).replace(/:(\w+)/g, '{$1}');
    const [, operation] = this.operations.find(([candidate]) => candidate === name) ?? [];
    if (!operation) throw new Error(`${name} is not described`);
    return operation;
  }

  /** The parameters of its query and the fields of its body. */
  inputOf(route: Route): Readonly<Record<'query' | 'body', Properties>> {
    const { parameters = [], requestBody } = this.operationOf(route);
    const inQuery = parameters.filter((parameter) => parameter.in === 'query');
    const schema = requestBody?.content['application/json'].schema ?? {};
    const { properties = {} } = this.resolve<{ properties?: Properties }>(schema);
    return {
      query: Object.fromEntries(inQuery.map((one) => [one.name, one.schema])),
      body: properties,
    };
  }

  /** The error codes that a route is said to answer. */
  errorCodesOf(route: Route): string[] {
    const { responses } = this.operationOf(route);
    return Object.values(responses).flatMap((response) => Object.keys(this.errorsIn(response)));
  }

  /** The example of each error that a response may be, by its code. */
  errorsIn(response: Response | Ref): Readonly<Record<string, ErrorBody>> {
    const { examples = {} } = this.resolve<Response>(response).content?.['application/json'] ?? {};
    return Object.fromEntries(
      Object.entries(examples).map(([code, { value }]) => [
        code,
        (value as { error: ErrorBody }).error,
      ]),
    );
  }

  /** What of an answer the description of its route does not say. */
  differences(route: Route, { status, headers, body }: Answer): unknown[] {
    const described = this.operationOf(route).responses[status];
    if (!described) return [`${status} is not described`];
    const response = this.resolve<Response>(described);
    const media = response.content?.['application/json'];
    const missing = Object.keys(response.headers).filter((name) => !headers.has(name));
    const { code } = (body as { error?: { code: string } }).error ?? {};
    return [
      ...missing.map((name) => `${name} is missing`),
      ...(code === undefined || code in (media?.examples ?? {})
        ? []
        : [`${code} is not described`]),
      ...(media ? this.faults(media.schema, body) : []),
    ];
  }

  /** What makes a value no instance of a schema of the document. */
  faults(schema: object, value: unknown): readonly ErrorObject[] {
    const described = { ...schema, components: this.document.components };
    const validate = this.ajv.compile(closed(described) as object);
    return validate(value) ? [] : (validate.errors ?? []);
  }

  /** Every example in the document, with the schema that it stands for. */
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

/** Every object in the document. */
function objectsIn(node: unknown): Json[] {
  if (typeof node !== 'object' || node === null) return [];
  const inside = Object.values(node).flatMap(objectsIn);
  return Array.isArray(node) ? inside : [node as Json, ...inside];
}

/** A schema that refuses every field which it does not describe. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, value]) => [key, closed(value)] as const);
  const isObject = (schema as Json).type === 'object' && 'properties' in schema;
  return { ...(isObject && { additionalProperties: false }), ...Object.fromEntries(entries) };
}
