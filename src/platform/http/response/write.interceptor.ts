import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import { from, lastValueFrom, map, type Observable } from 'rxjs';
import { NothingInserted } from '../../data/records/idempotent-insert.js';
import { enhancersOf } from '../../discovery/nest-internals.js';
import { type ApiRequest, requestOf, responseOf } from '../request/api-request.js';
import { isJsonContentType } from '../request/content-type.js';
import { mayHaveBody } from '../request/request-reader.js';
import type { Call } from '../../data/call.js';
import { createdPathOf, SerializedResponse, serializeResponse } from './envelope.js';
import {
  idempotentRequestOf,
  IdempotentResponses,
  NOT_STORABLE,
  unusable,
} from './idempotent-responses.js';
import { idempotentInsertOf } from './stored-responses.js';

/**
 * Implements `Idempotency-Key`. It surrounds the interceptors of a team: the stored response is what they made of the
 * result, and a replay does not run them.
 */
@Injectable()
export class WriteInterceptor implements NestInterceptor {
  constructor(private readonly responses: IdempotentResponses) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = requestOf(context);
    const { state } = request;
    const { plan, call } = state;
    if (!plan?.mayWrite || !call || request.method !== 'POST') return next.handle();
    const idempotent = idempotentRequestOf(request, [request.query, request.body]);
    // A handler that takes a file stores the response itself.
    if (!idempotent || plan.file) return next.handle();
    if (!plan.hasEnvelope) throw unusable(NOT_STORABLE);
    if (hasUnreadBody(request)) throw unusable('its body is not JSON');
    const response = responseOf(context);
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
    return from(plan.isSingleInsert ? insertOnce() : runOnce()).pipe(
      map((stored) => new SerializedResponse(stored)),
    );
  }
}

/** Runs the interceptor of the plan: the metadata of a handler are the same for all applications of the process. */
export const writesOfPlan: NestInterceptor = {
  intercept(context, next) {
    const { plan } = requestOf(context).state;
    return plan?.writes?.intercept(context, next) ?? next.handle();
  },
};

/** Binds the interceptor of its plan to a handler. Must be called before Nest registers the routes. */
export function bindWrites(handler: (...args: never[]) => unknown): void {
  if (enhancersOf('interceptors', handler).includes(writesOfPlan)) return;
  UseInterceptors(writesOfPlan)({}, handler.name, { value: handler });
}

/**
 * Whether the handler or another interceptor reads the body, for example a file. Such a body cannot be compared with
 * that of an earlier request.
 */
function hasUnreadBody(request: ApiRequest): boolean {
  const type = request.headers['content-type'];
  return type !== undefined && !isJsonContentType(type) && mayHaveBody(request);
}
