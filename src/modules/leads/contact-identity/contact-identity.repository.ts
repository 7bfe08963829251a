import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../../../platform/data/call.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import { FOLDED_PATTERN, TO_REWRITE_PATTERN } from '../../../platform/data/lists/search-text.js';
import type { Lead } from '../lead.entity.js';

/** Fields that are unique among the leads of an organization. Each has a column `<field>_compared` for its normalized form. */
export const IDENTITY_FIELDS = ['email', 'phone'] as const;
export type IdentityField = (typeof IDENTITY_FIELDS)[number];

/** A lead and its time of creation in milliseconds since 1970. */
export interface LeadAge {
  readonly id: string;
  readonly created_at_ms: number;
}

/** The fields of a lead from which its normalized forms and its search text are computed. */
export type IdentifiedLead = Pick<Lead, 'first_name' | 'last_name' | 'company' | IdentityField> &
  LeadAge &
  Omit<LeadIdentity, 'search_text'> & { readonly created_at: string };

/** Position in a list of leads that is sorted by age, the oldest first. */
export type LeadCursor = Pick<IdentifiedLead, 'created_at' | 'id'>;

/** The new normalized forms and the new search text of a lead. */
export type LeadIdentity = Readonly<
  Required<Pick<Lead, 'id' | 'email_compared' | 'phone_compared' | 'search_text'>>
>;

export type LeadToRefill = IdentifiedLead & Pick<LeadIdentity, 'search_text'>;

const CREATED_AT_MS = '(extract(epoch from created_at) * 1000)::float8 as created_at_ms';

const COLUMNS = `id, first_name, last_name, company, email, phone, email_compared, phone_compared,
  created_at::text as created_at, ${CREATED_AT_MS}`;

const NOT_DELETED = 'organization_id = $1 and deleted_at is null';

/** The condition of the index `leads_to_refill`. */
const TO_REFILL = `${NOT_DELETED} and search_text not like ${FOLDED_PATTERN}`;

/** SQL for the normalized e-mails and phones of all leads of an organization. */
@Injectable()
export class ContactIdentityRepository {
  constructor(private readonly database: TenantDatabase) {}

  transaction<T>(call: TenantCall, work: (inner: InTransaction) => Promise<T>): Promise<T> {
    return this.database.transaction(call, work);
  }

  /**
   * Reads the oldest leads after a position, and locks them until the transaction ends.
   * @param changedSince only leads that were changed at this time or later
   */
  lockNextBatch(
    call: InTransaction,
    { after, changedSince, limit }: { after?: LeadCursor; changedSince?: Date; limit: number },
  ): Promise<IdentifiedLead[]> {
    return call.transaction.query<IdentifiedLead>({
      text: `select ${COLUMNS} from leads where ${NOT_DELETED}
          and ($2::timestamptz is null or (created_at, id) > ($2::timestamptz, $3::uuid))
          and ($4::timestamptz is null or updated_at >= $4::timestamptz)
        order by created_at, id limit ${limit} for update`,
      values: [call.tenant.id, after?.created_at ?? null, after?.id ?? null, changedSince ?? null],
    });
  }

  /** Whether `lockToRefill` finds leads. */
  async hasToRefill(call: TenantCall): Promise<boolean> {
    const text = `select from leads where ${TO_REFILL} limit 1`;
    const rows = await this.database.read(call, { text, values: [call.tenant.id], plan: 'index' });
    return rows.length > 0;
  }

  /**
   * Reads leads whose search text is to be written again, in the order of their ids, and locks them until the
   * transaction ends. Leads that another transaction has locked are left out.
   */
  lockToRefill(
    call: InTransaction,
    { after, limit }: { after?: string; limit: number },
  ): Promise<LeadToRefill[]> {
    return call.transaction.query({
      text: `select ${COLUMNS}, search_text from leads
        where ${TO_REFILL} and ($2::uuid is null or id > $2::uuid)
        order by id limit ${limit} for update skip locked`,
      values: [call.tenant.id, after ?? null],
      plan: 'index',
    });
  }

  /** Like `lockToRefill`, for one lead. */
  lockOne(call: InTransaction, id: string): Promise<LeadToRefill[]> {
    return call.transaction.query({
      text: `select ${COLUMNS}, search_text from leads where ${NOT_DELETED} and id = $2 for update`,
      values: [call.tenant.id, id],
    });
  }

  /** @returns the leads that have one of these normalized forms, by form */
  async findByNormalized(
    call: InTransaction,
    field: IdentityField,
    forms: readonly string[],
  ): Promise<ReadonlyMap<string, LeadAge>> {
    const rows = await call.transaction.query<LeadAge & { form: string }>({
      text: `select ${field}_compared as form, id, ${CREATED_AT_MS} from leads
        where ${NOT_DELETED} and ${field}_compared = any($2)`,
      values: [call.tenant.id, forms],
    });
    return new Map(rows.map((row) => [row.form, row]));
  }

  /** Removes these normalized forms from the leads that have them, and any form from the leads with these ids. */
  async clearNormalized(
    call: InTransaction,
    field: IdentityField,
    { ids, forms }: { ids: readonly string[]; forms: readonly string[] },
  ): Promise<void> {
    await call.transaction.query({
      text: `update leads set ${field}_compared = null
        where ${NOT_DELETED} and (id = any($2) or ${field}_compared = any($3))`,
      values: [call.tenant.id, ids, forms],
    });
  }

  /** Stores the normalized forms of leads. `updated_at` does not change, because no public field does. */
  async setNormalized(call: InTransaction, leads: readonly LeadIdentity[]): Promise<void> {
    await call.transaction.query({
      text: `update leads set email_compared = given.email_compared,
          phone_compared = given.phone_compared, search_text = given.search_text
        from json_to_recordset($2) as
          given (id uuid, email_compared text, phone_compared text, search_text text)
        where leads.organization_id = $1 and leads.id = given.id`,
      values: [call.tenant.id, JSON.stringify(leads)],
    });
  }

  /** @returns leads that have an e-mail or phone but not its normalized form, or an earlier one, oldest first */
  findWithoutNormalized(call: InTransaction): Promise<IdentifiedLead[]> {
    return call.transaction.query<IdentifiedLead>({
      text: `select ${COLUMNS} from leads where ${NOT_DELETED}
          and ((email is not null and email_compared is null)
            or (phone is not null and phone_compared is null)
            or search_text like ${TO_REWRITE_PATTERN})
        order by created_at, id`,
      values: [call.tenant.id],
    });
  }
}
