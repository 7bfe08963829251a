import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Response } from 'express';
import { from, lastValueFrom, map, type Observable } from 'rxjs';
import { NothingInserted } from '../../data/records/idempotent-insert.js';
import { type ApiRequest, isRead } from '../request/api-request.js';
import { isJsonContentType } from '../request/content-type.js';
import { mayHaveBody } from '../request/request-reader.js';
import type { Call } from '../../data/call.js';
import { createdPathOf, SerializedResponse, serializeResponse } from './envelope.js';
import { preconditionOf } from './etag.js';
import {
  idempotentRequestOf,
  IdempotentResponses,
  NOT_STORABLE,
  unusable,
} from './idempotent-responses.js';
import { idempotentInsertOf } from './stored-responses.js';

/**
 * Implements `Idempotency-Key` on POST, and `If-Match` on PUT, DELETE and a conditional POST. It surrounds the interceptors of a team: the
 * stored response is what they made of the result, and a replay does not run them.
 */
@Injectable()
export class WriteInterceptor implements NestInterceptor {
  constructor(private readonly responses: IdempotentResponses) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    const { state } = request;
    const { plan } = state;
    if (!plan?.mayWrite || !state.call || isRead(request)) return next.handle();
    const isPost = request.method === 'POST';
    const precondition = isPost && !plan.isConditional ? undefined : preconditionOf(request);
    const given = { ...state.call, requestId: state.requestId };
    const call = precondition ? { ...given, precondition } : given;
    state.call = call;
    if (!isPost) return next.handle();
    const idempotent = idempotentRequestOf(request, [request.query, request.body]);
    // A handler that takes a file stores the response itself.
    if (!idempotent || plan.file) return next.handle();
    if (!plan.hasEnvelope) throw unusable(NOT_STORABLE);
    if (hasUnreadBody(request)) throw unusable('its body is not JSON');
    const response = http.getResponse<Response>();
    const handle = (used: Call) => {
      state.call = used;
      return lastValueFrom<unknown>(next.handle());
    };
    const runOnce = () => this.responses.runOnce(call, idempotent, { request, response }, handle);
    /** The statement that inserts the record also stores the response. */
    const insertOnce = async () => {
      const once = idempotentInsertOf(idempotent, (id) => createdPathOf(request, id));
      try {
        const result = await handle({ ...call, once });
        return serializeResponse(request, response, result);
      } catch (error) {
        if (error instanceof NothingInserted) return runOnce();
        throw error;
      }
    };
    const isSingle = plan.isSingleInsert && plan.interceptors.length === 0;
    return from(isSingle ? insertOnce() : runOnce()).pipe(
      map((stored) => new SerializedResponse(stored)),
    );
  }
}

/**
 * Whether the handler or another interceptor reads the body, for example a file. Such a body cannot be compared with
 * that of an earlier request.
 */
function hasUnreadBody(request: ApiRequest): boolean {
  const type = request.headers['content-type'];
  return type !== undefined && !isJsonContentType(type) && mayHaveBody(request);
}
