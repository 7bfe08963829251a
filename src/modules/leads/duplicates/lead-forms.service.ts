import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { isCanceled } from '../../../platform/data/connection/driver-error.js';
import type { InTransaction, TenantCall } from '../../../platform/data/call.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import { giveWay } from '../../../platform/give-way.js';
import { formsOf, type LeadForms, REASONS } from './lead-forms.js';
import { LeadFormsRepository, type StoredForms } from './lead-forms.repository.js';
import { connectedBy, joinedBy } from './lead-groups.js';

/** Larger groups are neither divided nor moved into another one, so that no change of a lead takes long. */
const MAX_CHANGED = 10_000;

/** Maximum number of leads in one transaction. */
const BATCH = 500;

/**
 * Stores the forms of leads, and unites leads with an equal form to groups (docs/contract/duplicates.md#groups). No write of a
 * lead does this: it runs in the background.
 */
@Injectable()
export class LeadFormsService {
  constructor(
    private readonly database: TenantDatabase,
    private readonly repository: LeadFormsRepository,
  ) {}

  /** Lets an organization have its forms kept. @returns whether it did not before */
  begin(call: InTransaction): Promise<boolean> {
    return this.repository.begin(call);
  }

  /**
   * Stores the forms of leads as they are now, if the organization has asked for likely duplicates. Leads that do not exist
   * leave their groups.
   * @param region of numbers without a country code
   * @throws ApiError `create_failed`, `overloaded`
   */
  async update(call: TenantCall, region: string, ids: readonly string[]): Promise<void> {
    let size = BATCH;
    for (let start = 0; start < ids.length;) {
      const batch = ids.slice(start, start + size);
      try {
        await this.database.transaction(call, (inner) => this.updateBatch(inner, region, batch));
        start += batch.length;
      } catch (error) {
        // Leads of many large groups can take longer than a transaction may. Fewer leads take less time.
        if (!isCanceled(error) || batch.length === 1) throw error;
        size = Math.ceil(batch.length / 4);
      }
    }
  }

  /**
   * Stores the forms of all leads that have none, in small transactions. It can be repeated from the beginning.
   * @param mayContinue called before each transaction
   * @throws ApiError `query_failed`, `create_failed`
   */
  async fill(call: TenantCall, region: string, mayContinue: () => boolean): Promise<void> {
    let after: string | undefined;
    while (mayContinue()) {
      const leads = await this.repository.readNext(call, after, BATCH);
      const missing = leads.filter(({ has_forms }) => !has_forms);
      await this.update(
        call,
        region,
        missing.map(({ id }) => id),
      );
      if (leads.length < BATCH) return;
      after = leads.at(-1)?.id;
    }
  }

  private async updateBatch(call: InTransaction, region: string, ids: readonly string[]) {
    if (!(await this.repository.lock(call))) return;
    const leads = await this.repository.readLeads(call, ids);
    const stored = await this.repository.readForms(call, ids);
    const known = new Map(stored.map((forms) => [forms.id, forms]));
    const existing = new Set(leads.map(({ id }) => id));
    const changed: LeadForms[] = [];
    for (const lead of leads) {
      await giveWay();
      const forms = formsOf(lead, region);
      if (!isEqual(forms, known.get(forms.id))) changed.push(forms);
    }
    const gone = stored.filter(({ id }) => !existing.has(id));
    const left = [...gone, ...changed].flatMap(({ id }) => known.get(id)?.group_id ?? []);
    if (gone.length > 0)
      await this.repository.remove(
        call,
        gone.map(({ id }) => id),
      );
    if (changed.length > 0) await this.repository.store(call, changed);
    for (const group of new Set(left)) await this.divide(call, group);
    if (changed.length > 0) await this.join(call, changed);
  }

  /** Divides a group that leads have left, unless it is too large. The largest part keeps the group. */
  private async divide(call: InTransaction, group: string): Promise<void> {
    const leads = await this.repository.readGroup(call, group, MAX_CHANGED + 1);
    if (leads.length > MAX_CHANGED) return;
    const [largest = [], ...others] = connectedBy(leads).sort(
      (one, other) => other.length - one.length,
    );
    const parts = largest.length > 1 ? others : [largest, ...others];
    const memberships = parts.flatMap((part) => {
      const joined = part.length > 1 ? uuidv7() : null;
      return part.map((lead_id) => ({ lead_id, joined }));
    });
    if (memberships.length > 0) await this.repository.setGroups(call, memberships);
  }

  /** Joins leads without a group and those with an equal form to groups. */
  private async join(call: InTransaction, leads: readonly LeadForms[]): Promise<void> {
    const links = await this.repository.findLinks(call, leads);
    const memberships = [];
    for (const joined of joinedBy(links)) {
      const group = await this.unite(call, joined.groups);
      memberships.push(...joined.leads.map((lead_id) => ({ lead_id, joined: group })));
    }
    if (memberships.length > 0) await this.repository.setGroups(call, memberships);
  }

  /**
   * Moves the leads of groups into the largest one, except those of groups that are too large.
   * @returns the largest group, or a new one
   */
  private async unite(call: InTransaction, groups: readonly string[]): Promise<string> {
    const [only = uuidv7()] = groups;
    if (groups.length < 2) return only;
    const sizes = await this.repository.sizesOf(call, groups, MAX_CHANGED + 1);
    const [largest = only, ...others] = [...groups].sort(
      (one, other) => (sizes.get(other) ?? 0) - (sizes.get(one) ?? 0) || (one < other ? -1 : 1),
    );
    const moved = others.filter((group) => (sizes.get(group) ?? 0) <= MAX_CHANGED);
    if (moved.length > 0) await this.repository.moveGroups(call, moved, largest);
    return largest;
  }
}

function isEqual(forms: LeadForms, stored: StoredForms | undefined): boolean {
  return stored !== undefined && REASONS.every((reason) => forms[reason] === stored[reason]);
}
