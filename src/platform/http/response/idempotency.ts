import { Injectable } from '@nestjs/common';
import { insufficientScope, type Scope } from '../../access/scopes.js';
import { type Call, type InTransaction, ReplayNeeds } from '../../data/call.js';
import { TenantDatabase } from '../../data/gateway/tenant-database.js';
import { IdempotencyRepository, type StoredResponse } from './idempotency.repository.js';
import type { IdempotentRequest } from './idempotent-request.js';

/** How the result of a request is stored, and what a later request with the same key gets. */
interface ResponseFormat<T> {
  readonly toStored: (result: T) => StoredResponse;
  readonly fromStored: (stored: StoredResponse) => T;
}

/** Carries out requests with an idempotency key once: those of REST and calls of tools. */
@Injectable()
export class Idempotency {
  constructor(
    private readonly database: TenantDatabase,
    private readonly responses: IdempotencyRepository,
  ) {}

  /**
   * Runs work in a transaction, and stores its response in the same one, so that a retry finds both or neither.
   * @param request undefined if the request has no key; then nothing is stored
   * @returns the result of the work, or that of an earlier request
   * @throws ApiError `idempotency_key_in_use`, `idempotency_key_reused`, `create_failed`, and any error of `work`;
   *   `insufficient_scope` if the caller may not have the response of the earlier request
   */
  runOnce<T>(
    call: Call,
    request: IdempotentRequest | undefined,
    { toStored, fromStored }: ResponseFormat<T>,
    work: (call: InTransaction<Call>) => Promise<T>,
  ): Promise<T> {
    return this.database.transaction(call, async (inner) => {
      if (!request) return work(inner);
      const stored = await this.claim(inner, request);
      if (stored) return fromStored(stored);
      const replay = new ReplayNeeds();
      const result = await work({ ...inner, replay });
      const response = { ...toStored(result), scopes: replay.toStored() };
      await this.responses.store(inner, request, response);
      return result;
    });
  }

  /**
   * Locks a request until the transaction ends.
   * @returns the response to an earlier request with the same key
   * @throws ApiError as `runOnce`
   */
  async claim(
    call: InTransaction<Call>,
    request: IdempotentRequest,
  ): Promise<StoredResponse | undefined> {
    const stored = await this.responses.claim(call, request);
    return stored && replayFor(call, stored);
  }

  /**
   * Whether a request has the key of one that was carried out.
   * @throws ApiError `create_failed`
   */
  async isStored(call: Call, request: IdempotentRequest | undefined): Promise<boolean> {
    return request !== undefined && this.responses.isStored(call, request);
  }
}

/**
 * A stored response for the caller of a repeated request. Fields that it may not read are left out
 * (docs/contract/idempotency-and-versions.md#scopes-of-a-replay).
 * @throws ApiError `insufficient_scope` that names the first scope that the caller lacks
 */
function replayFor({ actor }: Call, { scopes, ...response }: StoredResponse): StoredResponse {
  if (!scopes) return response;
  const missing = scopes.needed.find((scope) => !actor.scopes.has(scope));
  if (missing !== undefined) throw insufficientScope(missing as Scope);
  const isHidden = (name: string) => !actor.scopes.has(scopes.fields[name] ?? '');
  const hidden = Object.keys(scopes.fields).filter(isHidden);
  if (hidden.length === 0) return response;
  const visible: unknown = JSON.parse(response.text, (name, value: unknown) =>
    hidden.includes(name) ? undefined : value,
  );
  return { ...response, text: JSON.stringify(visible) };
}
