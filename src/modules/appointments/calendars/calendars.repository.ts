import { Injectable } from '@nestjs/common';
import type { TenantCall } from '../../../platform/data/call.js';
import { SystemDatabase } from '../../../platform/data/gateway/system-database.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import { Conditions } from '../../../platform/data/lists/conditions.js';
import type { ListQuery } from '../../../platform/data/lists/list-query.js';
import type { Page } from '../../../platform/data/lists/page.js';
import { RecordList } from '../../../platform/data/lists/record-list.js';
import { TenantRepository } from '../../../platform/data/records/tenant-repository.js';
import { NAME_SQL } from '../../leads/lead-fields.js';
import type { CalendarDto } from './calendar.dto.js';
import { Calendar } from './calendar.entity.js';
import { type CalendarContent, FORMAT } from './render-calendar.js';

/** The maximum number of appointments in a calendar, so that one response needs bounded time and memory. */
export const MAX_ITEMS = 10_000;

/** What the address of a calendar stands for. */
export interface CalendarSource {
  readonly organization_id: string;
  readonly resource_id: string;
  readonly details: boolean;
}

const FIND_BY_SECRET_HASH = `
  select calendar.organization_id, calendar.resource_id, calendar.details
  from calendars calendar join organizations organization on organization.id = calendar.organization_id
  where calendar.secret_hash = $1 and not organization.suspended`;

const milliseconds = (column: string) =>
  `(extract(epoch from ${column}) * 1000)::bigint as ${column}`;

const ITEM = `id, type, status, ${['start_time', 'end_time', 'created_at', 'updated_at'].map(milliseconds).join(', ')}`;

const DETAILS = `, location, (select ${NAME_SQL} from leads
    where organization_id = $1 and id = appointments.lead_id and deleted_at is null) as lead_name`;

/**
 * The content of a calendar and its hash, in one statement. Nothing is transferred if the reader has it.
 * `$2`: the resource, `$3`: the versions that the reader has.
 */
const readContent = (details: boolean) => `
  with resource as (
    select name from resources where organization_id = $1 and id = $2 and deleted_at is null
  ), items as (
    select ${ITEM}${details ? DETAILS : ''} from appointments
    where organization_id = $1 and resource_id = $2 and start_time >= now() - interval '90 days'
      and (status not in ('cancelled', 'no_show') or updated_at >= now() - interval '30 days')
    order by appointments.start_time, appointments.id limit ${MAX_ITEMS + 1}
  ), content as materialized (
    select json_build_object('name', name,
      'items', (select coalesce(json_agg(items), '[]') from items))::text as json
    from resource
  ), hashed as (
    select json, encode(sha256(convert_to('${FORMAT} ' || json, 'UTF8')), 'hex') as version from content
  )
  select version, case when version <> all($3::text[]) then json end as json from hashed`;

const READ_CONTENT = { plain: readContent(false), details: readContent(true) };

/** SQL of calendars. */
@Injectable()
export class CalendarsRepository extends TenantRepository<Calendar> {
  private readonly items = new RecordList<CalendarDto>(this.database, { entity: Calendar });

  constructor(
    database: TenantDatabase,
    private readonly system: SystemDatabase,
  ) {
    super(database, Calendar);
  }

  /** @throws ApiError `query_failed` */
  list(call: TenantCall, resourceId: string, query: ListQuery): Promise<Page<CalendarDto>> {
    const conditions = new Conditions(call).equal('resource_id', resourceId, 'uuid');
    return this.items.page(conditions, query);
  }

  /**
   * Removes a calendar.
   * @returns whether the resource had it
   * @throws ApiError `create_failed`
   */
  remove(call: TenantCall, resourceId: string, id: string): Promise<boolean> {
    return this.writeOne(call, id, {
      text: `delete from calendars where ${this.isRecord} and resource_id = $3 returning id`,
      values: [call.tenant.id, id, resourceId],
      plan: 'index',
    });
  }

  /**
   * Finds the calendar with the hash of a secret, which determines the organization.
   * @returns undefined if there is none, or its organization is suspended
   * @throws ApiError `query_failed`
   */
  async findBySecretHash(hash: Buffer): Promise<CalendarSource | undefined> {
    return (await this.system.read<CalendarSource>(FIND_BY_SECRET_HASH, [hash]))[0];
  }

  /**
   * Reads what a calendar contains, up to one appointment more than it may have.
   * @param known the versions that the reader has
   * @returns undefined if the resource does not exist; without the content if the reader has it
   * @throws ApiError `query_failed`
   */
  async readContent(
    { organization_id, resource_id, details }: CalendarSource,
    known: readonly string[],
  ): Promise<{ version: string; content?: CalendarContent } | undefined> {
    const [row] = await this.database.read<{ version: string; json: string | null }>(
      { tenant: { id: organization_id } },
      {
        text: details ? READ_CONTENT.details : READ_CONTENT.plain,
        values: [organization_id, resource_id, known],
        plan: 'custom',
      },
    );
    if (!row) return undefined;
    const { version, json } = row;
    return json === null ? { version } : { version, content: JSON.parse(json) as CalendarContent };
  }
}
