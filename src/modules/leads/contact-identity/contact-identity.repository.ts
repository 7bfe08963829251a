import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../../../platform/data/call.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import { FOLDED_PATTERN, TO_REWRITE_PATTERN } from '../../../platform/data/lists/search-text.js';
import type { Lead } from '../lead.entity.js';

/** The columns of normalized forms, which are unique among the leads of an organization. */
export type IdentityColumn = 'email_compared' | 'phone_compared';

/** A lead with its normalized forms and its search text, and the fields from which they are computed. */
export type IdentifiedLead = Readonly<Required<Pick<Lead, (typeof COLUMNS)[number]>>>;

/** A lead and its age. */
export type LeadAge = Pick<IdentifiedLead, 'id' | 'created_at'>;

/** The normalized forms and the search text that a lead gets. */
export type LeadIdentity = Required<Pick<Lead, 'id' | IdentityColumn | 'search_text'>>;

const COLUMNS = [
  ...(['id', 'created_at', 'first_name', 'last_name', 'company', 'email', 'phone'] as const),
  ...(['email_compared', 'phone_compared', 'search_text'] as const),
] as const;

const NOT_DELETED = 'organization_id = $1 and deleted_at is null';

const SELECT = `select ${COLUMNS.join()} from leads where ${NOT_DELETED}`;

/** Leads whose search text an older release has written, or a trigger has queued. The condition of the index `leads_to_refill`. */
const TO_REFILL = `search_text not like ${FOLDED_PATTERN}`;

/** SQL for the normalized e-mails and phones of all leads of an organization. */
@Injectable()
export class ContactIdentityRepository {
  constructor(private readonly database: TenantDatabase) {}

  /** Reads the oldest leads after another one, and locks them until the transaction ends. */
  lockNextBatch(
    call: InTransaction,
    { after, limit }: { after?: LeadAge; limit: number },
  ): Promise<IdentifiedLead[]> {
    return call.transaction.query({
      text: `${SELECT} and ($2::timestamptz is null or (created_at, id) > ($2::timestamptz, $3::uuid))
        order by created_at, id limit ${limit} for update`,
      values: [call.tenant.id, after?.created_at ?? null, after?.id ?? null],
    });
  }

  /** Whether `lockToRefill` finds leads. */
  async hasToRefill(call: TenantCall): Promise<boolean> {
    const text = `select from leads where ${NOT_DELETED} and ${TO_REFILL} limit 1`;
    const rows = await this.database.read(call, { text, values: [call.tenant.id], plan: 'index' });
    return rows.length > 0;
  }

  /**
   * Reads leads whose search text is to be written again, in the order of their ids, and locks them until the
   * transaction ends. Leads that another transaction has locked are left out.
   */
  lockToRefill(
    call: InTransaction,
    { after, limit }: { after?: LeadAge; limit: number },
  ): Promise<IdentifiedLead[]> {
    return call.transaction.query({
      text: `${SELECT} and ${TO_REFILL} and ($2::uuid is null or id > $2::uuid)
        order by id limit ${limit} for update skip locked`,
      values: [call.tenant.id, after?.id ?? null],
      plan: 'index',
    });
  }

  /** Reads one lead, and locks it until the transaction ends. */
  lockOne(call: InTransaction, id: string): Promise<IdentifiedLead[]> {
    return call.transaction.query({
      text: `${SELECT} and id = $2 for update`,
      values: [call.tenant.id, id],
    });
  }

  /**
   * Removes the normalized forms of leads, and their new forms from the leads that have them, so that `setNormalized` meets
   * no other lead with the same form.
   */
  async clearNormalized(
    call: InTransaction,
    column: IdentityColumn,
    leads: readonly LeadIdentity[],
  ): Promise<void> {
    await call.transaction.query({
      text: `update leads set ${column} = null
        where ${NOT_DELETED} and (id = any($2) or ${column} = any($3))`,
      values: [call.tenant.id, leads.map(({ id }) => id), leads.map((lead) => lead[column])],
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

  /** @returns leads that have an e-mail or phone but not its normalized form, or an outdated search text, oldest first */
  findWithoutNormalized(call: InTransaction): Promise<IdentifiedLead[]> {
    return call.transaction.query({
      text: `${SELECT} and ((email is not null and email_compared is null)
            or (phone is not null and phone_compared is null)
            or search_text like ${TO_REWRITE_PATTERN})
        order by created_at, id`,
      values: [call.tenant.id],
    });
  }
}
