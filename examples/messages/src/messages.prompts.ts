import { Injectable } from '@nestjs/common';
import { type Call, LabelledId, LeadsService, Prompt, type PromptPart } from 'latitude';
import { MessagesService } from './messages.service.js';

class DraftMessageDto {
  @LabelledId('lead', { required: true, description: 'The lead to write to.' })
  lead_id: string;
}

@Injectable()
export class MessagesPrompts {
  constructor(
    private readonly leads: LeadsService,
    private readonly messages: MessagesService,
  ) {}

  @Prompt('draft_message', {
    title: 'Draft a message',
    description: 'Draft the next text message to a lead, from the latest ones.',
    scopes: ['leads:read', 'messages:read'],
    input: DraftMessageDto,
  })
  async draft(call: Call, { lead_id }: DraftMessageDto): Promise<PromptPart[]> {
    const lead = await this.leads.get(call, lead_id);
    const latest = await this.messages.latestTo(call, lead_id);
    return [
      'Draft a text message to this lead:',
      { kind: 'lead', record: lead },
      'The latest messages to the lead, the newest first:',
      ...latest.map((record) => ({ kind: 'message', record })),
      'Show me the draft. Send it with send_message only after I agree.',
    ];
  }
}
