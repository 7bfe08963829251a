import { Injectable } from '@nestjs/common';
import type { Call } from '../../../platform/data/call.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import { NOT_DELETED_BY_ID, ONE_BY_ONE } from '../../../platform/data/records/record-sql.js';
import { jsonColumnsOf } from '../../../platform/data/records/stored-record.js';
import { LeadListItemDto } from '../lead.dto.js';
import { type Reason, REASONS } from './lead-forms.js';

/** Maximum number of leads that a group shows. */
export const MAX_SHOWN = 10;

/** A group of leads. */
export interface GroupRow {
  readonly group_id: string;
  /** The first leads that exist as JSON, separated by commas; null if there is none. */
  readonly leads: string | null;
  readonly total: number;
  readonly reasons: readonly Reason[];
}

/** A lead that is not deleted, by SQL of its id. */
const leadSql = (columns: string, id: string) => `(select ${columns} from leads
  where organization_id = $1 and id = ${id} and ${NOT_DELETED_BY_ID} ${ONE_BY_ONE})`;

/** Whether another lead that exists has the same form. */
const isShared = (reason: Reason) => `exists (
  select from (select id from lead_forms
    where organization_id = $1 and ${reason} = form.${reason} and id <> form.id) other
  cross join lateral ${leadSql('', 'other.id')} lead) as by_${reason}`;

const REASONS_SQL = REASONS.map((reason) => `case when bool_or(by_${reason}) then '${reason}' end`);

/** The first leads of the group `groups.group_id`, their number, and what they share with others. */
const SHOWN = `select string_agg(json, ',' order by id) as leads, count(*)::int as shown,
    array_remove(array[${REASONS_SQL.join(', ')}], null) as reasons
  from (select form.id, lead.json, ${REASONS.map(isShared).join(', ')}
    from (select id, ${REASONS.join(', ')} from lead_forms
      where organization_id = $1 and group_id = groups.group_id order by id ${ONE_BY_ONE}) form
    cross join lateral (select row_to_json(item)::text as json
      from ${leadSql(jsonColumnsOf(LeadListItemDto), 'form.id')} item) lead
    limit ${MAX_SHOWN}) each`;

const NEXT_GROUP = (after: string) => `(select group_id from lead_forms
  where organization_id = $1 and group_id > ${after} order by group_id limit 1)`;

/** Groups after `$2`, at most `$3`. Each is found by one look-up, however many leads it has. */
const FIND_GROUPS = `with recursive groups as (
    select first.group_id, 1 as number from ${NEXT_GROUP('$2::uuid')} first
    union all
    select next.group_id, number + 1 from groups
      cross join lateral ${NEXT_GROUP('groups.group_id')} next where number < $3)
  select group_id, leads, reasons, case when shown < ${MAX_SHOWN} then shown else (
      select count(*)::int from lead_forms
      where organization_id = $1 and group_id = groups.group_id) end as total
  from groups cross join lateral (${SHOWN}) of_group order by group_id`;

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** SQL of groups of likely duplicates. */
@Injectable()
export class DuplicatesRepository {
  constructor(private readonly database: TenantDatabase) {}

  /**
   * The next groups in their order. One in which leads were deleted a moment ago can have fewer than two.
   * @param after the id of a group; empty to begin with the first one
   * @throws ApiError `query_failed`
   */
  findGroups(call: Call, after: string, limit: number): Promise<GroupRow[]> {
    return this.database.read(call, {
      text: FIND_GROUPS,
      values: [call.tenant.id, after || BEFORE_ALL, limit],
      plan: 'index',
      mayUseReplica: true,
    });
  }
}
