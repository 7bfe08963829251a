import { Injectable } from '@nestjs/common';
import type { Tenant, TenantTransaction } from '../database/gateway/tenant.js';
import { TenantDatabase } from '../database/gateway/tenant-database.js';
import type { LeadDto } from './lead.dto.js';

/** Fields that no two leads of an organization share, each with a column for its compared form. */
export const IDENTITY_FIELDS = ['email', 'phone'] as const;
export type IdentityField = (typeof IDENTITY_FIELDS)[number];

/** A lead and when it was created, in milliseconds since 1970. */
export interface LeadAge {
  readonly id: string;
  readonly created_at_ms: number;
}

/** A lead with what identifies it and what it is searched by. */
export type IdentifiedLead = Pick<
  LeadDto,
  'id' | 'first_name' | 'last_name' | 'company' | IdentityField
> &
  LeadAge & {
    readonly created_at: string;
    readonly email_compared: string | null;
    readonly phone_compared: string | null;
  };

/** Where a lead stands among others: the older ones come first. */
export type LeadCursor = Pick<IdentifiedLead, 'created_at' | 'id'>;

/** The compared forms that a lead gets, and the text that it is searched by. */
export interface LeadIdentity {
  readonly id: string;
  readonly email_compared: string | null;
  readonly phone_compared: string | null;
  readonly search_text: string;
}

const CREATED_AT_MS = '(extract(epoch from created_at) * 1000)::float8 as created_at_ms';

const COLUMNS = `id, first_name, last_name, company, email, phone, email_compared, phone_compared,
  created_at::text as created_at, ${CREATED_AT_MS}`;

const NOT_DELETED = 'organization_id = $1 and deleted_at is null';

/** The SQL of what identifies leads, for all leads of an organization. */
@Injectable()
export class ContactIdentityRepository {
  constructor(private readonly database: TenantDatabase) {}

  transaction<T>(tenant: Tenant, work: (transaction: TenantTransaction) => Promise<T>): Promise<T> {
    return this.database.transaction(tenant, work);
  }

  /**
   * The oldest leads behind a position, locked until the transaction ends.
   * @param changedSince only leads that were changed at this time or later
   */
  lockNextBatch(
    transaction: TenantTransaction,
    { id }: Tenant,
    { after, changedSince, limit }: { after?: LeadCursor; changedSince?: Date; limit: number },
  ): Promise<IdentifiedLead[]> {
    return transaction.query<IdentifiedLead>({
      text: `select ${COLUMNS} from leads where ${NOT_DELETED}
          and ($2::timestamptz is null or (created_at, id) > ($2::timestamptz, $3::uuid))
          and ($4::timestamptz is null or updated_at >= $4::timestamptz)
        order by created_at, id limit ${limit} for update`,
      values: [id, after?.created_at ?? null, after?.id ?? null, changedSince ?? null],
    });
  }

  /** The leads that have these compared forms, by form. */
  async findByNormalized(
    transaction: TenantTransaction,
    { id }: Tenant,
    field: IdentityField,
    forms: readonly string[],
  ): Promise<ReadonlyMap<string, LeadAge>> {
    const rows = await transaction.query<LeadAge & { form: string }>({
      text: `select ${field}_compared as form, id, ${CREATED_AT_MS} from leads
        where ${NOT_DELETED} and ${field}_compared = any($2)`,
      values: [id, forms],
    });
    return new Map(rows.map((row) => [row.form, row]));
  }

  /** Takes compared forms away from the leads that have them, and from the leads with these ids. */
  async clearNormalized(
    transaction: TenantTransaction,
    { id }: Tenant,
    field: IdentityField,
    { ids, forms }: { ids: readonly string[]; forms: readonly string[] },
  ): Promise<void> {
    await transaction.query({
      text: `update leads set ${field}_compared = null
        where ${NOT_DELETED} and (id = any($2) or ${field}_compared = any($3))`,
      values: [id, ids, forms],
    });
  }

  /** Gives leads their compared forms. `updated_at` stays: what is answered does not change. */
  async setNormalized(
    transaction: TenantTransaction,
    { id }: Tenant,
    leads: readonly LeadIdentity[],
  ): Promise<void> {
    await transaction.query({
      text: `update leads set email_compared = given.email_compared,
          phone_compared = given.phone_compared, search_text = given.search_text
        from json_to_recordset($2) as
          given (id uuid, email_compared text, phone_compared text, search_text text)
        where leads.organization_id = $1 and leads.id = given.id`,
      values: [id, JSON.stringify(leads)],
    });
  }

  /** Leads without the compared form of a field that they have, oldest first. */
  findWithoutNormalized(transaction: TenantTransaction, { id }: Tenant): Promise<IdentifiedLead[]> {
    return transaction.query<IdentifiedLead>({
      text: `select ${COLUMNS} from leads where ${NOT_DELETED}
          and ((email is not null and email_compared is null)
            or (phone is not null and phone_compared is null))
        order by created_at, id`,
      values: [id],
    });
  }
}
