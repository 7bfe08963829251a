import { Inject, Injectable } from '@nestjs/common';
import { ApiError } from '../../../platform/errors/api-error.js';
import type { Call } from '../../../platform/data/call.js';
import { ComplianceRule } from './compliance-rule.js';
import type { LeadDto } from '../lead.dto.js';

/**
 * Refuses messages to leads that must not be contacted, for modules that send messages
 * (docs/contract/resources.md#messaging).
 */
@Injectable()
export class LeadComplianceService {
  constructor(@Inject(ComplianceRule) private readonly rules: readonly ComplianceRule[]) {}

  /** @throws ApiError `compliance_blocked` with the reasons of all rules that refuse the lead */
  async assertContactable(call: Call, lead: LeadDto): Promise<void> {
    const results = await Promise.all(this.rules.map(async (rule) => rule.check(lead, call)));
    const reasons = results.filter((reason) => reason !== undefined);
    if (reasons.length === 0) return;
    throw new ApiError('compliance_blocked', { message: `The lead ${reasons.join(' and ')}.` });
  }
}
