import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.js';
import { Settings } from '../../config/settings.js';
import { uuidsIn } from '../../fields/kinds/uuid.js';
import type { InTransaction, ScopesOfResponse, TenantCall } from '../../data/call.js';
import { SystemDatabase } from '../../data/gateway/system-database.js';
import { TenantDatabase } from '../../data/gateway/tenant-database.js';
import { Job } from '../../jobs/job.decorator.js';
import type { IdempotentRequest } from './idempotent-request.js';
import { hashOf, OF_OPERATORS, OF_ORGANIZATIONS, storedResponseSql } from './stored-responses.js';

/** A REST response that is stored for replay. */
export interface StoredResponse {
  readonly status: number;
  readonly location: string | null;
  /** ETag of a single record; null for other responses. */
  readonly etag: string | null;
  /** The body as JSON. */
  readonly text: string;
  /** What its replay needs. */
  readonly scopes?: ScopesOfResponse | null;
}

/** SQL: the response was erased. It stays, so that its request is never carried out again. */
const ERASED = 404;
const IS_ERASED = `status = ${ERASED}`;

const ERASED_MESSAGE = 'The records of the response to this Idempotency-Key were erased.';

/** The responses about records, and those whose records are unknown. */
export const RESPONSES_ABOUT_RECORDS = {
  name: 'idempotency_keys',
  rows: `(record_ids is null
    or exists (select from unnest(record_ids) record_id where record_id = any($2::uuid[])))`,
  erased: `status = ${ERASED}, content_hash = '', location = null, etag = null, body = '', record_ids = '{}'`,
};

/** Rows that one statement deletes. Small batches keep locks short. */
const DELETE_BATCH = 1_000;

/** Deletes a batch of the responses to the organization `$1` that are older than `$2` milliseconds. */
const DELETE_EXPIRED = `
  delete from idempotency_keys where organization_id = $1 and (key, route) in (
    select key, route from idempotency_keys
    where organization_id = $1 and created_at <= now() - $2 * interval '1 ms' and not ${IS_ERASED}
    limit ${DELETE_BATCH} for update skip locked)
  returning key`;

const ORGANIZATIONS = 'select id from organizations order by created_at, id';

/** Stores the responses to requests with an `Idempotency-Key`. */
@Injectable()
export class IdempotencyRepository {
  /** SQL: the response is still replayed, or was erased. */
  private readonly isKept: string;

  constructor(
    private readonly database: TenantDatabase,
    private readonly shared: SystemDatabase,
    private readonly settings: Settings,
  ) {
    const retention = `interval '${settings.responsesRetention} ms'`;
    this.isKept = `(created_at > now() - ${retention} or ${IS_ERASED})`;
  }

  /**
   * Locks a request until the transaction ends.
   * @returns the stored response, if the request was carried out before
   * @throws ApiError `idempotency_key_in_use`, `idempotency_key_reused`, `create_failed`; `not_found` if the response
   *   was erased
   */
  async claim(
    call: InTransaction,
    { key, route, content }: IdempotentRequest,
  ): Promise<StoredResponse | undefined> {
    const { transaction, tenant } = call;
    const { id } = tenant;
    const place = placeOf(call);
    const [lock] = await transaction.query<{ acquired: boolean }>({
      text: `select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as acquired`,
      values: [[id, key, route].join(' ')],
    });
    if (!lock?.acquired) throw new ApiError('idempotency_key_in_use');
    // A separate statement sees what was committed before the lock was acquired.
    const [stored] = await transaction.query<StoredResponse & { content_hash: Buffer }>({
      text: `select content_hash, status, location, etag, body as text, scopes
        from ${storedResponseSql('$2', '$3', place)} and ${this.isKept}`,
      values: [id, key, route],
    });
    if (!stored) return undefined;
    const { content_hash: hash, ...response } = stored;
    if (response.status === ERASED) throw new ApiError('not_found', { message: ERASED_MESSAGE });
    if (!hash.equals(hashOf(content))) throw new ApiError('idempotency_key_reused');
    return response;
  }

  /**
   * Whether the response to a request of an organization is stored, so that the request is not carried out again.
   * @throws ApiError `create_failed`
   */
  async isStored(call: TenantCall, { key, route }: IdempotentRequest): Promise<boolean> {
    const rows = await this.database.readForWrite(call, {
      text: `select from ${storedResponseSql('$2', '$3')} and ${this.isKept}`,
      values: [call.tenant.id, key, route],
      plan: 'index',
    });
    return rows.length > 0;
  }

  /**
   * Stores the response to a locked request.
   * @throws ApiError `create_failed`
   */
  async store(
    call: InTransaction,
    { key, route, content }: IdempotentRequest,
    { status, location, etag, text, scopes = null }: StoredResponse,
  ): Promise<void> {
    const place = placeOf(call);
    await call.transaction.query({
      text: `insert into ${place.table}
          (${place.owner}, key, route, content_hash, status, location, etag, body, record_ids, scopes)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        on conflict (${place.owner}, key, route) do update set content_hash = excluded.content_hash,
          status = excluded.status, location = excluded.location, etag = excluded.etag,
          body = excluded.body, record_ids = excluded.record_ids,
          scopes = excluded.scopes, created_at = excluded.created_at`,
      values: [
        ...[call.tenant.id, key, route, hashOf(content), status, location, etag, text],
        uuidsIn(`${route} ${location ?? ''} ${text}`),
        scopes && JSON.stringify(scopes),
      ],
    });
  }

  /**
   * Deletes the responses to organizations and operators that are no longer replayed.
   * @throws ApiError `query_failed`, `create_failed`
   */
  @Job({ name: 'latitude.expired-responses', every: '10m' })
  async deleteExpired(): Promise<void> {
    const organizations = await this.shared.read<{ id: string }>(ORGANIZATIONS);
    for (const { id } of organizations) await this.deleteExpiredOf(id);
    const text = `delete from ${OF_OPERATORS.table} where created_at <= now() - $1 * interval '1 ms'`;
    await this.shared.write({ text, values: [this.settings.responsesRetention] });
  }

  private async deleteExpiredOf(id: string): Promise<void> {
    const statement = { text: DELETE_EXPIRED, values: [id, this.settings.responsesRetention] };
    let removed: unknown[];
    do {
      removed = await this.database.write({ tenant: { id } }, statement);
    } while (removed.length === DELETE_BATCH);
  }
}

/** Where the responses to a caller are stored. */
function placeOf({ actor }: InTransaction) {
  return actor?.key.operatorId === undefined ? OF_ORGANIZATIONS : OF_OPERATORS;
}
