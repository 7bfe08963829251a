import { Injectable } from '@nestjs/common';
import { ApiError } from '../errors/api-error.js';
import type { LeadDto } from './lead.dto.js';

/**
 * Refuses messages to leads that must not be contacted, for modules that send messages
 * (docs/contract/resources.md#messaging).
 */
@Injectable()
export class LeadComplianceService {
  /** @throws ApiError `compliance_blocked` for a lead that opted out or is on the do-not-call list */
  assertContactable(lead: Pick<LeadDto, 'sms_opted_out' | 'on_dnc_list'>): void {
    const reasons: string[] = [];
    if (lead.sms_opted_out) reasons.push('has opted out of text messages');
    if (lead.on_dnc_list) reasons.push('is on the do-not-call list');
    if (reasons.length === 0) return;
    throw new ApiError('compliance_blocked', { message: `The lead ${reasons.join(' and ')}.` });
  }
}
