import { Injectable } from '@nestjs/common';
import { IdempotencyRepository } from '../../../platform/data/idempotency.repository.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import {
  assertIdempotencyKey,
  canonicalJson,
} from '../../../platform/http/response/idempotency-key.js';
import type { Call } from '../../../platform/data/call.js';

/** The entry of `_meta` with the idempotency key of a call, for hosts that cannot set a header. */
export const IDEMPOTENCY_KEY_META = 'latitude/idempotency_key';

/** A call of a tool that creates a record. */
interface Creation {
  readonly call: Call;
  readonly name: string;
  /** The value by which calls with the same key are compared. */
  readonly comparable: unknown;
  readonly idempotencyKey?: unknown;
}

/** Runs calls with an idempotency key once, as `Idempotency-Key` does for POST. */
@Injectable()
export class IdempotentCalls {
  constructor(
    private readonly database: TenantDatabase,
    private readonly responses: IdempotencyRepository,
  ) {}

  /**
   * Stores the record and the result in one transaction, so that a retry finds both or neither.
   * @returns the result of this call or of an earlier one with the same key
   * @throws ApiError `validation_error`, `idempotency_key_in_use`, `idempotency_key_reused`,
   *   `create_failed`, and any error of `run`
   */
  async run(
    { call, name, comparable, idempotencyKey: key }: Creation,
    run: (call: Call) => Promise<object>,
  ): Promise<object> {
    if (key === undefined) return run(call);
    assertIdempotencyKey(key, 'Idempotency-Key');
    const request = { key, route: `tool ${name}`, content: canonicalJson(comparable) };
    return this.database.transaction(call, async (inner) => {
      const stored = await this.responses.claim(inner, request);
      if (stored) return JSON.parse(stored.text) as object;
      const result = await run(inner);
      const response = { status: 201, location: null, etag: null, text: JSON.stringify(result) };
      await this.responses.store(inner, request, response);
      return result;
    });
  }
}
