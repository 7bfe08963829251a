import { Injectable } from '@nestjs/common';
import { IS_VALID_KEY } from '../../platform/access/access.repository.js';
import type { Confirmations, InTransaction, TenantCall } from '../../platform/data/call.js';
import { SystemDatabase } from '../../platform/data/gateway/system-database.js';
import { LookupList } from '../../platform/data/lists/lookup-list.js';
import { originOf, rowJsonOf } from '../../platform/data/records/record-changes.js';
import type { JsonRow } from '../../platform/data/records/record-statements.js';
import { jsonColumnsOf, type Stored } from '../../platform/data/records/stored-record.js';
import type { ApiKey } from './api-key.entity.js';
import { ApiKeyDto } from './key.dto.js';

/** The columns of a new key. */
export type NewKeyRow = Pick<
  ApiKey,
  'id' | 'name' | 'key_hash' | 'key_start' | 'scopes' | 'user_id' | 'expires_at' | 'ends_with'
> & { readonly lifetime_ms: number; readonly confirmations: Confirmations };

/** SQL of the lifetime of a key. Of a key without a stored one, it follows from its times, which a rotation changes. */
export const LIFETIME_MS = `coalesce(lifetime_ms, case when expires_at is null then 0
  else greatest(extract(epoch from expires_at - created_at) * 1000, 1) end)::float8`;

const COLUMNS = jsonColumnsOf(ApiKeyDto);

/**
 * Writes an event for each key that a statement changes, and returns the keys as JSON. `$1` is the organization, and
 * `$2` to `$4` are the key, the channel and the id of the request.
 */
function withEvents(type: string, changed: readonly string[], change: string): string {
  return `with changed as (${change} returning *),
    record as (select ${COLUMNS} from changed),
    event as (
      insert into event_outbox (organization_id, record_id, record, type, changed, key_id, channel, request_id)
      select $1, id, row_to_json(record), '${type}', '{${changed.join()}}', $2, $3, $4 from record)
    select id, row_to_json(record)::text as json from record`;
}

/** A key expires at the latest when those that it ends with do. */
const INSERT = withEvents(
  'key.created',
  [],
  `insert into api_keys
    (organization_id, id, name, key_hash, key_start, scopes, user_id, ends_with, lifetime_ms, confirmations,
      expires_at)
    select $1, id, name, key_hash, key_start, scopes, user_id, ends_with, lifetime_ms, confirmations, least(expires_at,
      (select min(expires_at) from api_keys where organization_id = $1 and id = any(input.ends_with)))
    from json_populate_record(null::api_keys, $5::json) input`,
);

const ROTATE = withEvents(
  'key.rotated',
  ['expires_at', 'successor_id'],
  `update api_keys set successor_id = $6, expires_at = least(expires_at, $7), lifetime_ms = ${LIFETIME_MS}
    where organization_id = $1 and id = $5`,
);

/** `$2`: the old key, `$3`: the new one, `$4`: what the new one ends with in addition. */
const INHERIT = `
  update api_keys set ends_with = array(
    select distinct unnest(array_replace(ends_with, $2, $3) || $4::uuid[]))
  where organization_id = $1 and ends_with @> array[$2]::uuid[]`;

const REVOKE = withEvents(
  'key.revoked',
  ['revoked_at'],
  `update api_keys set revoked_at = now()
    where organization_id = $1 and (id = $5 or ends_with @> array[$5]::uuid[]) and revoked_at is null`,
);

const COUNT_VALID = `
  select count(*)::int as count from api_keys key where organization_id = $1 and ${IS_VALID_KEY}`;

const KEYS = 'select * from api_keys where organization_id = $1';

/** SQL of the keys of an organization. Writes are in a transaction that has locked the organization. */
@Injectable()
export class KeysRepository extends LookupList<ApiKeyDto> {
  constructor(database: SystemDatabase) {
    super(database, ApiKeyDto, KEYS);
  }

  /**
   * Lets one transaction at a time change the keys of an organization, so that no key is made while the key that makes
   * it is revoked.
   * @returns whether the organization exists
   * @throws ApiError `create_failed`
   */
  async lockOrganization(call: InTransaction): Promise<boolean> {
    const text = 'select id from organizations where id = $1 for no key update';
    return (await this.runIn(call, text)).length > 0;
  }

  /**
   * Counts the keys of an organization that are neither revoked nor expired.
   * @throws ApiError `query_failed`, in a transaction `create_failed`
   */
  async countValid({ tenant, transaction }: TenantCall): Promise<number> {
    const [row] = transaction
      ? await this.runIn<{ count: number }>({ tenant, transaction }, COUNT_VALID)
      : await this.database.read<{ count: number }>(COUNT_VALID, [tenant.id]);
    return row?.count ?? 0;
  }

  /**
   * Whether the organization has or had a key.
   * @throws ApiError `create_failed`
   */
  async hasAny(call: InTransaction): Promise<boolean> {
    const text = 'select id from api_keys where organization_id = $1 limit 1';
    return (await this.runIn(call, text)).length > 0;
  }

  /**
   * All keys of the organization, the oldest first.
   * @throws ApiError `create_failed`
   */
  async all(call: InTransaction): Promise<ApiKeyDto[]> {
    const text = `select id, row_to_json(record)::text as json from (select ${COLUMNS} from api_keys
      where organization_id = $1 order by created_at, id) record`;
    const rows = await this.runIn<JsonRow>(call, text);
    return rows.map((row) => this.parser.stored(row).value());
  }

  /**
   * Inserts a key, which expires at the latest when those that it ends with do.
   * @throws ApiError `create_failed`
   */
  async insert(call: InTransaction, row: NewKeyRow): Promise<Stored<ApiKeyDto>> {
    const [inserted] = await this.change(call, INSERT, rowJsonOf(row));
    if (!inserted) throw new Error('The key was not inserted.');
    return inserted;
  }

  /**
   * The lifetime that a key was made with; 0 if it does not expire.
   * @throws ApiError `create_failed`
   */
  async lifetimeOf(call: InTransaction, id: string): Promise<number> {
    const text = `select ${LIFETIME_MS} as ms from api_keys where organization_id = $1 and id = $2`;
    const [row] = await this.runIn<{ ms: number }>(call, text, id);
    return row?.ms ?? 0;
  }

  /**
   * Lets a new key take the place of an old one: keys that end with the old one end with the new one.
   * @param oldEnd when the old key ends, unless it ends earlier
   * @param added keys that the new one ends with, and the old one does not
   * @returns the old key
   * @throws ApiError `create_failed`
   */
  async replace(
    call: InTransaction,
    ids: { readonly old: string; readonly new: string },
    oldEnd: Date,
    added: readonly string[],
  ): Promise<Stored<ApiKeyDto>> {
    const [old] = await this.change(call, ROTATE, ids.old, ids.new, oldEnd);
    if (!old) throw new Error('The key was not rotated.');
    await this.runIn(call, INHERIT, ids.old, ids.new, added);
    return old;
  }

  /**
   * Revokes a key and those that end with it. The time of an earlier revocation is kept.
   * @throws ApiError `create_failed`
   */
  async revoke(call: InTransaction, id: string): Promise<void> {
    await this.change(call, REVOKE, id);
  }

  private async change(
    call: InTransaction,
    text: string,
    ...values: readonly unknown[]
  ): Promise<Stored<ApiKeyDto>[]> {
    const { key_id, channel, request_id } = originOf(call);
    const all = [key_id, channel, request_id, ...values];
    const rows = await this.runIn<JsonRow>(call, text, ...all);
    return rows.map((row) => this.parser.stored(row));
  }
}
