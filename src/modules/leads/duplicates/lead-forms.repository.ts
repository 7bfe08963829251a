import { Injectable } from '@nestjs/common';
import { NIL } from 'uuid';
import type { InTransaction, TenantCall } from '../../../platform/data/call.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import { FORM_FIELDS, type FormedLead, type LeadForms, REASONS } from './lead-forms.js';
import type { Link } from './lead-groups.js';

/**
 * The forms of removed leads. An erasure empties them; the handler of its event then removes the row, and divides the group that
 * the row names.
 */
export const FORMS_ABOUT_RECORDS = {
  name: 'lead_forms',
  rows: 'id = any($2::uuid[])',
  erased: REASONS.map((name) => `${name} = null`).join(', '),
};

/** The forms of a lead as they are stored, with its group. */
export type StoredForms = LeadForms & { readonly group_id: string | null };

/** A lead, and the group that it gets. */
export interface Membership {
  readonly lead_id: string;
  /** Null if no other lead is a likely duplicate. */
  readonly joined: string | null;
}

const FORMS = REASONS.join(', ');

/** The JSON `$2` as rows of forms. */
const GIVEN_FORMS = `json_to_recordset($2) as given (id uuid, ${REASONS.map((name) => `${name} uuid`).join(', ')})`;

const STORE_FORMS = `insert into lead_forms (organization_id, id, ${FORMS})
  select $1, id, ${FORMS} from ${GIVEN_FORMS}
  on conflict (organization_id, id) do update set group_id = null,
    ${REASONS.map((name) => `${name} = excluded.${name}`).join(', ')}`;

/** One other lead for each form of the given leads. All leads with the same form find the same one, except itself. */
const FIND_LINKS = `with given as materialized (select id, ${FORMS} from ${GIVEN_FORMS})
  ${REASONS.map(
    (name) => `select given.id, other.id as other_id, other.group_id from given cross join lateral (
      select id, group_id from lead_forms
      where organization_id = $1 and ${name} = given.${name} and id <> given.id order by id limit 1) other`,
  ).join(' union all ')}`;

const SET_GROUPS = `update lead_forms set group_id = joined
  from json_to_recordset($2) as given (lead_id uuid, joined uuid)
  where organization_id = $1 and id = lead_id`;

/** Stores the forms of leads by which likely duplicates are found, and the group of each lead. */
@Injectable()
export class LeadFormsRepository {
  constructor(private readonly database: TenantDatabase) {}

  /** Lets the organization have its forms kept. @returns whether it did not before */
  async begin(call: InTransaction): Promise<boolean> {
    const begun = await call.transaction.query({
      text: `update organizations set finds_duplicates = true
        where id = $1 and not finds_duplicates returning id`,
      values: [call.tenant.id],
    });
    return begun.length > 0;
  }

  /**
   * Makes other changes of forms of the organization wait until the transaction ends.
   * @returns whether its forms are kept
   */
  async lock(call: InTransaction): Promise<boolean> {
    const [organization] = await call.transaction.query<{ finds_duplicates: boolean }>({
      text: `select finds_duplicates, pg_advisory_xact_lock(hashtextextended('lead forms ' || id, 0))
        from organizations where id = $1`,
      values: [call.tenant.id],
    });
    return organization?.finds_duplicates === true;
  }

  /** Reads those of the leads that exist. None of them can be removed before the transaction ends. */
  readLeads(call: InTransaction, ids: readonly string[]): Promise<FormedLead[]> {
    return call.transaction.query({
      text: `select id, ${FORM_FIELDS.join(', ')} from leads
        where organization_id = $1 and id = any($2::uuid[]) and deleted_at is null for key share`,
      values: [call.tenant.id, ids],
      plan: 'custom',
    });
  }

  readForms(call: InTransaction, ids: readonly string[]): Promise<StoredForms[]> {
    return call.transaction.query({
      text: `select id, ${FORMS}, group_id from lead_forms
        where organization_id = $1 and id = any($2::uuid[])`,
      values: [call.tenant.id, ids],
      plan: 'custom',
    });
  }

  /** Stores the forms of leads, which then are in no group. */
  async store(call: InTransaction, forms: readonly LeadForms[]): Promise<void> {
    await call.transaction.query({
      text: STORE_FORMS,
      values: [call.tenant.id, JSON.stringify(forms)],
    });
  }

  async remove(call: InTransaction, ids: readonly string[]): Promise<void> {
    await call.transaction.query({
      text: 'delete from lead_forms where organization_id = $1 and id = any($2::uuid[])',
      values: [call.tenant.id, ids],
    });
  }

  /** For each form of the leads, one other lead that has it. */
  findLinks(call: InTransaction, forms: readonly LeadForms[]): Promise<Link[]> {
    return call.transaction.query({
      text: FIND_LINKS,
      values: [call.tenant.id, JSON.stringify(forms)],
      plan: 'index',
    });
  }

  /** The first leads of a group. */
  readGroup(call: InTransaction, group: string, limit: number): Promise<StoredForms[]> {
    return call.transaction.query({
      text: `select id, ${FORMS}, group_id from lead_forms
        where organization_id = $1 and group_id = $2 order by id limit ${limit}`,
      values: [call.tenant.id, group],
      plan: 'index',
    });
  }

  /** The number of leads of each group, up to a limit. */
  async sizesOf(
    call: InTransaction,
    groups: readonly string[],
    limit: number,
  ): Promise<ReadonlyMap<string, number>> {
    const rows = await call.transaction.query<{ wanted: string; size: number }>({
      text: `select wanted, (select count(*)::int from (
          select from lead_forms where organization_id = $1 and group_id = wanted limit ${limit}) lead) as size
        from unnest($2::uuid[]) as wanted`,
      values: [call.tenant.id, groups],
      plan: 'index',
    });
    return new Map(rows.map(({ wanted, size }) => [wanted, size]));
  }

  async setGroups(call: InTransaction, memberships: readonly Membership[]): Promise<void> {
    await call.transaction.query({
      text: SET_GROUPS,
      values: [call.tenant.id, JSON.stringify(memberships)],
      plan: 'index',
    });
  }

  /** Moves all leads of groups into another one. */
  async moveGroups(call: InTransaction, groups: readonly string[], to: string): Promise<void> {
    await call.transaction.query({
      text: `update lead_forms set group_id = $3 where organization_id = $1 and group_id = any($2::uuid[])`,
      values: [call.tenant.id, groups, to],
      plan: 'custom',
    });
  }

  /**
   * The next leads in the order of their ids, and whether their forms are stored.
   * @param after the id of a lead
   * @throws ApiError `query_failed`
   */
  readNext(
    call: TenantCall,
    after: string | undefined,
    limit: number,
  ): Promise<{ readonly id: string; readonly has_forms: boolean }[]> {
    return this.database.read(call, {
      text: `select id, exists (
          select from lead_forms where organization_id = $1 and lead_forms.id = lead.id) as has_forms
        from (select id from leads where organization_id = $1 and deleted_at is null
          and id > $2 order by id limit ${limit}) lead
        order by id`,
      // Under row-level security, PostgreSQL would not look a `coalesce()` up in the index.
      values: [call.tenant.id, after ?? NIL],
      plan: 'index',
    });
  }
}
