import { Injectable } from '@nestjs/common';
import { LabelledId } from '../mcp/prompts/labelled-id.js';
import { Prompt, type PromptPart } from '../mcp/prompts/prompt.decorator.js';
import type { Call } from '../../platform/data/call.js';
import { listParts } from './prompt-parts.js';
import { SalesRecords } from './sales-records.js';

class FollowUpLeadDto {
  @LabelledId('lead', { required: true, description: 'The lead to follow up on.' })
  lead_id: string;
}

@Injectable()
export class FollowUpLeadPrompt {
  constructor(private readonly records: SalesRecords) {}

  @Prompt('follow_up_lead', {
    title: 'Follow up on a lead',
    description: 'Propose the next step with a lead, from its data, appointments and open tasks.',
    scopes: ['leads:read', 'appointments:read', 'tasks:read'],
    input: FollowUpLeadDto,
  })
  async build(call: Call, { lead_id }: FollowUpLeadDto): Promise<PromptPart[]> {
    const lead = await this.records.lead(call, lead_id);
    const [appointments, tasks, contactRule] = await Promise.all([
      this.records.appointmentsWith(call, lead_id),
      this.records.openTasks(call, { contact_id: lead_id }),
      this.records.contactRule(call, lead),
    ]);
    return [
      `Help me follow up on a lead. It is ${new Date().toISOString()}. The lead:`,
      { kind: 'lead', record: lead },
      ...listParts('Its appointments, the latest first', 'appointment', appointments),
      ...listParts('Open tasks about it, the most pressing first', 'task', tasks),
      contactRule,
      'Tell me in a few sentences where we stand, then propose the one next step, and when to take it. ' +
        'If it is an appointment or a task, ask me before you create it; if it is a message that may be sent, draft it.',
    ];
  }
}
