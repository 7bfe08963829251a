import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Response } from 'express';
import { from, lastValueFrom, map, type Observable } from 'rxjs';
import { IdempotencyRepository, type StoredResponse } from '../../data/idempotency.repository.js';
import { TenantDatabase } from '../../data/gateway/tenant-database.js';
import { type IdempotentRequest, ResponseExists } from '../../data/stored-responses.js';
import { type ApiError, validationError } from '../../errors/api-error.js';
import { type ApiRequest, isRead } from '../request/api-request.js';
import { isJsonContentType } from '../request/content-type.js';
import { mayHaveBody } from '../request/request-reader.js';
import type { Call } from '../../data/call.js';
import {
  createdPathOf,
  isSentWithoutEnvelope,
  restoreResult,
  SerializedResponse,
  serializeResponse,
} from './envelope.js';
import { preconditionOf } from './etag.js';
import { assertIdempotencyKey, canonicalJson } from './idempotency-key.js';

/** A request with an `Idempotency-Key`. */
interface IdempotentCall {
  readonly idempotent: IdempotentRequest;
  readonly call: Call;
  readonly request: ApiRequest;
  readonly response: Response;
  readonly next: CallHandler;
}

/**
 * Implements `Idempotency-Key` on POST, and `If-Match` on PUT, DELETE and a conditional POST. It surrounds the interceptors of a team: the
 * stored response is what they made of the result, and a replay does not run them.
 */
@Injectable()
export class WriteInterceptor implements NestInterceptor {
  constructor(
    private readonly database: TenantDatabase,
    private readonly responses: IdempotencyRepository,
  ) {}

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
    if (isPost) {
      const idempotent = idempotentRequestOf(request);
      if (!idempotent) return next.handle();
      if (!plan.hasEnvelope) throw notStorable();
      if (hasUnreadBody(request)) throw unusable('its body is not JSON');
      const response = http.getResponse<Response>();
      const idempotentCall = { idempotent, call, request, response, next };
      const isSingle = plan.isSingleInsert && plan.interceptors.length === 0;
      const run = isSingle ? this.insertOnce(idempotentCall) : this.runOnce(idempotentCall);
      return from(run).pipe(
        map((stored) =>
          plan.isSurrounded
            ? restoreResult(request, response, stored)
            : new SerializedResponse(stored),
        ),
      );
    }
    return next.handle();
  }

  /** Runs the handler so that the statement that inserts the record also stores the response. */
  private async insertOnce(idempotentCall: IdempotentCall): Promise<StoredResponse> {
    const { idempotent, call, request, response, next } = idempotentCall;
    const locationOf = (id: string) => createdPathOf(request, id);
    request.state.call = { ...call, idempotency: { ...idempotent, locationOf } };
    try {
      return serializeResponse(request, response, await lastValueFrom(next.handle()));
    } catch (error) {
      if (error instanceof ResponseExists) return this.runOnce(idempotentCall);
      throw error;
    }
  }

  /** Stores the record and the response in one transaction, so that a retry finds both or neither. */
  private runOnce(idempotentCall: IdempotentCall): Promise<StoredResponse> {
    const { idempotent, call, request, response, next } = idempotentCall;
    return this.database.transaction(call, async (inner) => {
      const stored = await this.responses.claim(inner, idempotent);
      if (stored) {
        response.setHeader('Idempotency-Replayed', 'true');
        return stored;
      }
      request.state.call = inner;
      const result: unknown = await lastValueFrom(next.handle());
      if (isSentWithoutEnvelope(response, result)) throw notStorable();
      const serialized = serializeResponse(request, response, result);
      const { secrets = [] } = request.state.plan ?? {};
      await this.responses.store(inner, idempotent, withoutSecrets(serialized, secrets));
      return serialized;
    });
  }
}

/** A response as it is stored: without the fields that are shown once. */
function withoutSecrets(response: StoredResponse, secrets: readonly string[]): StoredResponse {
  if (secrets.length === 0) return response;
  const { data, ...others } = JSON.parse(response.text) as { data: Record<string, unknown> };
  const shown = Object.entries(data).filter(([name]) => !secrets.includes(name));
  return { ...response, text: JSON.stringify({ data: Object.fromEntries(shown), ...others }) };
}

/** The error of a key on a route whose response cannot be stored. Nothing has been written. */
function notStorable(): ApiError {
  return unusable('its response is not JSON');
}

function unusable(reason: string): ApiError {
  const message = `cannot be used with this route, because ${reason}`;
  return validationError([{ field: 'Idempotency-Key', message }]);
}

/**
 * Whether the handler or another interceptor reads the body, for example a file. Such a body cannot be compared with
 * that of an earlier request.
 */
function hasUnreadBody(request: ApiRequest): boolean {
  const type = request.headers['content-type'];
  return type !== undefined && !isJsonContentType(type) && mayHaveBody(request);
}

/** @throws ApiError `validation_error` for a malformed key */
function idempotentRequestOf({
  method,
  path,
  headers,
  query,
  body,
  state,
}: ApiRequest): IdempotentRequest | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  assertIdempotencyKey(key, 'Idempotency-Key');
  // An instance of a class can hide what was sent: a Set is serialized as {}.
  const content = canonicalJson(state.rawInput ?? [query, body]);
  return { key, route: `${method} ${path}`, content };
}
