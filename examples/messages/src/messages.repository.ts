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
import { type CreateMessageDto, MessageDto, type MessageListQuery } from './message.dto.js';
import { messagesTable } from './messages.table.js';

@Injectable()
export class MessagesRepository extends TenantRepository<MessageDto> {
  private readonly items: RecordList<MessageDto>;

  constructor(database: TenantDatabase) {
    super(database, messagesTable, MessageDto);
    this.items = new RecordList(database, { table: messagesTable, item: MessageDto });
  }

  list(call: TenantCall, query: MessageListQuery): Promise<Page<MessageDto>> {
    const conditions = new Conditions(call, messagesTable.notDeleted)
      .equal('status', query.status)
      .equal('lead_id', query.lead_id, 'uuid');
    return this.items.page(conditions, query);
  }

  /** @returns undefined if the lead has been deleted */
  insert(call: TenantCall, { lead_id, text }: CreateMessageDto): Promise<MessageDto | undefined> {
    const row = { lead_id, id: uuidv7(), text, status: 'queued' };
    return this.insertRow(call, row, { lead_id: existingLeadsSql });
  }
}
