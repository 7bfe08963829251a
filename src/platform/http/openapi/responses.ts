import { STATUS_CODES } from 'node:http';
import type { Type } from '@nestjs/common';
import type {
  ContentObject,
  ExampleObject,
  MediaTypeObject,
  ResponseObject,
} from '@nestjs/swagger';
import { DEFAULT_LIMIT } from '../../data/lists/list-query.js';
import type { Includes } from '../../data/lists/includes.js';
import { CURSOR_META_SCHEMA, type CursorMeta, type PageMeta } from '../../data/lists/page.js';
import { jsonSchemaOf } from '../../fields/schema/schema-of.js';
import { anyError, errorResponsesOf, isErrorStatus } from './errors.js';
import {
  acceptsIdempotencyKey,
  acceptsIfNoneMatch,
  type HeaderName,
  HEADERS,
  headersWith,
} from './headers.js';
import { JSON_TYPE, type Operation, type Schema, schemaRef } from './model.js';
import type { ApiRouteOptions } from '../routes/route-declarations.js';
import { responseDtoOf, type RestHandler, type Route } from './routes.js';
import type { Schemas } from './schemas.js';

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

/** The components to which operations refer: the schemas, and the error responses so far. */
export interface Components {
  readonly schemas: Schemas;
  readonly responses: Record<string, ResponseObject>;
}

type Responses = Readonly<Record<string, ResponseObject>>;

/**
 * Returns the content of a successful response: what `@ApiRoute()` declares, or else what decorators of `@nestjs/swagger`
 * describe.
 */
export function contentOf(
  handler: RestHandler,
  described: Responses,
  schemas: Schemas,
): ContentObject | undefined {
  const { status, hasEnvelope } = handler;
  if (WITHOUT_BODY.test(String(status))) return undefined;
  const declared = declaredContentOf(handler, schemas);
  if (declared) return declared;
  const { content } = described[status] ?? {};
  return hasEnvelope ? enveloped(content ?? { [JSON_TYPE]: {} }) : content;
}

function declaredContentOf(
  { documentation = { summary: '' }, hasEnvelope }: RestHandler,
  schemas: Schemas,
): ContentObject | undefined {
  if (documentation.files) {
    const names = documentation.files.map((type) => type.replace(/;.*/, ''));
    return Object.fromEntries(names.map((name) => [name, { schema: { type: 'string' } }]));
  }
  const dto = responseDtoOf(documentation);
  if (!dto || !hasEnvelope) return undefined;
  const data = dataOf(dto, documentation, schemas);
  return { [JSON_TYPE]: inEnvelope(data, metaOf(documentation, schemas)) };
}

function dataOf(
  dto: Type<object>,
  { response, record, includes, deleted, dryRun }: ApiRouteOptions,
  schemas: Schemas,
): MediaTypeObject {
  const whole = schemas.referenceTo(dto, 'output');
  const schema = dryRun ? { anyOf: [whole, schemas.referenceTo(dryRun, 'output')] } : whole;
  const example = schemas.exampleOf(dto, 'output');
  if (!Array.isArray(response)) {
    return {
      schema: includes ? { anyOf: [schema, withIncluded(dto, includes)] } : schema,
      example,
    };
  }
  const others = [
    ...(record ? [someFieldsOf(record, includes)] : []),
    ...(deleted ? [schemas.referenceTo(deleted, 'output')] : []),
  ];
  const items = others.length > 0 ? { anyOf: [schema, ...others] } : schema;
  return { schema: { type: 'array', items }, example: example && [example] };
}

/** A record with the parameter `include`. The schema of the record describes its own fields. */
function withIncluded(record: Type<object>, includes: Includes | undefined): Schema {
  const { properties = {}, required = [] } = jsonSchemaOf(record, 'output');
  const own = Object.entries(properties).map(
    ([name, { description: _, examples: __, ...schema }]) => [name, schema] as const,
  );
  const included = includes?.fieldsOf().map(([name, { schema }]) => [name, schema] as const) ?? [];
  return {
    type: 'object',
    description: 'With the fields that the parameter `include` names.',
    properties: Object.fromEntries([...own, ...included]) as Record<string, Schema>,
    required: [...required],
  };
}

/** The items of a list with the parameters `fields` and `include`. */
function someFieldsOf(record: Type<object>, includes: Includes | undefined): Schema {
  const description = includes
    ? 'The fields that the parameters `fields` and `include` name.'
    : 'The fields that the parameter `fields` names.';
  return { ...withIncluded(record, includes), description, required: ['id'] };
}

function metaOf(
  { response, record, meta, paging }: ApiRouteOptions,
  schemas: Schemas,
): MediaTypeObject | undefined {
  if (meta) {
    const schema = schemas.referenceTo(meta, 'output');
    return { schema, example: schemas.exampleOf(meta, 'output') };
  }
  if (!Array.isArray(response)) return undefined;
  return record ? META_OF_BOTH : META[paging ?? 'page'];
}

/** Wraps JSON in the envelope in which it is sent. */
function enveloped({ [JSON_TYPE]: json, ...others }: ContentObject = {}): ContentObject {
  return json ? { ...others, [JSON_TYPE]: inEnvelope(json) } : others;
}

function inEnvelope(data: MediaTypeObject, meta?: MediaTypeObject): MediaTypeObject {
  const properties = { data: data.schema ?? {}, ...(meta && { meta: meta.schema ?? {} }) };
  const schema = { type: 'object', properties, required: Object.keys(properties) };
  const of = (value: unknown) => ({ data: value, ...(meta && { meta: meta.example as unknown }) });
  const hasExample = data.example !== undefined && (!meta || meta.example !== undefined);
  const named = Object.entries((data.examples ?? {}) as Record<string, ExampleObject>);
  const examples = named.map(([name, one]) => [name, { ...one, value: of(one.value) }] as const);
  return {
    schema,
    ...(hasExample && { example: of(data.example) }),
    ...(data.examples && { examples: Object.fromEntries(examples) }),
  };
}

/**
 * Returns the responses of a route, with the errors that it can return.
 * @param content that of the successful responses that the route declares
 * @param described the responses of `@nestjs/swagger`
 */
export function responsesOf(
  route: Route,
  content: ContentObject | undefined,
  described: Responses,
  components: Components,
): Operation['responses'] {
  const successes = [route.status, ...(route.documentation?.statuses ?? [])].map(String);
  const partsOf = (code: string, other: ContentObject | undefined) => {
    if (successes.includes(code)) {
      const headers = headersWith(...headersOf(route, code));
      // A response with included fields, and that to a dry run, have no entity tag.
      const { includes, dryRun } = route.documentation ?? {};
      const optional = route.isRecord &&
        (includes ?? dryRun) && { ETag: { ...HEADERS.ETag, required: false } };
      return { headers: { ...headers, ...optional }, content };
    }
    if (isErrorStatus(code)) return anyError(code, other);
    return { headers: headersWith(), content: route.hasEnvelope ? enveloped(other) : other };
  };
  const responseOf = (code: string): ResponseObject => {
    const { content: other, ...one } = described[code] ?? { description: '' };
    const parts = partsOf(code, other);
    return {
      ...one,
      description: [one.description, STATUS_CODES[code], 'Any other response'].find(Boolean) ?? '',
      headers: { ...parts.headers, ...one.headers },
      ...(parts.content && { content: parts.content }),
    };
  };
  return {
    ...(acceptsIfNoneMatch(route) && { 304: NOT_MODIFIED }),
    ...errorResponsesOf(route, components.responses),
    ...Object.fromEntries(
      [...successes, ...Object.keys(described)].map((code) => [code, responseOf(code)]),
    ),
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
