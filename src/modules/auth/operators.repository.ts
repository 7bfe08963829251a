import { Injectable } from '@nestjs/common';
import type { InTransaction } from '../../platform/data/call.js';
import { SystemDatabase } from '../../platform/data/gateway/system-database.js';
import { LookupList } from '../../platform/data/lists/lookup-list.js';
import { rowJsonOf } from '../../platform/data/records/record-changes.js';
import type { Stored } from '../../platform/data/records/stored-record.js';
import type { ApiKey } from './api-key.entity.js';
import { LIFETIME_MS } from './keys.repository.js';
import { type CreateOrganizationDto, OrganizationDto } from './organization.dto.js';

/** The columns of a new key. `operator_id` is the id of the first key of the operator, which its successors keep. */
type NewOperatorKey = Pick<ApiKey, 'id' | 'name' | 'key_hash' | 'key_start' | 'expires_at'> & {
  readonly operator_id: string;
  readonly lifetime_ms: number;
};

/** A key of an operator, without the key itself. */
export type OperatorKey = Omit<NewOperatorKey, 'key_hash' | 'lifetime_ms'> &
  Pick<ApiKey, 'created_at' | 'last_used_at' | 'revoked_at'>;

/** Inserts a key. `$2`: the key that it replaces, which must be valid and ends at `$3`; null for a new operator. */
const INSERT_KEY = `
  with old as (
    update operator_keys set expires_at = least(expires_at, $3), lifetime_ms = ${LIFETIME_MS}
    where id = $2 and revoked_at is null and (expires_at is null or expires_at > now())
    returning id)
  insert into operator_keys (id, operator_id, name, key_hash, key_start, expires_at, lifetime_ms)
  select id, operator_id, name, key_hash, key_start, expires_at, lifetime_ms
  from json_populate_record(null::operator_keys, $1::json)
  where $2::uuid is null or exists (select from old) returning id`;

const ORGANIZATIONS = `
  select *, exists(select from api_keys where organization_id = organizations.id) as has_had_key
  from organizations where operator_id = $1`;

/**
 * SQL of the keys of operators, and of the organizations that they have created, which are its list. The tenant of a call
 * is the operator.
 */
@Injectable()
export class OperatorsRepository extends LookupList<OrganizationDto> {
  constructor(database: SystemDatabase) {
    super(database, OrganizationDto, ORGANIZATIONS);
  }

  /**
   * Stores a key, and lets the one that it replaces end.
   * @returns false if the old one is not valid
   * @throws ApiError `create_failed`
   */
  async insertKey(
    key: NewOperatorKey,
    replaced?: { readonly id: string; readonly end: Date },
  ): Promise<boolean> {
    const values = [rowJsonOf(key), replaced?.id, replaced?.end];
    return (await this.database.write({ text: INSERT_KEY, values })).length > 0;
  }

  /** @throws ApiError `query_failed` */
  listKeys(): Promise<OperatorKey[]> {
    const text = `select id, operator_id, name, key_start, created_at, expires_at, last_used_at, revoked_at
      from operator_keys order by created_at, id`;
    return this.database.read<OperatorKey>(text);
  }

  /** @throws ApiError `query_failed` */
  async findKey(
    id: string,
  ): Promise<Pick<NewOperatorKey, 'name' | 'operator_id' | 'lifetime_ms'> | undefined> {
    const text = `select name, operator_id, ${LIFETIME_MS} as lifetime_ms from operator_keys where id = $1`;
    return (await this.database.read<NewOperatorKey>(text, [id]))[0];
  }

  /**
   * Revokes a key. The time of an earlier revocation is kept.
   * @throws ApiError `create_failed`
   */
  async revokeKey(id: string): Promise<Pick<OperatorKey, 'id' | 'revoked_at'> | undefined> {
    const text = `update operator_keys set revoked_at = coalesce(revoked_at, now()) where id = $1
      returning id, revoked_at`;
    const values = [id];
    return (await this.database.write<Pick<OperatorKey, 'id' | 'revoked_at'>>({ text, values }))[0];
  }

  /**
   * Locks an organization of an operator until the transaction ends.
   * @throws ApiError `create_failed`
   */
  async lock(call: InTransaction, id: string): Promise<void> {
    const text = 'select from organizations where operator_id = $1 and id = $2 for no key update';
    await this.runIn(call, text, id);
  }

  /** @throws ApiError `create_failed` */
  async insertOrganization(
    call: InTransaction,
    id: string,
    { name, phone_region, time_zone }: CreateOrganizationDto,
  ): Promise<Stored<OrganizationDto>> {
    const text = `insert into organizations (operator_id, id, name, time_zone, phone_region)
      select $1, $2, $3, $4, coalesce($5, phone_region) from organization_defaults`;
    await this.runIn(call, text, id, name, time_zone, phone_region);
    const inserted = await this.findIn(call, id);
    if (!inserted) throw new Error('The organization was not inserted.');
    return inserted;
  }
}
