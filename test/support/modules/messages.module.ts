import { Body, Controller, Injectable, Module, Post } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { RequireScope } from '../../../src/platform/http/routes/access.js';
import { DeletedDto } from '../../../src/platform/fields/deleted.dto.js';
import { RecordOf } from '../../../src/platform/fields/field.js';
import { Flag, Integer, OneOf, Text, Uuid } from '../../../src/platform/fields/kinds/kinds.js';
import { Id } from '../../../src/platform/http/request/id.decorator.js';
import { LeadComplianceService } from '../../../src/modules/leads/lead-compliance.service.js';
import { LeadsModule } from '../../../src/modules/leads/leads.module.js';
import { LeadsService } from '../../../src/modules/leads/leads.service.js';
import {
  Completion,
  type CompletionMatches,
} from '../../../src/modules/mcp/prompts/completion.decorator.js';
import { LabelledId } from '../../../src/modules/mcp/prompts/labelled-id.js';
import { Prompt, type PromptPart } from '../../../src/modules/mcp/prompts/prompt.decorator.js';
import { Resource } from '../../../src/modules/mcp/resources/resource.decorator.js';
import { Tool } from '../../../src/modules/mcp/tools/tool.decorator.js';
import { CurrentCall } from '../../../src/platform/http/request/api-request.js';
import type { Call } from '../../../src/platform/data/call.js';
import { LEADS } from '../../../src/testing/factories.js';

class SendMessageDto {
  @Text({ max: 160, required: true }) text: string;
  @Flag({ default: false }) urgent?: boolean;
}

class MessageDto extends RecordOf(SendMessageDto) {
  @Uuid({ required: true }) lead_id: string;
}

class ReasonDto {
  @Text({ max: 50, required: true }) reason: string;
}

export class CountDto {
  @Integer({ min: 0, max: 100, required: true }) count: number;
  @Text({ max: 10, required: true }) channel: string;
}

@Injectable()
class MessagesService {
  constructor(
    private readonly leads: LeadsService,
    private readonly compliance: LeadComplianceService,
  ) {}

  async send(call: Call, leadId: string, message: SendMessageDto): Promise<MessageDto> {
    await this.compliance.assertContactable(call, await this.leads.get(call, leadId));
    return { id: uuidv7(), lead_id: leadId, urgent: false, ...message };
  }
}

@Controller(`${LEADS}/:id/messages`)
class MessagesController {
  constructor(private readonly messages: MessagesService) {}

  @Post()
  @RequireScope('leads:write')
  send(@CurrentCall() call: Call, @Id() id: string, @Body() message: SendMessageDto) {
    return this.messages.send(call, id, message);
  }
}

@Injectable()
class MessagesTools {
  constructor(
    private readonly messages: MessagesService,
    private readonly leads: LeadsService,
  ) {}

  @Tool('send_message', {
    title: 'Send a message',
    description: 'Send a text message to a lead.',
    effect: 'creates',
    scope: 'leads:write',
    id: 'Id of the lead, from list_leads.',
    input: SendMessageDto,
    output: MessageDto,
  })
  send(call: Call, id: string, message: SendMessageDto) {
    return this.messages.send(call, id, message);
  }

  @Tool('delete_thread', {
    title: 'Delete a thread',
    description: 'Delete a lead with all that was said.',
    effect: 'deletes',
    scope: 'leads:write',
    id: 'Id of the lead, from list_leads.',
    input: ReasonDto,
    output: DeletedDto,
  })
  async delete(call: Call, id: string, { reason }: ReasonDto) {
    await this.leads.update(call, id, { notes: reason });
    return this.leads.delete(call, id);
  }

  @Tool('count_messages', {
    title: 'Count messages',
    description: 'Count what was sent to nobody.',
    effect: 'reads',
    scope: 'leads:read',
    output: CountDto,
  })
  count({ actor }: Call) {
    return { count: 0, channel: actor.channel };
  }
}

class ThankLeadDto {
  @LabelledId('lead', { required: true, description: 'The lead to thank.' })
  lead_id: string;
  @OneOf(['letter', 'call'], { default: 'letter', description: 'How to thank.' })
  way: string;
}

@Injectable()
class MessagesPrompts {
  constructor(private readonly leads: LeadsService) {}

  @Prompt('thank_lead', {
    title: 'Thank a lead',
    description: 'Draft words of thanks to a lead.',
    scopes: ['leads:read'],
    input: ThankLeadDto,
  })
  async thank(call: Call, { lead_id, way }: ThankLeadDto): Promise<PromptPart[]> {
    const record = await this.leads.get(call, lead_id);
    return [`Draft a ${way} of thanks to this lead:`, { kind: 'lead', record }];
  }

  @Resource({ name: 'thread', title: 'Thread', description: 'A thread.', scope: 'leads:read' })
  read(_: Call, id: string) {
    return { id };
  }

  @Completion({ name: 'thread', scope: 'leads:read' })
  find(_: Call, typed: string): CompletionMatches {
    return { matches: [{ id: `${typed}-1`, label: 'Hello' }], hasMore: true };
  }
}

@Module({
  imports: [LeadsModule],
  controllers: [MessagesController],
  providers: [MessagesService, MessagesTools, MessagesPrompts],
})
export class MessagesModule {}
