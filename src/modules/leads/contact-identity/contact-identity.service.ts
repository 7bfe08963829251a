import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../../../platform/data/call.js';
import { normalizeEmail, parsePhone } from './contact-identity.js';
import {
  type LeadAge,
  ContactIdentityRepository,
  IDENTITY_FIELDS,
  type IdentifiedLead,
  type IdentityField,
  type LeadIdentity,
  type LeadCursor,
} from './contact-identity.repository.js';
import { leadSearchText } from '../lead-search.js';
import { processInBatches } from './identity-batches.js';

/** A field of a lead whose normalized form belongs to another lead. */
export interface IdentityConflict {
  readonly id: string;
  readonly field: IdentityField;
  readonly value: string;
  /** The lead that has the normalized form, or null if no lead has it any more. */
  readonly kept_by: string | null;
}

/** Normalizes the e-mails and phones of stored leads again, after the rules have changed. */
@Injectable()
export class ContactIdentityService {
  constructor(private readonly repository: ContactIdentityRepository) {}

  /**
   * Computes the normalized e-mail and phone of every lead of an organization. If two leads have the
   * same form, the older one keeps it. The other one has none until its field changes.
   * @param region of numbers without a country code
   * @param changedSince only leads that were changed at this time or later
   * @throws ApiError `create_failed`
   */
  async normalizeAgain(call: TenantCall, region: string, changedSince?: Date): Promise<void> {
    await processInBatches<LeadCursor>((after, limit) =>
      this.normalizeBatch(call, region, { after, changedSince, limit }),
    );
  }

  /**
   * Lists the leads whose normalized form belongs to another lead. They have none, or that of earlier rules.
   * @param region of the organization
   * @throws ApiError `create_failed`
   */
  async listConflicts(call: TenantCall, region: string): Promise<IdentityConflict[]> {
    return this.repository.transaction(call, async (inner) => {
      const leads = await this.repository.findWithoutNormalized(inner);
      const found: IdentityConflict[] = [];
      for (const field of IDENTITY_FIELDS) {
        const forms = leads.map((lead) => normalizeContact(lead, region)[field] ?? '');
        const holders = await this.repository.findByNormalized(inner, field, forms);
        leads.forEach((lead, index) => {
          const kept_by = holders.get(forms[index] ?? '')?.id ?? null;
          const isWithout = lead[field] !== null && normalizedOf(lead, field) === null;
          if (!isWithout && (kept_by === null || kept_by === lead.id)) return;
          found.push({ id: lead.id, field, value: lead[field] ?? '', kept_by });
        });
      }
      return found;
    });
  }

  private normalizeBatch(
    call: TenantCall,
    region: string,
    range: { after?: LeadCursor; changedSince?: Date; limit: number },
  ): Promise<IdentifiedLead[]> {
    return this.repository.transaction(call, async (inner) => {
      const leads = await this.repository.lockNextBatch(inner, range);
      await this.updateBatch(inner, leads, region);
      return leads;
    });
  }

  /** @param leads sorted by age, the oldest first */
  private async updateBatch(
    call: InTransaction,
    leads: readonly IdentifiedLead[],
    region: string,
  ): Promise<void> {
    const wanted = new Map(leads.map((lead) => [lead.id, normalizeContact(lead, region)]));
    const wantedOf = (lead: IdentifiedLead) => wanted.get(lead.id) ?? NO_CONTACT;
    const changed = leads.filter((lead) => hasOtherForms(lead, wantedOf(lead)));
    if (changed.length === 0) return;
    for (const field of IDENTITY_FIELDS) {
      await this.resolveConflicts(call, field, leads, wanted);
    }
    await this.repository.setNormalized(
      call,
      changed.map((lead) => identityOf(lead, wantedOf(lead), region)),
    );
  }

  /** Assigns each form to the oldest lead that has it, and removes it from the others. */
  private async resolveConflicts(
    call: InTransaction,
    field: IdentityField,
    leads: readonly IdentifiedLead[],
    wanted: ReadonlyMap<string, NormalizedContact>,
  ): Promise<void> {
    const batchIds = new Set(leads.map(({ id }) => id));
    const forms = leads.flatMap((lead) => wanted.get(lead.id)?.[field] ?? []);
    const holders = await this.repository.findByNormalized(call, field, forms);
    const taken = new Set<string>();
    for (const lead of leads) {
      const contact = wanted.get(lead.id);
      const form = contact?.[field];
      if (!contact || !form) continue;
      const holder = holders.get(form);
      const isHeld = holder !== undefined && !batchIds.has(holder.id) && isOlder(holder, lead);
      if (isHeld || taken.has(form)) contact[field] = null;
      taken.add(form);
    }
    const moved = leads.filter(
      (lead) => wanted.get(lead.id)?.[field] !== normalizedOf(lead, field),
    );
    const kept = moved.flatMap((lead) => wanted.get(lead.id)?.[field] ?? []);
    const ids = moved.map(({ id }) => id);
    await this.repository.clearNormalized(call, field, { ids, forms: kept });
  }
}

export type NormalizedContact = Record<IdentityField, string | null>;

const NO_CONTACT: NormalizedContact = { email: null, phone: null };

export function normalizeContact(
  { email, phone }: IdentifiedLead,
  region: string,
): NormalizedContact {
  return {
    email: email === null ? null : normalizeEmail(email),
    phone: phone === null ? null : parsePhone(phone, region).normalized,
  };
}

function isOlder(one: LeadAge, other: LeadAge): boolean {
  if (one.created_at_ms !== other.created_at_ms) return one.created_at_ms < other.created_at_ms;
  return one.id < other.id;
}

export function normalizedOf(lead: IdentifiedLead, field: IdentityField): string | null {
  return field === 'email' ? lead.email_compared : lead.phone_compared;
}

/** Whether the stored forms of a lead differ from these. */
export function hasOtherForms(lead: IdentifiedLead, contact: NormalizedContact): boolean {
  return IDENTITY_FIELDS.some((field) => contact[field] !== normalizedOf(lead, field));
}

/** @param contact the normalized forms that the lead gets */
export function identityOf(
  lead: IdentifiedLead,
  contact: NormalizedContact,
  region: string,
): LeadIdentity {
  const phone = lead.phone === null ? undefined : parsePhone(lead.phone, region);
  return {
    id: lead.id,
    email_compared: contact.email,
    phone_compared: contact.phone,
    search_text: leadSearchText(lead, phone),
  };
}
