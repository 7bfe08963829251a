import { Injectable } from '@nestjs/common';
import { KeysService } from '../../auth/keys.service.js';
import type { InTransaction, TenantCall } from '../../../platform/data/call.js';
import { BackgroundWork } from '../../../platform/jobs/background-work.js';
import { Job } from '../../../platform/jobs/job.decorator.js';
import { markToRewrite } from '../../../platform/data/lists/search-text.js';
import {
  ContactIdentityRepository,
  IDENTITY_FIELDS,
  type IdentifiedLead,
  type IdentityField,
  type LeadIdentity,
  type LeadToRefill,
} from './contact-identity.repository.js';
import {
  hasOtherForms,
  identityOf,
  normalizeContact,
  type NormalizedContact,
  normalizedOf,
} from './contact-identity.service.js';
import { processInBatches } from './identity-batches.js';

/** The normalized forms that a lead gets. */
interface Refill {
  readonly lead: IdentifiedLead;
  readonly contact: NormalizedContact;
  /** Whether a form that the lead should have belongs to another lead. */
  conflicts: boolean;
}

/**
 * Writes the search texts and normalized forms of leads that earlier versions or SQL have written. Responses,
 * `updated_at` and events do not show it.
 */
@Injectable()
export class LeadRefillService {
  constructor(
    private readonly keys: KeysService,
    private readonly repository: ContactIdentityRepository,
    private readonly background: BackgroundWork,
  ) {}

  @Job({ name: 'latitude.lead-refill', every: '1m' })
  async refillInBackground(): Promise<void> {
    const mayContinue = () => this.background.isAccepting;
    for (const { id, phone_region } of await this.keys.listOrganizations()) {
      if (mayContinue()) await this.refill({ tenant: { id } }, phone_region, mayContinue);
    }
  }

  /**
   * Writes the leads of an organization. If the new form of a lead belongs to another lead, the lead keeps its
   * own form, is listed as a conflict, and is tried again by the next call.
   * @param region of numbers without a country code
   * @param mayContinue called before each batch
   * @throws ApiError `query_failed`, `create_failed`
   */
  async refill(call: TenantCall, region: string, mayContinue = () => true): Promise<void> {
    if (!(await this.repository.hasToRefill(call))) return;
    await processInBatches<string>(
      (after, limit) => this.refillBatch(call, region, { after, limit }),
      mayContinue,
    );
  }

  private refillBatch(
    call: TenantCall,
    region: string,
    range: { after?: string; limit: number },
  ): Promise<string[]> {
    return this.repository.transaction(call, async (inner) => {
      const leads = await this.repository.lockToRefill(inner, range);
      await this.refillLeads(inner, region, leads);
      return leads.map(({ id }) => id);
    });
  }

  /**
   * Writes one lead, such as one that can have a form which another lead had until now.
   * @throws ApiError `create_failed`
   * @throws UniqueViolation if another request gives a form to another lead at the same time
   */
  async refillOne(call: InTransaction, region: string, id: string): Promise<void> {
    await this.refillLeads(call, region, await this.repository.lockOne(call, id));
  }

  private async refillLeads(
    inner: InTransaction,
    region: string,
    leads: readonly LeadToRefill[],
  ): Promise<void> {
    const refills = leads.map((lead): Refill => {
      return { lead, contact: normalizeContact(lead, region), conflicts: false };
    });
    for (const field of IDENTITY_FIELDS) {
      await this.keepTakenForms(inner, field, refills);
    }
    const texts = new Map(leads.map(({ id, search_text }) => [id, search_text]));
    const changed = refills.flatMap((refill) => {
      const identity = refilledIdentityOf(refill, region);
      const isChanged =
        identity.search_text !== texts.get(identity.id) ||
        hasOtherForms(refill.lead, refill.contact);
      return isChanged ? [identity] : [];
    });
    if (changed.length > 0) await this.repository.setNormalized(inner, changed);
  }

  /** Lets leads keep their form if another lead has the new one, or gets it in this batch. */
  private async keepTakenForms(
    call: InTransaction,
    field: IdentityField,
    refills: readonly Refill[],
  ): Promise<void> {
    const forms = refills.flatMap(({ contact }) => contact[field] ?? []);
    const holders = await this.repository.findByNormalized(call, field, forms);
    const taken = new Map([...holders].map(([form, { id }]) => [form, id]));
    for (const refill of refills) {
      const { lead, contact } = refill;
      const form = contact[field];
      if (form === null) continue;
      const holder = taken.get(form) ?? lead.id;
      taken.set(form, holder);
      if (holder === lead.id) continue;
      contact[field] = normalizedOf(lead, field);
      refill.conflicts = true;
    }
  }
}

function refilledIdentityOf({ lead, contact, conflicts }: Refill, region: string): LeadIdentity {
  const identity = identityOf(lead, contact, region);
  if (!conflicts) return identity;
  return { ...identity, search_text: markToRewrite(identity.search_text) };
}
