import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../../../platform/data/call.js';
import { UniqueViolation } from '../../../platform/data/connection/driver-error.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import { markToRewrite } from '../../../platform/data/lists/search-text.js';
import { parsePhone } from '../../../platform/fields/kinds/email-and-phone.js';
import { BackgroundWork } from '../../../platform/jobs/background-work.js';
import { Job } from '../../../platform/jobs/job.decorator.js';
import { KeysService } from '../../auth/keys.service.js';
import { LeadFormsService } from '../duplicates/lead-forms.service.js';
import { leadSearchText, type Holder, UNIQUE_COLUMNS, uniqueValuesOf } from '../lead-values.js';
import { LeadsRepository } from '../leads.repository.js';
import {
  ContactIdentityRepository,
  type IdentifiedLead,
  type IdentityColumn,
  type LeadAge,
  type LeadIdentity,
} from './contact-identity.repository.js';

/** The fields with a normalized form. */
const FIELDS = ['email', 'phone'] as const;

/** Maximum number of leads in one transaction, which has to be short because it locks them. */
const BATCH = 500;

/** A field of a lead whose normalized form belongs to another lead. */
export interface IdentityConflict {
  readonly id: string;
  readonly field: (typeof FIELDS)[number];
  readonly value: string;
  /** The lead that has the normalized form, or null if no lead has it any more. */
  readonly kept_by: string | null;
}

/** A lead, and what is written to it. */
interface Entry {
  readonly lead: IdentifiedLead;
  readonly next: LeadIdentity;
}

/**
 * Writes the normalized e-mails and phones and the search texts of stored leads again, after the rules or the phone
 * region have changed. This changes no response and no `updated_at`, and writes no event.
 */
@Injectable()
export class ContactIdentityService {
  constructor(
    private readonly database: TenantDatabase,
    private readonly keys: KeysService,
    private readonly repository: ContactIdentityRepository,
    private readonly leads: LeadsRepository,
    private readonly forms: LeadFormsService,
    private readonly background: BackgroundWork,
  ) {}

  /**
   * Stores the normalized e-mail and phone of every lead of an organization. If two leads have the
   * same form, the older one keeps it. The other one has none until its field changes.
   * @param region of numbers without a country code
   * @throws ApiError `create_failed`
   */
  async normalizeAgain(call: TenantCall, region: string): Promise<void> {
    await this.writeBatches(call, region, true);
  }

  /**
   * Lists the leads whose normalized form belongs to another lead. They have none, or that of earlier rules.
   * @param region of the organization
   * @throws ApiError `create_failed`
   */
  async listConflicts(call: TenantCall, region: string): Promise<IdentityConflict[]> {
    return this.database.transaction(call, async (inner) => {
      const leads = await this.repository.findWithoutNormalized(inner);
      const entries = leads.map((lead): Entry => ({ lead, next: identityOf(lead, region) }));
      const holders = await this.holdersOf(inner, entries);
      const found: IdentityConflict[] = [];
      for (const field of FIELDS) {
        const column = UNIQUE_COLUMNS[field];
        const ofField = holders.filter((holder) => holder.field === field);
        const ids = new Map(ofField.map(({ compared, id }) => [compared, id]));
        for (const { lead, next } of entries) {
          const kept_by = ids.get(next[column] ?? '') ?? null;
          const isWithout = lead[field] !== null && lead[column] === null;
          if (!isWithout && (kept_by === null || kept_by === lead.id)) continue;
          found.push({ id: lead.id, field, value: lead[field] ?? '', kept_by });
        }
      }
      return found;
    });
  }

  @Job({ name: 'latitude.lead-refill', every: '1m' })
  async refillInBackground(): Promise<void> {
    const mayContinue = () => this.background.isAccepting;
    for (const { id, phone_region } of await this.keys.listOrganizations()) {
      if (mayContinue()) await this.refill({ tenant: { id } }, phone_region, mayContinue);
    }
  }

  /**
   * Writes the leads of an organization that earlier versions, or SQL outside of Latitude, have written. If the new form of a lead belongs to
   * another lead, the lead keeps its own form, is listed as a conflict, and is tried again by the next call.
   * @param region of numbers without a country code
   * @param mayContinue called before each batch
   * @throws ApiError `query_failed`, `create_failed`
   */
  async refill(call: TenantCall, region: string, mayContinue = () => true): Promise<void> {
    if (!(await this.repository.hasToRefill(call))) return;
    await this.writeBatches(call, region, false, mayContinue);
  }

  /**
   * Refills one lead, such as one that can have a form which another lead had until now.
   * @throws ApiError `create_failed`
   * @throws UniqueViolation if another request gives a form to another lead at the same time
   */
  async refillOne(call: InTransaction, region: string, id: string): Promise<void> {
    await this.write(call, region, await this.repository.lockOne(call, id), false);
  }

  /**
   * Writes leads in batches, until one is not full.
   * @param takesForms whether all leads are written, and a lead takes its form from a newer lead that has it, as after a
   *   change of the phone region. Otherwise those to refill are written, and a lead keeps its earlier form
   *   (docs/contract/resources.md#uniqueness).
   */
  private async writeBatches(
    call: TenantCall,
    region: string,
    takesForms: boolean,
    mayContinue = () => true,
  ): Promise<void> {
    let range: { after?: IdentifiedLead; limit: number } = { limit: BATCH };
    while (mayContinue()) {
      const { after, limit } = range;
      const run = async (inner: InTransaction) => {
        const leads = takesForms
          ? await this.repository.lockNextBatch(inner, { after, limit })
          : await this.repository.lockToRefill(inner, { after, limit });
        await this.write(inner, region, leads, takesForms);
        return leads;
      };
      try {
        const leads = await this.database.transaction(call, run);
        const ids = leads.map(({ id }) => id);
        // No event tells that they are written.
        await this.forms.update(call, region, ids);
        if (leads.length < limit) return;
        range = { after: leads.at(-1), limit: BATCH };
      } catch (error) {
        // A concurrent request has given another lead the normalized e-mail or phone of one of these. A smaller batch is
        // less likely to collide. Each attempt reads the forms of other leads again.
        if (!(error instanceof UniqueViolation)) throw error;
        range = { after, limit: Math.ceil(limit / 4) };
      }
    }
  }

  /** The leads that have the new normalized forms. */
  private holdersOf(call: InTransaction, entries: readonly Entry[]): Promise<Holder[]> {
    const values = entries.map(({ next }) => ({ ...next, external_id: null }));
    return this.leads.findHolders(call, values);
  }

  private async write(
    call: InTransaction,
    region: string,
    leads: readonly IdentifiedLead[],
    takesForms: boolean,
  ): Promise<void> {
    const entries = leads.map((lead): Entry => ({ lead, next: identityOf(lead, region) }));
    const holders = await this.holdersOf(call, entries);
    for (const field of FIELDS) {
      const column = UNIQUE_COLUMNS[field];
      const ofField = holders.filter((holder) => holder.field === field);
      assignForms(column, entries, ofField, takesForms);
      if (!takesForms) continue;
      const moved = entries.filter(({ lead, next }) => next[column] !== lead[column]);
      const next = moved.map((entry) => entry.next);
      await this.repository.clearNormalized(call, column, next);
    }
    const columns = ['email_compared', 'phone_compared', 'search_text'] as const;
    const changed = entries.flatMap(({ lead, next }) =>
      columns.some((column) => next[column] !== lead[column]) ? [next] : [],
    );
    if (changed.length > 0) await this.repository.setNormalized(call, changed);
  }
}

/**
 * Decides which leads get their new form, if others have it or get it in this batch. The entries begin with the oldest one.
 * @param takesForms whether the oldest lead gets the form and the others none. Otherwise the lead that has it keeps it, and
 *   the others keep their earlier form. These are marked, so that the next refill tries them again.
 */
function assignForms(
  column: IdentityColumn,
  entries: readonly Entry[],
  holders: readonly Holder[],
  takesForms: boolean,
): void {
  const ids = new Set(entries.map(({ lead }) => lead.id));
  // The forms of this batch are removed before they are assigned again.
  const kept = holders.filter(({ id }) => !takesForms || !ids.has(id));
  const taken = new Map<string, LeadAge>(kept.map((holder) => [holder.compared, holder]));
  for (const { lead, next } of entries) {
    const form = next[column];
    if (form === null) continue;
    const holder = taken.get(form) ?? lead;
    if (holder.id === lead.id || (takesForms && isOlder(lead, holder))) {
      taken.set(form, lead);
    } else if (takesForms) {
      next[column] = null;
    } else {
      next[column] = lead[column];
      next.search_text = markToRewrite(next.search_text);
    }
  }
}

function isOlder(one: LeadAge, other: LeadAge): boolean {
  const ms = one.created_at.getTime() - other.created_at.getTime();
  return ms === 0 ? one.id < other.id : ms < 0;
}

/** The normalized forms and the search text that a lead should have. */
function identityOf(lead: IdentifiedLead, region: string): LeadIdentity {
  const phone = lead.phone === null ? undefined : parsePhone(lead.phone, region);
  const { email_compared, phone_compared } = uniqueValuesOf({ email: lead.email }, phone);
  const search_text = leadSearchText(lead, phone);
  return { id: lead.id, email_compared, phone_compared, search_text };
}
