import { Injectable } from '@nestjs/common';
import type { Call, InTransaction, TenantCall } from '../../platform/data/call.js';
import { NAMES_COLLATION } from '../../platform/data/names-collation.js';
import { SnapshotReader } from '../../platform/data/gateway/snapshot-reader.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import type { Transaction } from '../../platform/data/gateway/transaction.js';
import { isRecordSql, ONE_BY_ONE } from '../../platform/data/records/record-sql.js';
import { jsonColumnsOf } from '../../platform/data/records/stored-record.js';
import { addFilter } from '../../platform/data/filters/filter-sql.js';
import { Conditions } from '../../platform/data/lists/conditions.js';
import { type DeletedQuery, DeletedRecords } from '../../platform/data/lists/deleted-records.js';
import { ListedRepository } from '../../platform/data/lists/listed-repository.js';
import type { CursorPage } from '../../platform/data/lists/page.js';
import { addSearch } from '../../platform/data/lists/search.js';
import { FOLDED_PATTERN } from '../../platform/data/lists/search-text.js';
import { tagSql } from '../../platform/data/lists/tag-sql.js';
import { isPhone, parsePhone } from '../../platform/fields/kinds/email-and-phone.js';
import {
  DeletedLeadDto,
  LEAD_GROUPINGS,
  LEAD_INCLUDES,
  type LeadDto,
  type LeadFilters,
  LeadListItemDto,
  LeadListQuery,
  LEADS,
} from './lead.dto.js';
import { Lead } from './lead.entity.js';
import { PersonalLeadDto } from './lead-person.dto.js';
import { type Holder, UNIQUE_COLUMNS, type UniqueValues } from './lead-values.js';

/** The name of a lead. */
export type LeadName = Pick<LeadDto, 'id' | 'first_name' | 'last_name'>;

/** SQL of leads. */
@Injectable()
export class LeadsRepository extends ListedRepository<Lead, LeadListQuery, LeadListItemDto> {
  /** Whether the leads that transactions have locked are to be rewritten, by their ids. */
  private readonly toRewrite = new WeakMap<Transaction, Map<string, boolean>>();
  private readonly deleted: DeletedRecords<DeletedLeadDto>;
  protected override readonly uniqueColumns = Object.values(UNIQUE_COLUMNS);

  constructor(
    database: TenantDatabase,
    private readonly snapshots: SnapshotReader,
  ) {
    super(database, {
      entity: Lead,
      item: LeadListItemDto,
      query: LeadListQuery,
      groupings: LEAD_GROUPINGS,
      includes: LEAD_INCLUDES,
      sorts: {
        first_name: { collation: NAMES_COLLATION },
        last_name: { collation: NAMES_COLLATION },
      },
    });
    this.deleted = new DeletedRecords(database, Lead, DeletedLeadDto, 'merged_into is null');
  }

  /** @throws ApiError `query_failed` */
  listDeleted(call: Call, query: DeletedQuery): Promise<CursorPage<DeletedLeadDto>> {
    return this.deleted.pageAfter(call, query);
  }

  /**
   * Reads the leads of a list as JSON, in pages of one snapshot, the oldest first.
   * @param signal ends the read with an error
   * @throws ApiError `overloaded`, `query_failed`
   */
  async *readSnapshot(
    call: Call,
    filters: LeadFilters,
    signal: AbortSignal,
  ): AsyncGenerator<string[], void> {
    const conditions = this.conditionsOf(call, filters);
    const { jsonFromTable } = this.columns.of(call);
    const leads = this.items.allInOrder(conditions, [jsonFromTable]);
    const text = `select row_to_json(lead)::text as json from (${leads}) lead`;
    const { values } = conditions;
    const pages = this.snapshots.read<{ json: string }>(call, { text, values }, signal);
    for await (const rows of pages) yield rows.map(({ json }) => json);
  }

  protected conditionsOf(call: Call, query: LeadFilters) {
    const conditions = new Conditions(call, this.table.notDeleted)
      .equal('status', query.status)
      .equal('temperature', query.temperature)
      .equal('source', query.source)
      .equal('external_id', query.external_id)
      .add('created_at >= ?', query.created_after)
      .add('created_at < ?', query.created_before)
      .updatedWithin(query);
    // A term that reads as a phone number also finds its other spellings.
    const phones = searchDigits(query.search ?? '', call.tenant.phoneRegion);
    addSearch(conditions, query.search, phones);
    addTags(conditions, query.tag);
    return addFilter(call, conditions, LEADS, query.filter);
  }

  /**
   * The names of those of the leads that are not deleted.
   * @throws ApiError `query_failed`
   */
  findNames(call: TenantCall, ids: readonly string[]): Promise<LeadName[]> {
    return this.query(call, (leads) =>
      leads
        .select(['leads.id', 'leads.first_name', 'leads.last_name'])
        .where('leads.id = any(:ids)', { ids }),
    );
  }

  /**
   * Whether the search text of a lead was written by an earlier release or by SQL. Its compared e-mail and phone can then
   * be those of earlier rules as well.
   * @throws ApiError `create_failed`, because it is part of a write
   */
  async isToRewrite(call: TenantCall, id: string): Promise<boolean> {
    const known = call.transaction && this.toRewrite.get(call.transaction)?.get(id.toLowerCase());
    return known ?? (await this.findToRewrite(call, [id])).length > 0;
  }

  override async lockAndRead(call: InTransaction, ids: readonly string[]): Promise<void> {
    await super.lockAndRead(call, ids);
    const found = await this.findToRewrite(call, ids);
    this.toRewrite.set(call.transaction, new Map(ids.map((id) => [id, found.includes(id)])));
  }

  private async findToRewrite(call: TenantCall, ids: readonly string[]): Promise<string[]> {
    const text = `select id from unnest($2::uuid[]) as wanted_id, lateral (
        select id from ${this.table.name} where ${isRecordSql(this.table, 'wanted_id')}
          and search_text not like ${FOLDED_PATTERN} ${ONE_BY_ONE}) lead`;
    const values = [call.tenant.id, ids];
    const rows = await this.database.readForWrite<{ id: string }>(call, {
      text,
      values,
      plan: 'index',
    });
    return rows.map((row) => row.id);
  }

  /**
   * The lead into which a deleted one was merged, after all merges.
   * @param deletedToo whether that lead can be deleted as well
   * @returns undefined if it was not merged, or that lead does not exist
   * @throws ApiError `query_failed`
   */
  async findSurvivor(
    call: TenantCall,
    id: string,
    deletedToo: boolean,
  ): Promise<string | undefined> {
    const isLast = deletedToo
      ? 'organization_id = $1 and id = merges.merged_into and merged_into is null'
      : isRecordSql(this.table, 'merges.merged_into');
    const merged = 'select merged_into from leads where organization_id = $1 and id';
    const [survivor] = await this.database.read<{ id: string }>(call, {
      text: `with recursive merges as (${merged} = $2
          union select next.merged_into from merges
            cross join lateral (${merged} = merges.merged_into ${ONE_BY_ONE}) next)
        select lead.id from merges
          cross join lateral (select id from leads
            where ${isLast} ${ONE_BY_ONE}) lead`,
      values: [call.tenant.id, id.toLowerCase()],
      plan: 'index',
    });
    return survivor?.id;
  }

  /**
   * Whether a lead was merged into another one, which may have been removed since.
   * @throws ApiError `create_failed`, because it is part of a write
   */
  async isMerged(call: TenantCall, id: string): Promise<boolean> {
    const text = `select from leads where organization_id = $1 and id = $2 and merged_into is not null`;
    const values = [call.tenant.id, id];
    return (await this.database.readForWrite(call, { text, values })).length > 0;
  }

  /**
   * The leads that were merged into one or with it, deleted ones too, in the order of their ids.
   * @returns none if the lead is not stored
   * @throws ApiError `query_failed`
   */
  async findPerson(call: TenantCall, id: string): Promise<string[]> {
    const related = 'id = person.merged_into or merged_into = person.id';
    const leads = 'select id, merged_into from leads where organization_id = $1';
    const rows = await this.database.read<{ id: string }>(call, {
      text: `with recursive person as (${leads} and id = $2
          union select lead.* from person cross join lateral (${leads} and (${related})) lead)
        select id from person order by id`,
      values: [call.tenant.id, id.toLowerCase()],
      plan: 'custom',
    });
    return rows.map((row) => row.id);
  }

  /**
   * Every field of leads, deleted ones too.
   * @throws ApiError `query_failed`
   */
  async readPerson(call: TenantCall, ids: readonly string[]): Promise<PersonalLeadDto[]> {
    const rows = await this.database.read<{ json: string }>(call, {
      text: `select row_to_json(record)::text as json from (
          select ${jsonColumnsOf(PersonalLeadDto)} from leads
          where organization_id = $1 and id = any($2::uuid[]) order by id) record`,
      values: [call.tenant.id, ids],
    });
    return rows.map(({ json }) => JSON.parse(json) as PersonalLeadDto);
  }

  /**
   * Runs work unless other work of this instance creates a lead with one of these values.
   * @returns undefined if it did; that work has ended then
   * @throws ApiError `overloaded`, and any error of `work`
   */
  ifFree<T>(
    call: Call,
    values: UniqueValues,
    work: (call: Call) => Promise<T>,
  ): Promise<T | undefined> {
    return this.database.ifFree(call, this.uniqueNamesOf(call, [values]), work);
  }

  /**
   * The leads that have any of these unique values, once for each value.
   * @param locks whether a transaction locks the values, so that no other one gives them to leads meanwhile
   * @throws ApiError `create_failed`, because it is part of a write
   */
  findHolders(call: TenantCall, values: readonly UniqueValues[], locks = false): Promise<Holder[]> {
    const columns = Object.entries(UNIQUE_COLUMNS);
    const holders = columns.map(
      ([field, column], index) => `select id, created_at, '${field}' as field, ${field} as value,
          ${column} as compared
        from ${this.table.name} where organization_id = $1 and ${this.table.notDeleted}
          and ${column} = any($${index + 2})`,
    );
    const wanted = columns.map(([, column]) => values.flatMap((each) => each[column] ?? []));
    return this.database.readForWrite<Holder>(call, {
      text: holders.join(' union all '),
      values: [call.tenant.id, ...wanted],
      ...(locks && { locks: this.uniqueNamesOf(call, values) }),
      // In a transaction, a prepared plan from when there were few leads would read all of them.
      plan: call.transaction ? 'custom' : 'index',
    });
  }
}

/**
 * The digits to search for in phones, if the search term itself has the form of a phone. A lead with any of them matches.
 * @param region of the organization
 */
function searchDigits(term: string, region: string): readonly string[] {
  if (!isPhone(term)) return [];
  const { normalized, digits } = parsePhone(term, region);
  // A phone that contains the normalized form then contains the digits.
  return normalized.includes(digits) ? [digits] : [normalized, digits];
}

/** Selects leads that have all of the tags, in any case. */
function addTags(conditions: Conditions, tags: readonly string[] = []): void {
  for (const tag of tags) conditions.search(tagSql(conditions, 'tags', tag));
}
