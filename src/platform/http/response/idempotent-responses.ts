import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { replayFor } from './replay.js';
import { type Call, type InTransaction, ReplayNeeds } from '../../data/call.js';
import { TenantDatabase } from '../../data/gateway/tenant-database.js';
import { IdempotencyRepository, type StoredResponse } from './idempotency.repository.js';
import type { IdempotentRequest } from './stored-responses.js';
import { type ApiError, validationError } from '../../errors/api-error.js';
import type { ApiRequest } from '../request/api-request.js';
import { isSentWithoutEnvelope, SerializedResponse, serializeResponse } from './envelope.js';
import { assertIdempotencyKey, canonicalJson } from './idempotency-key.js';

/** Carries out requests with an `Idempotency-Key` once. */
@Injectable()
export class IdempotentResponses {
  constructor(
    private readonly database: TenantDatabase,
    private readonly responses: IdempotencyRepository,
  ) {}

  /**
   * Runs the work of a request and stores its response, in one transaction, so that a retry finds both or neither.
   * @param work returns what the handler would return
   * @returns the response of the work, or that of an earlier request
   * @throws ApiError `idempotency_key_in_use`, `idempotency_key_reused`, `create_failed`, and any error of `work`; `insufficient_scope` if the
   *   caller may not have the response of the earlier request
   */
  runOnce(
    call: Call,
    idempotent: IdempotentRequest,
    { request, response }: { readonly request: ApiRequest; readonly response: Response },
    work: (call: InTransaction<Call>) => Promise<unknown>,
  ): Promise<StoredResponse> {
    return this.database.transaction(call, async (inner) => {
      const stored = await this.responses.claim(inner, idempotent);
      if (stored) {
        const replayed = replayFor(call, stored);
        response.setHeader('Idempotency-Replayed', 'true');
        return replayed;
      }
      const replay = new ReplayNeeds();
      const result = await work({ ...inner, replay });
      if (isSentWithoutEnvelope(response, result)) throw unusable(NOT_STORABLE);
      const serialized = serializeResponse(request, response, result);
      const { secrets = [] } = request.state.plan ?? {};
      const scopes = replay.toStored();
      await this.responses.store(inner, idempotent, {
        ...withoutSecrets(serialized, secrets),
        scopes,
      });
      return serialized;
    });
  }

  /**
   * Whether a request has the `Idempotency-Key` of one that was carried out.
   * @throws ApiError `create_failed`
   */
  async isStored(call: Call, request: ApiRequest): Promise<boolean> {
    const idempotent = idempotentRequestOf(request, undefined);
    return idempotent !== undefined && this.responses.isStored(call, idempotent);
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
}

/** A response as it is stored: without the fields that are shown once. */
function withoutSecrets(response: StoredResponse, secrets: readonly string[]): StoredResponse {
  if (secrets.length === 0) return response;
  const { data, ...others } = JSON.parse(response.text) as { data: Record<string, unknown> };
  const shown = Object.entries(data).filter(([name]) => !secrets.includes(name));
  return { ...response, text: JSON.stringify({ data: Object.fromEntries(shown), ...others }) };
}

/** Why a response cannot be stored. */
export const NOT_STORABLE = 'its response is not JSON';

/** The error of a key on a route that cannot be repeated safely. Nothing has been written. */
export function unusable(reason: string): ApiError {
  const message = `cannot be used with this route, because ${reason}`;
  return validationError([{ field: 'Idempotency-Key', message }]);
}

/**
 * @param content what a repeated request must have as well
 * @returns undefined if the request has no `Idempotency-Key`
 * @throws ApiError `validation_error` for a malformed key
 */
export function idempotentRequestOf(
  { method, path, headers }: ApiRequest,
  content: unknown,
): IdempotentRequest | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  assertIdempotencyKey(key, 'Idempotency-Key');
  return { key, route: `${method} ${path}`, content: canonicalJson(content) };
}
