import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ApiError } from '../errors/api-error.js';
import { ANY_UUID } from '../fields/uuid.js';
import type { Tenant, TenantTransaction } from './gateway/tenant.js';
import { TenantDatabase } from './gateway/tenant-database.js';

/** An answer of REST, as it was or will be given. */
export interface StoredResponse {
  readonly status: number;
  readonly location: string | null;
  /** Of a single record; null for anything else. */
  readonly etag: string | null;
  /** JSON. */
  readonly text: string;
}

/** A request that is to be carried out once, however often it comes. */
export interface IdempotentRequest {
  /** The caller's `Idempotency-Key`. */
  readonly key: string;
  /** Method and path, to which the key belongs. */
  readonly route: string;
  /** What else it says, in one form whatever form it came in. */
  readonly content: string;
}

/** How long an answer is given again, as PostgreSQL reads it. */
const KEPT_FOR = '24 hours';

/** Rows that a sweep removes in one statement: few enough that it is over soon. */
const SWEEP_BATCH = 1_000;

/** The answers to requests that carry an `Idempotency-Key`. */
@Injectable()
export class IdempotencyRepository {
  constructor(private readonly database: TenantDatabase) {}

  /**
   * Claims a request for its transaction.
   * @returns the answer that it was given before, if it was
   * @throws ApiError `idempotency_key_in_use`, `idempotency_key_reused`, `create_failed`
   */
  async claim(
    transaction: TenantTransaction,
    { id }: Tenant,
    { key, route, content }: IdempotentRequest,
  ): Promise<StoredResponse | undefined> {
    const [lock] = await transaction.query<{ mine: boolean }>({
      text: `select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as mine`,
      values: [[id, key, route].join(' ')],
    });
    if (!lock?.mine) throw new ApiError('idempotency_key_in_use');
    // A statement of its own, so that it sees what was committed before the lock was free.
    const [stored] = await transaction.query<StoredResponse & { content_hash: Buffer }>({
      text: `select content_hash, status, location, etag, body as text from idempotency_keys
        where organization_id = $1 and key = $2 and route = $3
          and created_at > now() - interval '${KEPT_FOR}'`,
      values: [id, key, route],
    });
    if (!stored) return undefined;
    const { content_hash: hash, ...answer } = stored;
    if (!hash.equals(hashOf(content))) throw new ApiError('idempotency_key_reused');
    return answer;
  }

  /**
   * Keeps the answer to a claimed request.
   * @throws ApiError `create_failed`
   */
  async store(
    transaction: TenantTransaction,
    { id }: Tenant,
    { key, route, content }: IdempotentRequest,
    { status, location, etag, text }: StoredResponse,
  ): Promise<void> {
    await transaction.query({
      text: `insert into idempotency_keys
          (organization_id, key, route, content_hash, status, location, etag, body, record_ids)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        on conflict (organization_id, key, route) do update set content_hash = excluded.content_hash,
          status = excluded.status, location = excluded.location, etag = excluded.etag,
          body = excluded.body, record_ids = excluded.record_ids,
          created_at = excluded.created_at`,
      values: [
        ...[id, key, route, hashOf(content), status, location, etag, text],
        uuidsOf(route, location, text),
      ],
    });
  }

  /**
   * Removes the answers about some records, and those of which that is not known.
   * @throws ApiError `create_failed`
   */
  async deleteForRecords(
    transaction: TenantTransaction,
    { id }: Tenant,
    recordIds: readonly string[],
  ): Promise<void> {
    if (recordIds.length === 0) return;
    await transaction.query({
      text: `delete from idempotency_keys where organization_id = $1 and (record_ids is null
          or exists (select from unnest(record_ids) record_id where record_id = any($2::uuid[])))`,
      values: [id, recordIds],
    });
  }

  /**
   * Removes answers that are given no more.
   * @throws ApiError `create_failed`
   */
  async deleteExpired(tenant: Tenant): Promise<void> {
    let removed: unknown[];
    do {
      removed = await this.database.write(tenant, {
        text: `delete from idempotency_keys where organization_id = $1 and (key, route) in (
            select key, route from idempotency_keys
            where organization_id = $1 and created_at <= now() - interval '${KEPT_FOR}'
            limit ${SWEEP_BATCH} for update skip locked)
          returning key`,
        values: [tenant.id],
      });
    } while (removed.length === SWEEP_BATCH);
  }
}

/** The records that an answer is about: their ids, and some others that do no harm. */
function uuidsOf(...texts: readonly (string | null)[]): string[] {
  const ids = texts.flatMap((text) => text?.match(ANY_UUID) ?? []);
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}

function hashOf(content: string): Buffer {
  return createHash('sha256').update(content).digest();
}
