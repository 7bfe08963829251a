import { Injectable } from '@nestjs/common';
import { nullsForMissing } from '../../platform/fields/changes.js';
import { CreateLeadDto, type LeadDto } from './lead.dto.js';

/** The fields from which a score may be computed. */
export type ScorableLead = Omit<LeadDto, 'id' | 'lead_score' | 'created_at' | 'updated_at'>;

/** The fields of a lead that are not computed, from those of an input. */
export function scorable(input: CreateLeadDto): ScorableLead {
  return nullsForMissing(CreateLeadDto, input) as ScorableLead;
}

/** Computes `lead_score` on every write. An extension can replace it (docs/guides/replace-and-add.md#lead-score). */
export abstract class LeadScorer {
  /**
   * The fields that the score depends on. An update of other fields keeps the score and does not read the lead.
   * @returns undefined if the score can depend on any field; the default
   */
  scoredFields(): readonly (keyof ScorableLead)[] | undefined {
    return undefined;
  }

  /** @returns an integer from 0 to 100, the same for the same fields */
  abstract score(lead: ScorableLead): number;
}

const SCORED_FIELDS = [
  'email',
  'phone',
  'company',
  'last_name',
  'address_street',
  'city',
  'temperature',
  'source',
  'sms_opted_out',
  'on_dnc_list',
] as const;

/**
 * The default formula. It adds points for known contact data, the temperature and the source, at most
 * 100. A lead that must not be contacted gets half of its points, rounded down.
 */
@Injectable()
export class DefaultLeadScorer extends LeadScorer {
  /** Returns undefined for a subclass, because its formula can use other fields. */
  override scoredFields(): readonly (keyof ScorableLead)[] | undefined {
    return this.constructor === DefaultLeadScorer ? SCORED_FIELDS : undefined;
  }

  score(lead: ScorableLead): number {
    let points = 0;
    if (lead.email !== null) points += 20;
    if (lead.phone !== null) points += 20;
    if (lead.company !== null) points += 10;
    if (lead.last_name !== null) points += 5;
    if (lead.address_street !== null && lead.city !== null) points += 5;
    if (lead.temperature === 'hot') points += 30;
    if (lead.temperature === 'warm') points += 15;
    if (lead.source === 'referral') points += 10;
    if (lead.source === 'website') points += 5;
    return lead.sms_opted_out || lead.on_dnc_list ? Math.floor(points / 2) : points;
  }
}
