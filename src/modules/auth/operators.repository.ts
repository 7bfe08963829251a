import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../../platform/data/call.js';
import {
  type AuditedAct,
  AuditLog,
  insertAuditEntries,
} from '../../platform/data/audit/audit-log.js';
import { SystemDatabase } from '../../platform/data/gateway/system-database.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import type { ListQuery } from '../../platform/data/lists/list-query.js';
import type { ListRow } from '../../platform/data/lists/list-statement.js';
import { Page } from '../../platform/data/lists/page.js';
import { type JsonRow, rowJsonOf } from '../../platform/data/records/record-statements.js';
import {
  jsonColumnsOf,
  RecordParser,
  type Stored,
} from '../../platform/data/records/stored-record.js';
import type { ApiKey } from './api-key.entity.js';
import { LIFETIME_MS } from './keys.repository.js';
import { OrganizationDto } from './organization.dto.js';

/** The columns of a new key. `operator_id` is the id of the first key of the operator, which its successors keep. */
type NewOperatorKey = Pick<ApiKey, 'id' | 'name' | 'key_start'> & {
  readonly expires_at: Date | null;
  readonly key_hash: Buffer;
  readonly operator_id: string;
  readonly lifetime_ms: number;
};

/** A key of an operator, without the key itself. */
export type OperatorKey = Omit<NewOperatorKey, 'key_hash' | 'lifetime_ms'> &
  Pick<ApiKey, 'created_at' | 'last_used_at' | 'revoked_at'>;

type RevokedOperatorKey = Pick<OperatorKey, 'id' | 'revoked_at'>;

/**
 * Inserts a key with the entries `$4` of the audit log. `$2`: the key that it replaces, which must be valid and ends at `$3`;
 * null for a new operator.
 */
const INSERT_KEY = `
  with old as (
    update operator_keys set expires_at = least(expires_at, $3), lifetime_ms = ${LIFETIME_MS}
    where id = $2 and revoked_at is null and (expires_at is null or expires_at > now())
    returning id),
  inserted as (
    insert into operator_keys (id, operator_id, name, key_hash, key_start, expires_at, lifetime_ms)
  select id, operator_id, name, key_hash, key_start, expires_at, lifetime_ms
  from json_populate_record(null::operator_keys, $1::json)
  where $2::uuid is null or exists (select from old) returning id),
  entries as (${insertAuditEntries('$5', '$4', 'exists (select from inserted)')})
  select id from inserted`;

/** Revokes a key with the entries `$2` of the audit log, unless it was revoked before. */
const REVOKE_KEY = `
  with revoked as (
    update operator_keys key set revoked_at = coalesce(key.revoked_at, now())
    from (select id, revoked_at from operator_keys where id = $1 for no key update) old
    where key.id = old.id returning key.id, key.revoked_at, old.revoked_at is null as is_new),
  entries as (${insertAuditEntries('$3', '$2', 'exists (select from revoked where is_new)')})
  select id, revoked_at, is_new from revoked`;

/** The organizations of the operator `$1`. */
const ORGANIZATIONS = `
  select id, name, phone_region, time_zone, unknown_fields, suspended, created_at,
    exists(select from api_keys where organization_id = organizations.id) as has_had_key
  from organizations where operator_id = $1`;

const json = (selection: string) => `select id, row_to_json(record)::text as json from (
  select ${jsonColumnsOf(OrganizationDto)} from (${ORGANIZATIONS}) organization ${selection}) record`;

const FIND = json('where id = $2');

/**
 * SQL of the keys of operators, and of the organizations that they have created. The tenant of a call is the operator, and
 * row-level security shows it these organizations.
 */
@Injectable()
export class OperatorsRepository {
  private readonly parser = new RecordParser(OrganizationDto);

  constructor(
    private readonly system: SystemDatabase,
    private readonly database: TenantDatabase,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Stores a key, and lets the one that it replaces end.
   * @returns false if the old one is not valid
   * @throws ApiError `create_failed`
   */
  async insertKey(
    key: NewOperatorKey,
    replaced?: { readonly id: string; readonly end: Date },
  ): Promise<boolean> {
    const acts: AuditedAct[] = [['operator_key.created', key.id]];
    if (replaced) acts.push(['operator_key.rotated', replaced.id]);
    const entries = this.audit.prepare({ tenant: { id: key.operator_id } }, acts);
    const values = [rowJsonOf(key), replaced?.id, replaced?.end, entries.json, key.operator_id];
    const isInserted = (await this.system.write({ text: INSERT_KEY, values })).length > 0;
    if (isInserted) entries.publish();
    return isInserted;
  }

  /** @throws ApiError `query_failed` */
  listKeys(): Promise<OperatorKey[]> {
    const text = `select id, operator_id, name, key_start, created_at, expires_at, last_used_at, revoked_at
      from operator_keys order by created_at, id`;
    return this.system.read<OperatorKey>(text);
  }

  /** @throws ApiError `query_failed` */
  async findKey(
    id: string,
  ): Promise<Pick<NewOperatorKey, 'name' | 'operator_id' | 'lifetime_ms'> | undefined> {
    const text = `select name, operator_id, ${LIFETIME_MS} as lifetime_ms from operator_keys where id = $1`;
    return (await this.system.read<NewOperatorKey>(text, [id]))[0];
  }

  /**
   * Revokes a key. The time of an earlier revocation is kept.
   * @throws ApiError `create_failed`
   */
  async revokeKey(id: string): Promise<RevokedOperatorKey | undefined> {
    const key = await this.findKey(id);
    if (!key) return undefined;
    const origin = { tenant: { id: key.operator_id } };
    const { json, publish } = this.audit.prepare(origin, [['operator_key.revoked', id]]);
    const values = [id, json, key.operator_id];
    type Row = RevokedOperatorKey & { readonly is_new: boolean };
    const [row] = await this.system.write<Row>({ text: REVOKE_KEY, values });
    if (!row) return undefined;
    const { is_new, ...revoked } = row;
    if (is_new) publish();
    return revoked;
  }

  /** @throws ApiError `query_failed` */
  async page(
    call: TenantCall,
    { page, limit, sort_dir: direction }: ListQuery,
  ): Promise<Page<OrganizationDto>> {
    const order = `organization.created_at ${direction}, id ${direction}`;
    const text = `select
      (select count(*)::int from organizations where operator_id = $1) as total,
      (select string_agg(json, ',') from (${json(`order by ${order} limit $2 offset $3`)}) item) as items`;
    const values = [call.tenant.id, limit, (page - 1) * limit];
    const [row] = await this.database.read<ListRow>(call, { text, values });
    return new Page(this.parser.list(row?.items), { page, limit, total: row?.total ?? 0 });
  }

  /** @throws ApiError `query_failed`, in a transaction `create_failed` */
  async find(call: TenantCall, id: string): Promise<Stored<OrganizationDto> | undefined> {
    const statement = { text: FIND, values: [call.tenant.id, id] };
    const [row] = await this.database.read<JsonRow>(call, statement);
    return row && this.parser.stored(row);
  }

  /**
   * Locks an organization of an operator until the transaction ends.
   * @throws ApiError `create_failed`
   */
  async lock(call: InTransaction, id: string): Promise<void> {
    const text = 'select from organizations where operator_id = $1 and id = $2 for no key update';
    await call.transaction.query({ text, values: [call.tenant.id, id] });
  }
}
