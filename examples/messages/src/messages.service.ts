import { Injectable } from '@nestjs/common';
import {
  type Actor,
  LeadComplianceService,
  leadNotFound,
  LeadsService,
  orNotFound,
  type Page,
  TenantDatabase,
  validationError,
} from 'latitude';
import type { CreateMessageDto, MessageDto, MessageListQuery, Status } from './message.dto.js';
import { MessagesRepository } from './messages.repository.js';
import { SmsProvider } from './sms-provider.js';

@Injectable()
export class MessagesService {
  constructor(
    private readonly messages: MessagesRepository,
    private readonly leads: LeadsService,
    private readonly compliance: LeadComplianceService,
    private readonly database: TenantDatabase,
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

  async send(actor: Actor, input: CreateMessageDto): Promise<MessageDto> {
    const { organization } = actor;
    const lead = await this.leads.getReferenced(actor, 'lead_id', input.lead_id);
    await this.compliance.assertContactable(actor, lead);
    const { phone } = lead;
    if (phone === null) {
      throw validationError([{ field: 'lead_id', message: 'names a lead without a phone number' }]);
    }
    this.provider.assertConfigured();
    const message = await this.messages.insert(organization, input);
    if (!message) throw leadNotFound('lead_id');
    await this.database.afterCommit(organization, () => this.deliver(actor, message, phone));
    return message;
  }

  /** Calls the provider and stores the result. */
  private async deliver({ organization }: Actor, { id, text }: MessageDto, to: string) {
    const setStatus = (status: MessageDto['status']) =>
      this.messages.update(organization, id, () => ({ status }));
    try {
      await this.provider.send({ id, account: organization.id, to, text });
    } catch (error) {
      await setStatus('failed');
      throw error;
    }
    await setStatus('sent');
  }
}
