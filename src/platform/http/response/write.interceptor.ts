import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import type { Response } from 'express';
import { from, lastValueFrom, map, type Observable } from 'rxjs';
import { NothingInserted } from '../../data/records/idempotent-insert.js';
import { TransactionInTurn } from '../../data/records/transaction-in-turn.js';
import { enhancersOf } from '../../discovery/nest-internals.js';
import { type ApiRequest, requestOf, responseOf } from '../request/api-request.js';
import { isJsonContentType, mayHaveBody } from '../request/request-reader.js';
import type { Call, InTransaction } from '../../data/call.js';
import {
  createdPathOf,
  SerializedResponse,
  serializeResponse,
  isSentWithoutEnvelope,
} from './envelope.js';
import { idempotentInsertOf } from './stored-responses.js';
import { TenantDatabase } from '../../data/gateway/tenant-database.js';
import { isObject } from '../../fields/kinds/json-object.js';
import { ApiError, validationError } from '../../errors/api-error.js';
import { Idempotency } from './idempotency.js';
import type { StoredResponse } from './idempotency.repository.js';
import { idempotentRequest, type IdempotentRequest } from './idempotent-request.js';

/** Carries out REST requests with an `Idempotency-Key` once. */
@Injectable()
export class IdempotentResponses {
  constructor(
    private readonly database: TenantDatabase,
    private readonly idempotency: Idempotency,
  ) {}

  /**
   * Runs the work of a request once.
   * @param work returns what the handler would return
   * @returns the response of the work, or that of an earlier request
   * @throws ApiError as `Idempotency.runOnce`
   */
  runOnce(
    call: Call,
    idempotent: IdempotentRequest,
    { request, response }: { readonly request: ApiRequest; readonly response: Response },
    work: (call: InTransaction<Call>) => Promise<unknown>,
  ): Promise<StoredResponse> {
    const { secrets = [] } = request.state.plan ?? {};
    const format = {
      toStored: (serialized: StoredResponse) => withoutSecrets(serialized, secrets),
      fromStored: (stored: StoredResponse) => {
        response.setHeader('Idempotency-Replayed', 'true');
        return stored;
      },
    };
    return this.idempotency.runOnce(call, idempotent, format, async (inner) => {
      const result = await work(inner);
      if (isSentWithoutEnvelope(response, result)) throw keyNotUsable(NOT_STORABLE);
      return serializeResponse(request, response, result);
    });
  }

  /**
   * Whether a request has the `Idempotency-Key` of one that was carried out.
   * @throws ApiError `create_failed`
   */
  isStored(call: Call, request: ApiRequest): Promise<boolean> {
    return this.idempotency.isStored(call, idempotentRequestOf(request, undefined));
  }

  /**
   * Like `runOnce`, for a handler that has read a file. Without a key, the work runs in a transaction as well.
   * @param file identifies the bytes
   * @returns what the handler returns
   */
  async runWithFile(
    call: Call,
    request: ApiRequest,
    file: string,
    work: (call: InTransaction<Call>) => Promise<object>,
  ): Promise<object> {
    const idempotent = idempotentRequestOf(request, [request.query, file]);
    if (!idempotent) return this.database.transaction(call, work);
    const http = { request, response: request.res as Response };
    return new SerializedResponse(await this.runOnce(call, idempotent, http, work));
  }

  /**
   * Like `runOnce`, for work with a part that must not run in a transaction. Without a key, nothing is stored.
   * @returns what the handler returns
   */
  async runPrepared<P extends object, R extends object>(
    call: Call,
    request: ApiRequest,
    { prepare, complete }: PreparedWork<P, R>,
  ): Promise<R | SerializedResponse> {
    const idempotent = idempotentRequestOf(request, [request.query, request.body]);
    if (!idempotent) return complete(call, await prepare());
    const isStored = () => this.idempotency.isStored(call, idempotent);
    const prepareOnce = () =>
      // A request with the same key can have done the work meanwhile.
      prepare().catch(async (error: unknown) => {
        if (await isStored()) return undefined;
        throw error;
      });
    const prepared = (await isStored()) ? undefined : await prepareOnce();
    const http = { request, response: request.res as Response };
    const stored = await this.runOnce(call, idempotent, http, async (inner) => {
      if (!prepared) throw new ApiError('idempotency_key_in_use');
      return complete(inner, prepared);
    });
    return new SerializedResponse(stored);
  }
}

/** Work that begins before the transaction in which it ends. */
interface PreparedWork<P, R> {
  /** Runs without a transaction. */
  readonly prepare: () => Promise<P>;
  readonly complete: (call: Call, prepared: P) => Promise<R>;
}

/** A response as it is stored: without the fields that are shown once. */
function withoutSecrets(response: StoredResponse, secrets: readonly string[]): StoredResponse {
  if (secrets.length === 0) return response;
  const { data, ...others } = JSON.parse(response.text) as { data: Record<string, unknown> };
  const kept = Object.entries(data).filter(([name]) => !secrets.includes(name));
  return { ...response, text: JSON.stringify({ data: Object.fromEntries(kept), ...others }) };
}

/** Why a response cannot be stored. */
const NOT_STORABLE = 'its response is not JSON';

/** The error of an `Idempotency-Key` on a request that cannot be repeated safely. Nothing has been written. */
function keyNotUsable(reason: string): ApiError {
  const message = `cannot be used with this route, because ${reason}`;
  return validationError([{ field: 'Idempotency-Key', message }]);
}

/**
 * @param content what must be equal in a repeated request, besides its method and path
 * @returns undefined if the request has no `Idempotency-Key`
 * @throws ApiError `validation_error` for a malformed key
 */
function idempotentRequestOf(
  { method, path, headers }: ApiRequest,
  content: unknown,
): IdempotentRequest | undefined {
  return idempotentRequest(headers['idempotency-key'], `${method} ${path}`, content);
}

/**
 * Implements `Idempotency-Key`. It runs outside the interceptors of a team: the stored response is what they made of the
 * result, and a replay does not run them.
 */
@Injectable()
export class WriteInterceptor implements NestInterceptor {
  constructor(private readonly responses: IdempotentResponses) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = requestOf(context);
    const { state } = request;
    const { plan, call } = state;
    const isRepeatable = plan?.mayWrite === true && request.method === 'POST';
    const hasKey = request.headers['idempotency-key'] !== undefined;
    if (!isRepeatable || !hasKey || !call) return next.handle();
    const idempotent = idempotentRequestOf(request, [request.query, request.body]);
    if (!idempotent || plan.file || plan.storesResponse || isDryRun(request)) return next.handle();
    if (!plan.hasEnvelope) throw keyNotUsable(NOT_STORABLE);
    if (hasUnreadBody(request)) throw keyNotUsable('its body is not JSON');
    const response = responseOf(context);
    const handle = (used: Call) => {
      state.call = used;
      return lastValueFrom<unknown>(next.handle());
    };
    const runOnce = (used: Call) =>
      this.responses.runOnce(used, idempotent, { request, response }, handle);
    const runInTurn = ({ inTurn }: TransactionInTurn) =>
      // A request with the same key can have been carried out meanwhile.
      inTurn(runOnce).catch(async (error: unknown) => {
        if (await this.responses.isStored(call, request)) return runOnce(call);
        throw error;
      });
    /** The statement that inserts the record also stores the response. */
    const insertOnce = async () => {
      const once = idempotentInsertOf(idempotent, (id) => createdPathOf(request, id));
      try {
        const result = await handle({ ...call, once });
        return serializeResponse(request, response, result);
      } catch (error) {
        // The single statement was not possible. The work waits for its turn, and runs in a transaction.
        if (error instanceof TransactionInTurn) return runInTurn(error);
        if (error instanceof NothingInserted) return runOnce(call);
        throw error;
      }
    };
    return from(plan.isSingleInsert ? insertOnce() : runOnce(call)).pipe(
      map((stored) => new SerializedResponse(stored)),
    );
  }
}

/**
 * Looks the interceptor up in the plan of the route: the metadata of a handler are shared by all applications of the
 * process, but each application has an interceptor of its own.
 */
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

/** Whether the request is a dry run: the route offers them, and the body has `dry_run: true`. */
function isDryRun({ state, body }: ApiRequest): boolean {
  return Boolean(state.plan?.documentation?.dryRun) && isObject(body) && body.dry_run === true;
}

/**
 * Whether the handler or another interceptor reads the body, for example a file. Such a body cannot be compared with
 * that of an earlier request.
 */
function hasUnreadBody(request: ApiRequest): boolean {
  const type = request.headers['content-type'];
  return type !== undefined && !isJsonContentType(type) && mayHaveBody(request);
}
