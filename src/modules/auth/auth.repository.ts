import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import { ADMINISTRATION } from '../../platform/data/connection/data-source-names.js';
import { isForeignKeyViolation } from '../../platform/data/connection/driver-error.js';
import type { InTransaction, TenantCall } from '../../platform/data/call.js';
import { SystemDatabase } from '../../platform/data/gateway/system-database.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { originOf } from '../../platform/data/records/record-changes.js';
import { jsonColumnsOf } from '../../platform/data/records/stored-record.js';
import { ApiKey } from './api-key.entity.js';
import { OrganizationRecordDto } from './organization.dto.js';
import { ORGANIZATION_UPDATED } from './organization-events.js';
import { Organization } from './organization.entity.js';

const DELETE_ORGANIZATION = `
  with deleted_keys as (delete from api_keys where organization_id = $1)
  delete from organizations where id = $1`;

const COLUMNS = 'id, name, phone_region, time_zone, suspended, created_at';

const FIND_ORGANIZATION = `select ${COLUMNS} from organizations where id = $1`;

/** The columns that are changed after creation. */
const CHANGEABLE = ['name', 'phone_region', 'time_zone', 'suspended'] as const;

/** Changes an organization, with an event if a value is another one. `$6` to `$8`: the key, the channel and the id of the request. */
const UPDATE_ORGANIZATION = `
  with old as (select * from organizations where id = $1 for no key update),
  updated as (
    update organizations new set name = coalesce($2, new.name), phone_region = coalesce($3, new.phone_region),
      time_zone = coalesce($4, new.time_zone), suspended = coalesce($5, new.suspended)
    from old where new.id = old.id
    returning new.*, array_remove(array[${CHANGEABLE.map(
      (name) => `case when new.${name} <> old.${name} then '${name}' end`,
    ).join()}], null) as changed),
  record as (select ${jsonColumnsOf(OrganizationRecordDto)} from updated),
  event as (
    insert into event_outbox (organization_id, record_id, record, type, changed, key_id, channel, request_id)
    select $1, id, (select row_to_json(record) from record), '${ORGANIZATION_UPDATED}', changed, $6, $7, $8
    from updated where changed <> '{}')
  select ${COLUMNS} from updated`;

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

/** SQL that manages organizations and keys. */
@Injectable()
export class AuthRepository {
  constructor(
    @InjectRepository(Organization, ADMINISTRATION)
    private readonly organizations: Repository<Organization>,
    @InjectRepository(ApiKey, ADMINISTRATION) private readonly keys: Repository<ApiKey>,
    private readonly shared: SystemDatabase,
    private readonly database: TenantDatabase,
  ) {}

  /** @param fields without a phone region, that of the server that started last applies */
  async insertOrganization(fields: Partial<Organization>): Promise<Organization> {
    const phone_region = fields.phone_region ?? (await this.findDefaultPhoneRegion());
    const organization = this.organizations.create({ ...fields, phone_region });
    await this.organizations.insert(organization);
    return organization;
  }

  /**
   * Changes an organization, if it exists, with an event. Columns that are left out keep their values.
   * @throws ApiError `create_failed`
   */
  updateOrganization(
    call: InTransaction,
    { name, phone_region, time_zone, suspended }: OrganizationChanges,
  ): Promise<Organization | undefined> {
    const { key_id, channel, request_id } = originOf(call);
    const values = [name, phone_region, time_zone, suspended, key_id, channel, request_id];
    return this.runIn(call, UPDATE_ORGANIZATION, ...values);
  }

  /**
   * The name of a time zone as PostgreSQL spells it; undefined if it does not know the zone.
   * @throws ApiError `query_failed`
   */
  async findTimeZone(name: string): Promise<string | undefined> {
    return (await this.shared.read<{ name: string }>(FIND_TIME_ZONE, [name]))[0]?.name;
  }

  /** @param region ISO 3166-1 alpha-2, for new organizations that name none */
  async setDefaultPhoneRegion(region: string): Promise<void> {
    await this.organizations.query(STORE_DEFAULT_REGION, [region]);
  }

  listOrganizations(): Promise<Organization[]> {
    return this.organizations.find({ order: { created_at: 'asc', id: 'asc' } });
  }

  /**
   * A shared look-up and no query of the administration, because `GET /api/v1/organization` reads it as well.
   * @throws ApiError `query_failed`
   */
  async findOrganization(id: string): Promise<Organization | undefined> {
    return (await this.shared.read<Organization>(FIND_ORGANIZATION, [id]))[0];
  }

  /**
   * Lets one transaction at a time change an organization.
   * @throws ApiError `create_failed`
   */
  lockOrganization(call: InTransaction): Promise<Organization | undefined> {
    return this.runIn(call, `${FIND_ORGANIZATION} for no key update`);
  }

  /** Runs a statement as the database user, because the tenant role may not use the table. `$1` is the tenant. */
  private async runIn(
    { transaction, tenant: { id } }: InTransaction,
    text: string,
    ...values: readonly unknown[]
  ): Promise<Organization | undefined> {
    const statement = { text, values: [id, ...values], asDatabaseUserOf: id };
    return (await transaction.query<Organization>(statement))[0];
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

  listKeys(organizationId: string): Promise<ApiKey[]> {
    return this.keys.find({
      where: { organization_id: organizationId },
      order: { created_at: 'asc', id: 'asc' },
    });
  }

  /** The id of the organization of a key. */
  async findOrganizationOfKey(id: string): Promise<string | undefined> {
    return (await this.keys.findOneBy({ id }))?.organization_id;
  }

  /**
   * Revokes all keys of an organization.
   * @returns whether a key was valid
   */
  async revokeAll(organizationId: string): Promise<boolean> {
    const notRevoked = { organization_id: organizationId, revoked_at: IsNull() };
    const { affected } = await this.keys.update(notRevoked, { revoked_at: () => 'now()' });
    return affected !== 0;
  }

  /**
   * Removes an organization with its keys.
   * @returns false if the organization has records, or got a key meanwhile
   */
  async deleteOrganization(id: string): Promise<boolean> {
    try {
      await this.organizations.query(DELETE_ORGANIZATION, [id]);
      return true;
    } catch (error) {
      if (isForeignKeyViolation(error)) return false;
      throw error;
    }
  }

  /** The phone region of new organizations that name none. */
  private async findDefaultPhoneRegion(): Promise<string | undefined> {
    const text = 'select phone_region from organization_defaults';
    const [row] = await this.organizations.query<Pick<Organization, 'phone_region'>[]>(text);
    return row?.phone_region;
  }
}
