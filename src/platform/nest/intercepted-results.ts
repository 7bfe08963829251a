import {
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import type { Response } from 'express';
import { map } from 'rxjs';
import { CursorPage, Page } from '../data/lists/page.js';
import { Stored } from '../data/records/stored-record.js';
import { enhancersOf } from '../discovery/nest-internals.js';
import { isObject } from '../fields/kinds/json-object.js';
import { type ApiRequest, requestOf, responseOf } from '../http/request/api-request.js';
import { headOf, serializeRecord } from '../http/response/envelope.js';
import type { SerializedResult } from '../http/routes/route-plan.js';
import { WithMeta } from '../http/routes/with-meta.js';

/** The headers of each response, which stay those of the record that the handler returned. */
const HEADS = new WeakMap<ApiRequest, Omit<SerializedResult, 'text'>>();

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
        if (value instanceof WithMeta) response.status(value.status);
        HEADS.set(request, headOf(request, response, value));
        return plainOf(value);
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
 * Serializes what interceptors returned: `{ data }`, or a value with `data` and `meta` such as a page, is not wrapped again.
 * An interceptor that does not run the handler, such as one that caches, returns the whole result.
 */
export function serializeIntercepted(response: Response, returned: unknown): SerializedResult {
  const request = response.req as ApiRequest;
  const isWrapped = isObject(returned) && 'data' in returned && Object.keys(returned).length === 1;
  const data = isWrapped ? returned.data : returned;
  const isWhole = isObject(data) && 'data' in data && 'meta' in data;
  return {
    ...(HEADS.get(request) ?? headOf(request, response, returned)),
    text: isWhole ? JSON.stringify(data) : serializeRecord(data),
  };
}
