import {
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import type { Response } from 'express';
import { map } from 'rxjs';
import { CURSOR_META_SCHEMA, CursorPage, Page, PAGE_META_SCHEMA } from '../data/lists/page.js';
import { Stored } from '../data/records/stored-record.js';
import { enhancersOf } from '../discovery/nest-internals.js';
import { isObject } from '../fields/kinds/json-object.js';
import { type ApiRequest, requestOf, responseOf } from '../http/request/api-request.js';
import { headOf, serializeRecord } from '../http/response/envelope.js';
import type { SerializedResult } from '../http/routes/route-plan.js';
import { WithMeta } from '../http/routes/with-meta.js';

/** What a handler returned, and what the interceptors of a team received of it. They can return something else. */
interface HandlerResult {
  /**
   * What the interceptors received: a record as a plain object, or a page as clients receive it. If they return it
   * unchanged, the response is the one that the handler returned.
   */
  readonly seen: unknown;
  /** The headers of the response, which stay those of the record that the handler returned. */
  readonly head: Omit<SerializedResult, 'text'>;
  /** Whether the interceptors received `data` and `meta`. */
  readonly hasMeta: boolean;
}

const RESULTS = new WeakMap<ApiRequest, HandlerResult>();

/**
 * The innermost interceptor of a handler of the REST API on which interceptors of a team run. They receive a record as a
 * plain object, and a page as clients receive it.
 */
export const handPlainResults: NestInterceptor = {
  intercept(context: ExecutionContext, next: CallHandler) {
    const request = requestOf(context);
    const { plan } = request.state;
    // Another application of the process, with other interceptors, can have bound this one.
    if (!plan?.team?.serialize || !plan.hasEnvelope) return next.handle();
    return next.handle().pipe(
      map((value: unknown) => {
        const response = responseOf(context);
        const hasMeta = value instanceof WithMeta;
        if (hasMeta) response.status(value.status);
        const seen = plainOf(value);
        RESULTS.set(request, { seen, head: headOf(request, response, value), hasMeta });
        return seen;
      }),
    );
  },
};

/** Adds `handPlainResults` to a handler. Must be called before Nest registers the routes. */
export function bindPlainResults(handler: (...args: never[]) => unknown): void {
  if (enhancersOf('interceptors', handler).includes(handPlainResults)) return;
  UseInterceptors(handPlainResults)({}, handler.name, { value: handler });
}

/** What interceptors receive for the result of a handler. */
function plainOf(value: unknown): unknown {
  if (value instanceof Stored) return value.value();
  if (value instanceof WithMeta) return { data: plainOf(value.data), meta: value.meta as object };
  return value instanceof Page || value instanceof CursorPage ? value.toJSON() : value;
}

/**
 * Serializes what interceptors returned. The version and the path of a record do not depend on what they make of it. An
 * interceptor that does not run the handler, such as one that caches, returns the whole result.
 */
export function serializeIntercepted(response: Response, returned: unknown): SerializedResult {
  const request = response.req as ApiRequest;
  const result = RESULTS.get(request);
  const data = result ? unwrap(returned, result.seen) : returned;
  const { location, etag } = result?.head ?? headOf(request, response, returned);
  const isWhole = isPage(data) || (result?.hasMeta && isObject(data) && 'meta' in data);
  return { location, etag, text: isWhole ? JSON.stringify(data) : serializeRecord(data) };
}

/**
 * Undoes the envelope of an interceptor that returns `{ data: value }`.
 * @param seen what the interceptors received for the result of the handler
 */
function unwrap(returned: unknown, seen: unknown): unknown {
  const isWrapped =
    isObject(returned) && Object.keys(returned).length === 1 && returned.data === seen;
  return isWrapped ? seen : returned;
}

/** Whether a value is a page, or one as clients receive it: interceptors copy pages, or store them in caches. */
function isPage(value: unknown): boolean {
  if (value instanceof Page || value instanceof CursorPage) return true;
  if (!isObject(value) || !Array.isArray(value.data)) return false;
  const { meta } = value;
  if (!isObject(meta)) return false;
  return [PAGE_META_SCHEMA, CURSOR_META_SCHEMA].some(({ required }) =>
    required.every((name) => name in meta),
  );
}
