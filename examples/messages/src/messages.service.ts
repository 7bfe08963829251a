import { Injectable } from '@nestjs/common';
import {
  type Call,
  JobsService,
  LeadComplianceService,
  leadNotFound,
  LeadsService,
  orNotFound,
  type Page,
  TenantDatabase,
  validationError,
} from 'latitude';
import type { CreateMessageDto, MessageDto, MessageListQuery, Status } from './message.dto.js';
import { SEND_MESSAGE } from './messages.jobs.js';
import { MessagesRepository } from './messages.repository.js';
import { SmsProvider } from './sms-provider.js';

@Injectable()
export class MessagesService {
  constructor(
    private readonly messages: MessagesRepository,
    private readonly leads: LeadsService,
    private readonly compliance: LeadComplianceService,
    private readonly database: TenantDatabase,
    private readonly jobs: JobsService,
    private readonly provider: SmsProvider,
  ) {}

  list(call: Call, query: MessageListQuery): Promise<Page<MessageDto>> {
    return this.messages.list(call, query);
  }

  latestTo(call: Call, leadId: string): Promise<MessageDto[]> {
    return this.messages.latestTo(call, leadId, 10);
  }

  async get(call: Call, id: string): Promise<MessageDto> {
    return orNotFound(await this.messages.find(call, id), 'message');
  }

  /** Stores what the provider reports about a message. */
  async setStatus(call: Call, id: string, status: Status): Promise<MessageDto> {
    const changed = await this.messages.update(call, id, () => ({ status }));
    return orNotFound(changed, 'message');
  }

  /** Stores a message and the job that sends it: both, or neither. */
  async send(call: Call, input: CreateMessageDto): Promise<MessageDto> {
    const lead = await this.leads.getReferenced(call, 'lead_id', input.lead_id);
    await this.compliance.assertContactable(call, lead);
    if (lead.phone === null) {
      throw validationError([{ field: 'lead_id', message: 'names a lead without a phone number' }]);
    }
    this.provider.assertConfigured();
    return this.database.transaction(call, async (inner) => {
      const message = await this.messages.insert(inner, input);
      if (!message) throw leadNotFound('lead_id');
      await this.jobs.send(inner, SEND_MESSAGE, { messageId: message.id });
      return message;
    });
  }
}
