import { Lead, TenantEntity } from 'latitude';
import { MessageDto } from './message.dto.js';

@TenantEntity('messages', {
  softDelete: false,
  counted: ['status'],
  references: { lead_id: { entity: () => Lead, onDelete: 'cascade' } },
  events: {
    name: 'message',
    transitions: {
      sent: { status: 'sent' },
      delivered: { status: 'delivered' },
      failed: { status: 'failed' },
    },
  },
})
export class Message extends MessageDto {}
