import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../../platform/data/call.js';
import { AdministrativeWrites } from '../../platform/data/gateway/administrative-writes.js';
import { SharedLookups } from '../../platform/data/gateway/shared-lookups.js';
import type { ListQuery } from '../../platform/data/lists/list-query.js';
import { LookupList } from '../../platform/data/lists/lookup-list.js';
import type { Page } from '../../platform/data/lists/page.js';
import type { JsonRow } from '../../platform/data/records/record-statements.js';
import type { Stored } from '../../platform/data/records/stored-record.js';
import { type CreateOrganizationDto, OrganizationDto } from './organization.dto.js';

/** A key of an operator, without the key itself. */
export interface OperatorKey {
  readonly id: string;
  /** The id of the first key of the operator, which its successors keep. */
  readonly operator_id: string;
  readonly name: string;
  readonly key_start: string;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
  readonly revoked_at: Date | null;
}

type NewOperatorKey = Pick<
  OperatorKey,
  'id' | 'operator_id' | 'name' | 'key_start' | 'expires_at'
> & {
  readonly key_hash: Buffer;
};

const KEY_COLUMNS =
  'id, operator_id, name, key_start, created_at, expires_at, last_used_at, revoked_at';

const INSERT_KEY = `
  insert into operator_keys (id, operator_id, name, key_hash, key_start, expires_at)
  values ($1, $2, $3, $4, $5, $6) returning id`;

/** Replaces a key that is still valid. `$7`: the old key, `$8`: when it ends. */
const REPLACE_KEY = `
  with old as (
    update operator_keys set expires_at = least(expires_at, $8)
    where id = $7 and revoked_at is null and (expires_at is null or expires_at > now())
    returning id)
  insert into operator_keys (id, operator_id, name, key_hash, key_start, expires_at)
  select $1, $2, $3, $4, $5, $6 from old returning id`;

const ORGANIZATIONS = `
  select *, exists(select from api_keys where organization_id = organizations.id) as has_had_key
  from organizations where operator_id = $1`;

/** SQL of the keys of operators, and of the organizations that they have created. The tenant of a call is the operator. */
@Injectable()
export class OperatorsRepository {
  private readonly organizations: LookupList<OrganizationDto>;

  constructor(
    private readonly lookups: SharedLookups,
    private readonly writes: AdministrativeWrites,
  ) {
    this.organizations = new LookupList(lookups, 'organizations', OrganizationDto, ORGANIZATIONS);
  }

  /** @throws ApiError `create_failed` */
  async insertKey(key: NewOperatorKey): Promise<void> {
    await this.writes.run({ text: INSERT_KEY, values: valuesOf(key) });
  }

  /**
   * Stores a key, and lets the one that it replaces end.
   * @returns false if the old one is not valid
   * @throws ApiError `create_failed`
   */
  async replaceKey(old: string, oldEnd: Date, key: NewOperatorKey): Promise<boolean> {
    const values = [...valuesOf(key), old, oldEnd];
    return (await this.writes.run({ text: REPLACE_KEY, values })).length > 0;
  }

  /** @throws ApiError `query_failed` */
  listKeys(): Promise<OperatorKey[]> {
    const text = `select ${KEY_COLUMNS} from operator_keys order by created_at, id`;
    return this.lookups.find<OperatorKey>('operator-keys', text, []);
  }

  /** @throws ApiError `query_failed` */
  async findKey(id: string): Promise<OperatorKey | undefined> {
    const text = `select ${KEY_COLUMNS} from operator_keys where id = $1`;
    return (await this.lookups.find<OperatorKey>('operator-key-by-id', text, [id]))[0];
  }

  /**
   * Revokes a key. The time of an earlier revocation is kept.
   * @throws ApiError `create_failed`
   */
  async revokeKey(id: string): Promise<Pick<OperatorKey, 'id' | 'revoked_at'> | undefined> {
    const text = `update operator_keys set revoked_at = coalesce(revoked_at, now()) where id = $1
      returning id, revoked_at`;
    const values = [id];
    return (await this.writes.run<Pick<OperatorKey, 'id' | 'revoked_at'>>({ text, values }))[0];
  }

  /** @throws ApiError `query_failed` */
  list({ tenant }: TenantCall, query: ListQuery): Promise<Page<OrganizationDto>> {
    return this.organizations.page(tenant.id, query);
  }

  /** @throws ApiError `query_failed` */
  find({ tenant }: TenantCall, id: string): Promise<Stored<OrganizationDto> | undefined> {
    return this.organizations.find(tenant.id, id);
  }

  /** @throws ApiError `create_failed` */
  async insertOrganization(
    { transaction, tenant }: InTransaction,
    id: string,
    { name, phone_region }: CreateOrganizationDto,
  ): Promise<Stored<OrganizationDto>> {
    const run = (text: string, values: readonly unknown[]) =>
      transaction.query<JsonRow>({
        text,
        values: [tenant.id, id, ...values],
        asDatabaseUserOf: tenant.id,
      });
    const [column, value] = phone_region ? [', phone_region', ', $4'] : ['', ''];
    await run(
      `insert into organizations (operator_id, id, name${column}) values ($1, $2, $3${value})`,
      [name, ...(phone_region ? [phone_region] : [])],
    );
    const [row] = await run(this.organizations.one, []);
    if (!row) throw new Error('The organization was not inserted.');
    return this.organizations.parser.stored(row);
  }
}

function valuesOf({ id, operator_id, name, key_hash, key_start, expires_at }: NewOperatorKey) {
  return [id, operator_id, name, key_hash, key_start, expires_at];
}
