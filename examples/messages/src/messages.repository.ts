import { Injectable } from '@nestjs/common';
import {
  Conditions,
  existingLeadsSql,
  type Page,
  RecordList,
  type TenantCall,
  TenantDatabase,
  TenantRepository,
} from 'latitude';
import { v7 as uuidv7 } from 'uuid';
import type { CreateMessageDto, MessageDto, MessageListQuery } from './message.dto.js';
import { Message } from './message.entity.js';

@Injectable()
export class MessagesRepository extends TenantRepository<Message> {
  private readonly items: RecordList<Message>;

  constructor(database: TenantDatabase) {
    super(database, Message);
    this.items = new RecordList(database, { entity: Message });
  }

  list(call: TenantCall, query: MessageListQuery): Promise<Page<MessageDto>> {
    const conditions = new Conditions(call, this.table.notDeleted)
      .equal('status', query.status)
      .equal('lead_id', query.lead_id, 'uuid');
    return this.items.page(conditions, query);
  }

  /** The latest messages to a lead, the newest first. */
  latestTo(call: TenantCall, leadId: string, limit: number): Promise<MessageDto[]> {
    return this.query(call, (messages) =>
      messages.where({ lead_id: leadId }).orderBy('messages.created_at', 'DESC').limit(limit),
    );
  }

  /** @returns undefined if the lead has been deleted */
  insert(call: TenantCall, { lead_id, text }: CreateMessageDto): Promise<MessageDto | undefined> {
    const row = { lead_id, id: uuidv7(), text, status: 'queued' };
    return this.insertRow(call, row, { lead_id: existingLeadsSql });
  }
}
