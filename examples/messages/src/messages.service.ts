import { Injectable } from '@nestjs/common';
import {
  type Actor,
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

  list(actor: Actor, query: MessageListQuery): Promise<Page<MessageDto>> {
    return this.messages.list(actor.organization, query);
  }

  async get(actor: Actor, id: string): Promise<MessageDto> {
    return orNotFound(await this.messages.find(actor.organization, id), 'message');
  }

  /** Stores what the provider reports about a message. */
  async setStatus(actor: Actor, id: string, status: Status): Promise<MessageDto> {
    const changed = await this.messages.update(actor.organization, id, () => ({ status }));
    return orNotFound(changed, 'message');
  }

  /** Stores a message and the job that sends it: both, or neither. */
  async send(actor: Actor, input: CreateMessageDto): Promise<MessageDto> {
    const lead = await this.leads.getReferenced(actor, 'lead_id', input.lead_id);
    await this.compliance.assertContactable(actor, lead);
    if (lead.phone === null) {
      throw validationError([{ field: 'lead_id', message: 'names a lead without a phone number' }]);
    }
    this.provider.assertConfigured();
    return this.database.transaction(actor.organization, async (_, tenant) => {
      const message = await this.messages.insert(tenant, input);
      if (!message) throw leadNotFound('lead_id');
      await this.jobs.send(tenant, SEND_MESSAGE, { messageId: message.id });
      return message;
    });
  }
}
