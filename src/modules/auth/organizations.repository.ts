import { Injectable } from '@nestjs/common';
import { isForeignKeyViolation } from '../../platform/data/connection/driver-error.js';
import type { InTransaction, TenantCall } from '../../platform/data/call.js';
import { AuditLog, insertAuditEntries } from '../../platform/data/audit/audit-log.js';
import { SystemDatabase } from '../../platform/data/gateway/system-database.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { insertEvents } from '../../platform/data/records/event-outbox.js';
import { originOf } from '../../platform/data/records/record-statements.js';
import { jsonColumnsOf } from '../../platform/data/records/stored-record.js';
import { OrganizationRecordDto } from './organization.dto.js';
import { ORGANIZATION_UPDATED } from './organization-events.js';
import { Organization } from './organization.entity.js';

const COLUMNS = 'id, name, phone_region, time_zone, unknown_fields, suspended, created_at';

const FIND = `select ${COLUMNS} from organizations where id = $1`;

/** `$5`: the operator that creates it, if one does. Without a phone region, that of the server that started last applies. */
const INSERT = `
  insert into organizations (id, name, phone_region, time_zone, operator_id)
  select $1, $2, coalesce($3, phone_region), coalesce($4, 'UTC'), $5 from organization_defaults
  returning ${COLUMNS}`;

/** The columns that are changed after creation. */
const CHANGEABLE = ['name', 'phone_region', 'time_zone', 'suspended', 'unknown_fields'] as const;

/** Changes an organization, with an event if a value is another one. `$7` to `$10`: its origin. */
const UPDATE = `
  with old as (select ${COLUMNS} from organizations where id = $1 for no key update),
  updated as (
    update organizations new set name = coalesce($2, new.name), phone_region = coalesce($3, new.phone_region),
      time_zone = coalesce($4, new.time_zone), suspended = coalesce($5, new.suspended),
      unknown_fields = coalesce($6, new.unknown_fields)
    from old where new.id = old.id
    returning ${COLUMNS.replaceAll(/\w+/g, 'new.$&')}, array_remove(array[${CHANGEABLE.map(
      (name) => `case when new.${name} <> old.${name} then '${name}' end`,
    ).join()}], null) as changed),
  record as (select ${jsonColumnsOf(OrganizationRecordDto)} from updated),
  event as (${insertEvents(
    {
      organization_id: '$1',
      record_id: 'id',
      record: '(select row_to_json(record) from record)',
      type: `'${ORGANIZATION_UPDATED}'`,
      changed: 'changed',
      key_id: '$7',
      channel: '$8',
      request_id: '$9',
      traceparent: '$10',
    },
    "updated where changed <> '{}'",
  )})
  select ${COLUMNS}, changed from updated`;

const DELETE = `
  with deleted_keys as (delete from api_keys where organization_id = $1),
  deleted_entries as (delete from audit_entries where organization_id = $1)
  delete from organizations where id = $1`;

/** Inserts the entries `$2` of the operator `$1`, if the organization `$3` exists. */
const INSERT_OF_OPERATOR = insertAuditEntries(
  '$1',
  '$2',
  'exists (select from organizations where id = $3)',
);

/** The name as PostgreSQL spells it, for a name in any case. */
const FIND_TIME_ZONE = `
  select name from pg_timezone_names where lower(name) = lower($1) order by name = $1 desc limit 1`;

const STORE_DEFAULT_REGION = `
  insert into organization_defaults (phone_region) values ($1)
  on conflict (is_only) do update set phone_region = excluded.phone_region
  where organization_defaults.phone_region <> excluded.phone_region`;

const COUNT_RECORDS = `
  select resource, sum(records)::int as total from record_counts
  where organization_id = $1 and resource = any($2) and filter = '' group by resource`;

export type OrganizationChanges = Partial<Pick<Organization, (typeof CHANGEABLE)[number]>>;

type ChangedOrganization = Organization & { readonly changed: readonly string[] };

/** The fields of a new organization. */
type NewOrganization = Pick<Organization, 'id' | 'name'> & {
  readonly phone_region?: string | null;
  readonly time_zone?: string;
};

/**
 * SQL of organizations. Each is a row of its own organization. Commands, which belong to none, create, list and remove
 * them.
 */
@Injectable()
export class OrganizationsRepository {
  constructor(
    private readonly system: SystemDatabase,
    private readonly database: TenantDatabase,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Inserts an organization that belongs to no operator, with its entry of the audit log.
   * @throws ApiError `create_failed`
   */
  async insert(fields: NewOrganization): Promise<Organization> {
    const origin = { tenant: { id: fields.id } };
    const entry = this.audit.prepare(origin, [['organization.created', fields.id]]);
    const [inserted] = await this.system.write<Organization>(
      { text: insertAuditEntries('$1', '$2'), values: [fields.id, entry.json] },
      insertStatement(fields),
    );
    entry.publish();
    return stored(inserted);
  }

  /**
   * Inserts an organization of an operator, which is the tenant of the call.
   * @throws ApiError `create_failed`
   */
  async insertOf(call: InTransaction, fields: NewOrganization): Promise<Organization> {
    const statement = insertStatement(fields, call.tenant.id);
    const [inserted] = await call.transaction.query<Organization>(statement);
    return stored(inserted);
  }

  /**
   * Changes an organization, if it exists, with an event. Columns that are left out keep their values.
   * @returns the organization, and the names of the fields that have another value
   * @throws ApiError `create_failed`
   */
  async update(
    call: InTransaction,
    { name, phone_region, time_zone, suspended, unknown_fields }: OrganizationChanges,
  ): Promise<ChangedOrganization | undefined> {
    const { key_id, channel, request_id, traceparent } = originOf(call);
    const changes = [name, phone_region, time_zone, suspended, unknown_fields];
    const values = [call.tenant.id, ...changes, key_id, channel, request_id, traceparent];
    return (await call.transaction.query<ChangedOrganization>({ text: UPDATE, values }))[0];
  }

  /** @throws ApiError `query_failed` */
  async find(call: TenantCall): Promise<Organization | undefined> {
    const statement = { text: FIND, values: [call.tenant.id] };
    return (await this.database.read<Organization>(call, statement))[0];
  }

  /**
   * Lets one transaction at a time change an organization or its keys, so that no key is made while the key that makes it is
   * revoked.
   * @throws ApiError `create_failed`
   */
  async lock(call: InTransaction): Promise<Organization | undefined> {
    const text = `${FIND} for no key update`;
    return (await call.transaction.query<Organization>({ text, values: [call.tenant.id] }))[0];
  }

  /** @throws ApiError `query_failed` */
  list(): Promise<Organization[]> {
    return this.system.select(Organization, (all) => all.orderBy('created_at').addOrderBy('id'));
  }

  /**
   * The id of the organization of a key.
   * @throws ApiError `query_failed`
   */
  async findIdByKey(id: string): Promise<string | undefined> {
    const text = 'select organization_id from api_keys where id = $1';
    const [row] = await this.system.read<{ organization_id: string }>(text, [id]);
    return row?.organization_id;
  }

  private async findOperator(id: string): Promise<string | null> {
    const text = 'select operator_id from organizations where id = $1';
    const [row] = await this.system.read<{ operator_id: string | null }>(text, [id]);
    return row?.operator_id ?? null;
  }

  /**
   * Removes an organization with its keys and its entries of the audit log.
   * @returns false if the organization has records, or got a key meanwhile
   */
  async delete(id: string): Promise<boolean> {
    const operatorId = await this.findOperator(id);
    const origin = { tenant: { id: operatorId ?? id } };
    const acts = operatorId === null ? [] : [['organization.removed', id] as const];
    const { json, publish } = this.audit.prepare(origin, acts, id);
    try {
      await this.system.allInBackground([
        { text: INSERT_OF_OPERATOR, values: [origin.tenant.id, json, id] },
        { text: DELETE, values: [id] },
      ]);
      publish();
      return true;
    } catch (error) {
      if (isForeignKeyViolation(error)) return false;
      throw error;
    }
  }

  /**
   * The name of a time zone as PostgreSQL spells it; undefined if it does not know the zone.
   * @throws ApiError `query_failed`
   */
  async findTimeZone(name: string): Promise<string | undefined> {
    return (await this.system.read<{ name: string }>(FIND_TIME_ZONE, [name]))[0]?.name;
  }

  /**
   * @param region ISO 3166-1 alpha-2, for new organizations that name none
   * @throws ApiError `create_failed`
   */
  async setDefaultPhoneRegion(region: string): Promise<void> {
    await this.system.write({ text: STORE_DEFAULT_REGION, values: [region] });
  }

  /**
   * The numbers of records that are not deleted, by table.
   * @param tables the names of tables whose records triggers count
   * @throws ApiError `query_failed`
   */
  async countRecords(call: TenantCall, tables: readonly string[]) {
    const statement = { text: COUNT_RECORDS, values: [call.tenant.id, tables] };
    type Row = Readonly<{ resource: string; total: number }>;
    const rows = await this.database.read<Row>(call, statement);
    return new Map(rows.map(({ resource, total }) => [resource, total]));
  }
}

function insertStatement(
  { id, name, phone_region, time_zone }: NewOrganization,
  operator: string | null = null,
) {
  return { text: INSERT, values: [id, name, phone_region, time_zone, operator] };
}

function stored(inserted: Organization | undefined): Organization {
  if (inserted) return inserted;
  throw new Error('The organization was not inserted.');
}
