import { Injectable } from '@nestjs/common';
import { IS_VALID_KEY } from './valid-keys.js';
import type { Call, InTransaction, TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { Conditions } from '../../platform/data/lists/conditions.js';
import type { ListQuery } from '../../platform/data/lists/list-query.js';
import { ListedRepository } from '../../platform/data/lists/listed-repository.js';
import type { Row } from '../../platform/data/records/record-statements.js';
import type { Stored } from '../../platform/data/records/stored-record.js';
import { ApiKey } from './api-key.entity.js';
import type { WantedLimits } from './key-limits.js';

/** The columns of a new key. */
export type NewKeyRow = Pick<ApiKey, 'id' | 'name' | 'key_start' | 'ends_with' | 'confirmations'> &
  WantedLimits & {
    readonly scopes: readonly string[];
    readonly user_id: string | null;
    readonly key_hash: Buffer;
    readonly expires_at: Date | null;
    readonly lifetime_ms: number;
  };

/** SQL of the lifetime of a key. Of a key without a stored one, it follows from its times, which a rotation changes. */
export const LIFETIME_MS = `coalesce(lifetime_ms, case when expires_at is null then 0
  else greatest(extract(epoch from expires_at - created_at) * 1000, 1) end)::float8`;

const COUNT_VALID = `
  select count(*)::int as count from api_keys key where organization_id = $1 and ${IS_VALID_KEY}`;

/** The keys that end with `$2`, itself among them. */
const FIND_ENDING_WITH = `
  select id from api_keys
  where organization_id = $1 and (id = $2 or ends_with @> array[$2]::uuid[]) and revoked_at is null`;

/** `$2`: the old key, `$3`: the new one, `$4`: what the new one ends with in addition. */
const INHERIT = `
  update api_keys set ends_with = array(
    select distinct unnest(array_replace(ends_with, $2, $3) || $4::uuid[]))
  where organization_id = $1 and ends_with @> array[$2]::uuid[]`;

/** SQL of the keys of an organization. Writes are in a transaction that has locked the organization. */
@Injectable()
export class KeysRepository extends ListedRepository<ApiKey, ListQuery> {
  constructor(database: TenantDatabase) {
    super(database, { entity: ApiKey });
  }

  protected conditionsOf(call: Call): Conditions {
    return new Conditions(call);
  }

  /**
   * Counts the keys of an organization that are neither revoked nor expired.
   * @throws ApiError `query_failed`, in a transaction `create_failed`
   */
  async countValid(call: TenantCall): Promise<number> {
    const statement = { text: COUNT_VALID, values: [call.tenant.id] };
    const [row] = await this.database.read<{ count: number }>(call, statement);
    return row?.count ?? 0;
  }

  /**
   * All keys of the organization, the oldest first.
   * @throws ApiError `query_failed`, in a transaction `create_failed`
   */
  all(call: TenantCall): Promise<ApiKey[]> {
    return this.query(call, (keys) => keys.orderBy('created_at').addOrderBy('id'));
  }

  /**
   * Inserts a key, which expires at the latest when those that it ends with do.
   * @throws ApiError `create_failed`
   */
  async insertKey(call: InTransaction, row: NewKeyRow): Promise<Stored<ApiKey>> {
    const [end] = await this.query(call, (keys) =>
      keys
        .where('id = any(:ids) and expires_at is not null', { ids: row.ends_with })
        .orderBy('expires_at')
        .limit(1),
    );
    const expires_at = earlier(row.expires_at, end?.expires_at ?? null);
    const inserted = await this.insert(call, { ...row, expires_at }).stored;
    if (!inserted) throw new Error('The key was not inserted.');
    return inserted;
  }

  /**
   * The lifetime that a key was made with; 0 if it does not expire.
   * @throws ApiError `create_failed`
   */
  async lifetimeOf(call: InTransaction, id: string): Promise<number> {
    const text = `select ${LIFETIME_MS} as ms from api_keys where organization_id = $1 and id = $2`;
    const values = [call.tenant.id, id];
    const [row] = await this.database.read<{ ms: number }>(call, { text, values });
    return Math.round(row?.ms ?? 0);
  }

  /**
   * Lets a new key take the place of an old one: keys that end with the old one end with the new one.
   * @param lifetime that of the old key
   * @param oldEnd when the old key ends, unless it ends earlier
   * @param added keys that the new one ends with, and the old one does not
   * @returns the old key
   * @throws ApiError `create_failed`
   */
  async replace(
    call: InTransaction,
    ids: { readonly old: string; readonly new: string },
    { lifetime, oldEnd }: { readonly lifetime: number; readonly oldEnd: Date },
    added: readonly string[],
  ): Promise<ApiKey> {
    const old = await this.update(call, ids.old, ({ expires_at }): Row => {
      const end = earlier(expires_at, oldEnd);
      return { successor_id: ids.new, expires_at: end, lifetime_ms: lifetime };
    });
    if (!old) throw new Error('The key was not rotated.');
    const values = [call.tenant.id, ids.old, ids.new, added];
    await call.transaction.query({ text: INHERIT, values });
    return old;
  }

  /**
   * The ids of the keys that end with a key, with its own. Revoked ones are left out.
   * @throws ApiError `create_failed`
   */
  async findEndingWith(call: InTransaction, id: string): Promise<string[]> {
    const values = [call.tenant.id, id];
    const found = await call.transaction.query<{ id: string }>({ text: FIND_ENDING_WITH, values });
    return found.map((key) => key.id);
  }

  /**
   * Revokes a key and those that end with it. The time of an earlier revocation is kept.
   * @returns the ids of the keys that were not revoked before
   * @throws ApiError `create_failed`
   */
  async revoke(call: InTransaction, id: string): Promise<string[]> {
    const ids = await this.findEndingWith(call, id);
    await this.lockAndRead(call, ids);
    const revoked_at = new Date();
    for (const each of ids) await this.update(call, each, () => ({ revoked_at }));
    return ids;
  }

  /**
   * Revokes all keys of an organization that is removed, without events.
   * @returns whether a key was valid
   * @throws ApiError `create_failed`
   */
  async revokeAll(call: TenantCall): Promise<boolean> {
    const text = `update api_keys set revoked_at = now()
      where organization_id = $1 and revoked_at is null returning id`;
    return (await this.database.write(call, { text, values: [call.tenant.id] })).length > 0;
  }
}

/** The earlier one of two times, of which null is none. */
function earlier(time: Date | null, other: Date | null): Date | null {
  if (!time || !other) return time ?? other;
  return time < other ? time : other;
}
