import { STATUS_CODES } from 'node:http';
import { fieldsOf } from '../../fields/field.js';
import { exampleOfClass } from '../../fields/schema/validation-schema.js';
import { DEFAULT_LIMIT } from '../../data/lists/list-query.js';
import { CursorPage, Page } from '../../data/lists/page.js';
import { declaredStatusOf, writesOwnResponse } from '../../discovery/nest-internals.js';
import { type Components, schemaRef } from './components.js';
import type { Content, DeclaredResponses, Response, Schema } from './model.js';
import { acceptsIdempotencyKey } from './request-headers.js';
import { headersWith } from './response-headers.js';
import { responseDtoOf, type RestHandler, type Route } from './routes.js';
import type { ExploredOperation } from './exploration.js';

/** The response of a handler to a successful request. */
export interface Success {
  readonly status: string;
  readonly content?: Content;
  /** Whether the response is one record, which has an id. */
  readonly isRecord: boolean;
}

const JSON_TYPE = 'application/json';

/** Statuses whose responses have no body. */
const WITHOUT_BODY = /^(204|205|3\d\d)$/;

const NOT_MODIFIED: Response = { description: 'Not Modified', headers: headersWith('ETag') };

/** Describes the successful response of a handler. Without a declaration, `data` has any type. */
export function successOf(
  { method, handler }: ExploredOperation,
  declared: DeclaredResponses,
  components: Components,
): Success {
  const status = String(declaredStatusOf(handler.handler) ?? (method === 'post' ? 201 : 200));
  if (WITHOUT_BODY.test(status)) return { status, isRecord: false };
  if (writesOwnResponse(handler.controller, handler.handler)) {
    return { status, content: declared[status]?.content, isRecord: false };
  }
  const content = routeContent(handler, components) ??
    enveloped(declared[status]?.content) ?? { [JSON_TYPE]: { schema: envelope({ data: {} }) } };
  const { data } = components.propertiesOf(content[JSON_TYPE]?.schema);
  const isRecord = method !== 'delete' && 'id' in components.propertiesOf(data);
  return { status, content, isRecord };
}

/** The envelope of the response DTO of `@ApiRoute()`. */
function routeContent({ options }: RestHandler, components: Components): Content | undefined {
  const dto = responseDtoOf(options);
  if (!dto) return undefined;
  const data = components.schemaOf(dto, 'output');
  const example = fieldsOf(dto).length > 0 ? exampleOfClass(dto, 'output') : undefined;
  if (!Array.isArray(options?.response)) {
    const schema = envelope({ data });
    return { [JSON_TYPE]: { schema, ...(example && { example: { data: example } }) } };
  }
  const isCursor = options.paging === 'cursor';
  const meta = schemaRef(isCursor ? 'CursorMeta' : 'PageMeta');
  const schema = envelope({ data: { type: 'array', items: data }, meta });
  const page = example && (isCursor ? cursorPage(example) : firstPage(example));
  return { [JSON_TYPE]: { schema, ...(page && { example: page.toJSON() }) } };
}

function firstPage(example: unknown) {
  return new Page([example], { page: 1, limit: DEFAULT_LIMIT, total: 1 });
}

function cursorPage(example: unknown) {
  const { id: next } = example as { id: string };
  return new CursorPage([JSON.stringify(example)], { next, has_more: false });
}

/** Returns the successful responses of a route, with those of `@ApiResponse()`. */
export function successResponsesOf(
  route: Route,
  { status, content }: Success,
  declared: DeclaredResponses,
): Record<string, Response> {
  const { isRecord, method } = route;
  // @nestjs/swagger does not know that `@Redirect()` excludes 200.
  const further = Object.entries(declared).filter(
    ([code]) => /^[123]/.test(code) && !status.startsWith('3'),
  );
  return {
    ...Object.fromEntries(
      further.map(([code, one]) => [code, completed(code, one, enveloped(one.content))] as const),
    ),
    [status]: completed(
      status,
      declared[status],
      content,
      headersWith(
        ...(isRecord && status === '201' ? ['Location' as const] : []),
        ...(isRecord ? ['ETag' as const] : []),
        ...(acceptsIdempotencyKey(route) ? ['Idempotency-Replayed' as const] : []),
      ),
    ),
    ...(method === 'get' && isRecord && { 304: NOT_MODIFIED }),
  };
}

/** Completes a response of `@ApiResponse()`. */
export function completed(
  status: string,
  { description, headers: declared, content: _, ...others }: Partial<Response> = {},
  content?: Content,
  headers = headersWith(),
): Response {
  return {
    ...others,
    description: [description, STATUS_CODES[status]].find(Boolean) ?? 'Any other response',
    headers: { ...headers, ...declared },
    ...(content && { content }),
  };
}

/** Wraps declared JSON in the envelope in which it is sent. */
function enveloped(content: Content | undefined): Content | undefined {
  const json = content?.[JSON_TYPE];
  if (!json) return content;
  const { schema, example } = json;
  const data = {
    schema: envelope({ data: schema }),
    ...(example !== undefined && { example: { data: example } }),
  };
  return { ...content, [JSON_TYPE]: data };
}

function envelope(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', properties, required: Object.keys(properties) };
}
