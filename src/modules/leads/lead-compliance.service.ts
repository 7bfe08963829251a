import { Inject, Injectable } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { ApiError } from '../../platform/errors/api-error.js';
import type { LeadDto } from './lead.dto.js';

/**
 * Decides whether a lead may be contacted. Extensions add rules or replace them all
 * (docs/guides/replace-and-add.md#compliance-rules).
 */
export abstract class ComplianceRule {
  /**
   * @returns why the lead must not be contacted, to follow the words "The lead", such as
   *   `has opted out of text messages`; undefined if it may be contacted
   */
  abstract check(lead: LeadDto, call: Call): string | undefined | Promise<string | undefined>;
}

@Injectable()
export class OptOutRule extends ComplianceRule {
  check({ sms_opted_out }: LeadDto): string | undefined {
    return sms_opted_out ? 'has opted out of text messages' : undefined;
  }
}

@Injectable()
export class DoNotCallRule extends ComplianceRule {
  check({ on_dnc_list }: LeadDto): string | undefined {
    return on_dnc_list ? 'is on the do-not-call list' : undefined;
  }
}

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
