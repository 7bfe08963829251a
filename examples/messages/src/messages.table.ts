import { tenantTable } from 'latitude';

export const messagesTable = tenantTable('messages', {
  softDelete: false,
  counted: ['status'],
  references: { lead_id: { table: 'leads', onDelete: 'cascade' } },
  events: {
    name: 'message',
    transitions: {
      sent: { status: 'sent' },
      delivered: { status: 'delivered' },
      failed: { status: 'failed' },
    },
  },
});
