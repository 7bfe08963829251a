import { STATUS_CODES } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type {
  ContentObject,
  ExampleObject,
  OperationObject,
  ParameterObject,
  RequestBodyObject,
  ResponseObject,
} from '@nestjs/swagger';
import { ID_EXAMPLE, isUpdate } from '../../fields/field.js';
import { UUID_SCHEMA } from '../../fields/kinds/uuid.js';
import { DEFAULT_LIMIT } from '../../data/lists/list-query.js';
import { CURSOR_META_SCHEMA, type CursorMeta, type PageMeta } from '../../data/lists/page.js';
import { anyError, errorResponsesOf } from './errors.js';
import {
  acceptsIdempotencyKey,
  acceptsIfNoneMatch,
  type HeaderName,
  headersWith,
  requestHeadersOf,
} from './headers.js';
import { type Operation, refersTo, type Schema, schemaRef } from './model.js';
import type { RestHandler, Route } from './routes.js';

/** The components to which operations refer: the schemas, and the error responses so far. */
export interface Components {
  readonly schemas: Record<string, Schema>;
  readonly responses: Record<string, ResponseObject>;
}

type Responses = Readonly<Record<string, ResponseObject>>;

const JSON_TYPE = 'application/json';

/** `meta` of the lists of `@ApiRoute()`. */
const META = {
  page: {
    schema: schemaRef('PageMeta'),
    example: { page: 1, limit: DEFAULT_LIMIT, total: 1, total_pages: 1 } satisfies PageMeta,
  },
  cursor: {
    schema: schemaRef('CursorMeta'),
    example: {
      next: CURSOR_META_SCHEMA.properties.next.examples[0] ?? '',
      has_more: false,
    } satisfies CursorMeta,
  },
};

/** `meta` of a list that is paged in both ways. */
const META_OF_BOTH = { ...META.page, schema: { anyOf: [META.page.schema, META.cursor.schema] } };

const NOT_MODIFIED: ResponseObject = { description: 'Not Modified', headers: headersWith('ETag') };

/** Statuses of responses without a body. */
const WITHOUT_BODY = /^(204|205|3..)$/;

const RECORD_ID = {
  description: 'Identifier of the record.',
  schema: UUID_SCHEMA,
  example: ID_EXAMPLE,
};

/** Adds to an operation of @nestjs/swagger what its decorators cannot say. */
export function completeOperation(
  declared: RestHandler & Pick<Route, 'method' | 'path'>,
  described: OperationObject & { readonly 'x-required-scope'?: string },
  components: Components,
): Operation {
  const { operationId = '', summary, description, security, parameters, ...more } = described;
  const { requestBody, responses, 'x-required-scope': scope, tags = [], ...others } = more;
  const content = contentOf(declared, responses as Responses);
  const { data } = propertiesOf(content?.[JSON_TYPE]?.schema, components);
  const isRecord = declared.method !== 'delete' && 'id' in propertiesOf(data, components);
  const route: Route = { ...declared, hasBody: requestBody !== undefined, isRecord };
  const all = parametersOf(route, (parameters ?? []) as ParameterObject[]);
  return {
    ...others,
    tags,
    operationId,
    summary: [summary, operationId].find(Boolean) ?? '',
    description: descriptionOf(route, description),
    security,
    ...(scope !== undefined && { 'x-required-scope': scope }),
    ...(all.length > 0 && { parameters: all }),
    ...(requestBody && { requestBody: bodyOf(requestBody as RequestBodyObject, declared) }),
    responses: responsesOf(route, responses as Responses, components),
  };
}

const FORM_TYPE = 'multipart/form-data';

const FORM_SCHEMA = {
  type: 'object',
  properties: { file: { type: 'string', format: 'binary' } },
  required: ['file'],
};

/** Describes the form that can hold a file: @nestjs/swagger gives all content types of a body one schema. */
function bodyOf(body: RequestBodyObject, { file }: RestHandler): RequestBodyObject {
  if (!file) return body;
  return { ...body, content: { ...body.content, [FORM_TYPE]: { schema: FORM_SCHEMA } } };
}

function descriptionOf(route: Route, described: string | undefined): string {
  const { method, input } = route;
  const body = input?.body?.type;
  const sentences = [
    described,
    body && isUpdate(body) && 'Changes only the given fields; `null` clears a nullable field.',
    `${accessText(route)}; counts as a ${method === 'get' ? 'read' : 'write'}.`,
  ];
  return sentences.filter((sentence) => typeof sentence === 'string').join(' ');
}

function accessText({ access, furtherScopes }: Route): string {
  if (access === 'any-key') return 'Accepts any valid key';
  if (access === 'operator') return 'Requires an operator key';
  const scopes = [access, ...furtherScopes].map((each) => `\`${each}\``).join(' and ');
  return `Requires the ${furtherScopes.length > 0 ? 'scopes' : 'scope'} ${scopes}`;
}

/** Adds the parameters of the path and the headers that every route of the kind has. */
function parametersOf(route: Route, described: readonly ParameterObject[]): ParameterObject[] {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']): ParameterObject => {
    const bare: ParameterObject = { name, in: 'path', required: true, schema: { type: 'string' } };
    const one = described.find((each) => each.in === 'path' && each.name === name) ?? bare;
    return /(^|_)id$/.test(name) && isDeepStrictEqual(one, bare) ? { ...bare, ...RECORD_ID } : one;
  });
  const headers = requestHeadersOf(route);
  const isHeader = (one: ParameterObject) =>
    one.in === 'header' &&
    headers.some(({ name }) => name.toLowerCase() === one.name.toLowerCase());
  const others = described.filter((one) => one.in !== 'path' && !isHeader(one));
  return [...inPath, ...others.map(withExample), ...headers];
}

/**
 * Gives a parameter the example of its field, which `queryOf()` passes in `examples`: @nestjs/swagger drops `example` if
 * there is a schema. Leaves out `type`, which the schema has as well.
 */
function withExample(described: ParameterObject & { readonly type?: unknown }): ParameterObject {
  const { name, in: place, required, examples, type: _, ...others } = described;
  const example = Array.isArray(examples) ? { example: examples[0] as unknown } : { examples };
  return { name, in: place, required, ...others, ...example };
}

/** The content of a response that is no error: JSON is in the envelope. Without a declaration, `data` has any type. */
function contentOf(
  { status, hasEnvelope, documentation }: RestHandler,
  described: Responses,
  code = String(status),
): ContentObject | undefined {
  const content = described[code]?.content;
  if (WITHOUT_BODY.test(code)) return undefined;
  if (!hasEnvelope || documentation?.meta) return content;
  if (code !== String(status)) return enveloped(content);
  const paging = META[documentation?.paging ?? 'page'];
  const ofList = documentation?.record ? META_OF_BOTH : paging;
  const meta = Array.isArray(documentation?.response) ? ofList : undefined;
  return enveloped(content ?? { [JSON_TYPE]: { schema: {} } }, meta);
}

/** Wraps described JSON in the envelope in which it is sent. */
function enveloped(
  content: ContentObject | undefined,
  meta?: { readonly schema: Schema; readonly example: object },
): ContentObject | undefined {
  const json = content?.[JSON_TYPE];
  if (!json) return content;
  const properties = { data: json.schema ?? {}, ...(meta && { meta: meta.schema }) };
  const schema = { type: 'object', properties, required: Object.keys(properties) };
  const wrap = (data: unknown) => ({ data, ...(meta && { meta: meta.example }) });
  const examples = Object.entries((json.examples ?? {}) as Record<string, ExampleObject>).map(
    ([name, one]) => [name, { ...one, value: wrap(one.value) }] as const,
  );
  const wrapped = {
    schema,
    ...(json.example !== undefined && { example: wrap(json.example) }),
    ...(json.examples && { examples: Object.fromEntries(examples) }),
  };
  return { ...content, [JSON_TYPE]: wrapped };
}

/** Completes the described responses, and adds the errors that the route can return. */
function responsesOf(
  route: Route,
  described: Responses,
  { responses }: Components,
): Operation['responses'] {
  const main = String(route.status);
  const successes = [route.status, ...(route.documentation?.statuses ?? [])].map(String);
  const isError = (code: string) => /^[45d]/.test(code);
  const successOf = (code: string) => {
    const headers = headersWith(...(successes.includes(code) ? headersOf(route, code) : []));
    return { headers, content: contentOf(route, described, code) };
  };
  const declared = Object.entries<Partial<ResponseObject>>({ [main]: {}, ...described })
    // @nestjs/swagger does not know that `@Redirect()` excludes 200.
    .filter(([code]) => isError(code) || route.status < 300 || code === main)
    .map(([code, { content, ...one }]): [string, ResponseObject] => {
      const added = isError(code) ? anyError(code, content) : successOf(code);
      const description =
        [one.description, STATUS_CODES[code], 'Any other response'].find(Boolean) ?? '';
      const response = { ...one, description, headers: { ...added.headers, ...one.headers } };
      return [code, { ...response, ...(added.content && { content: added.content }) }];
    });
  return {
    ...(acceptsIfNoneMatch(route) && { 304: NOT_MODIFIED }),
    ...errorResponsesOf(route, responses),
    ...Object.fromEntries(declared),
  };
}

/** The headers of the response to a successful request, in addition to those of every response. */
function headersOf(route: Route, status: string): HeaderName[] {
  const { isRecord } = route;
  return [
    ...(isRecord && status === '201' ? ['Location' as const] : []),
    ...(isRecord ? ['ETag' as const] : []),
    ...(acceptsIdempotencyKey(route) ? ['Idempotency-Replayed' as const] : []),
  ];
}

/** Returns the properties of a schema or of the component to which it refers. */
function propertiesOf(
  schema: Schema = {},
  { schemas }: Pick<Components, 'schemas'>,
): Readonly<Record<string, Schema>> {
  if (!('$ref' in schema)) return schema.properties ?? {};
  return propertiesOf(schemas[refersTo(schema.$ref) ?? ''], { schemas });
}
