import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { Call, InTransaction } from '../../data/call.js';
import { TenantDatabase } from '../../data/gateway/tenant-database.js';
import { type ApiError, validationError } from '../../errors/api-error.js';
import type { ApiRequest } from '../request/api-request.js';
import { isSentWithoutEnvelope, SerializedResponse, serializeResponse } from './envelope.js';
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
      if (isSentWithoutEnvelope(response, result)) throw unusable(NOT_STORABLE);
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
  return idempotentRequest(headers['idempotency-key'], `${method} ${path}`, content);
}
