import {
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import type { Response } from 'express';
import { map } from 'rxjs';
import { Stored } from '../../data/records/stored-record.js';
import { enhancersOf } from '../../discovery/nest-internals.js';
import type { ApiRequest } from '../request/api-request.js';
import { CursorPage, Page } from '../../data/lists/page.js';
import { headOf } from './envelope.js';
import { WithMeta } from '../routes/with-meta.js';

/**
 * The innermost interceptor of a handler that writes, or on which interceptors of a team run. Without these, it runs the
 * interceptor of writes, unless that is global (`RoutePlans`). With them, on routes of the REST API, the interceptors
 * receive a record as a plain object, and a page as clients receive it, and the headers of the response stay those of the
 * record.
 */
export const aroundHandler: NestInterceptor = {
  intercept(context: ExecutionContext, next: CallHandler) {
    const http = context.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    const { plan } = request.state;
    // Another application of the process, with other interceptors, can have added this one.
    if (!plan || plan.interceptors.length === 0) {
      return plan?.writes?.intercept(context, next) ?? next.handle();
    }
    if (!plan.hasEnvelope) return next.handle();
    return next.handle().pipe(
      map((value: unknown) => {
        const response = http.getResponse<Response>();
        const hasMeta = value instanceof WithMeta;
        if (hasMeta) response.status(value.status);
        const seen = plainOf(value);
        const head = headOf(request, response, value);
        request.state.handlerResult = { seen, head, hasMeta };
        return seen;
      }),
    );
  },
};

/** What interceptors receive for the result of a handler. */
function plainOf(value: unknown): unknown {
  if (value instanceof Stored) return value.value();
  if (value instanceof WithMeta) return { data: plainOf(value.data), meta: value.meta as object };
  return value instanceof Page || value instanceof CursorPage ? value.toJSON() : value;
}

/** Adds `aroundHandler` to a handler. Must be called before Nest registers the routes. */
export function interceptAround(handler: (...args: never[]) => unknown): void {
  if (enhancersOf('interceptors', handler).includes(aroundHandler)) return;
  UseInterceptors(aroundHandler)({}, handler.name, { value: handler });
}
