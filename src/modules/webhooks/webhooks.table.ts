import { tenantTable } from '../../platform/data/records/tenant-table.js';

export const webhooksTable = tenantTable('webhooks', { softDelete: false });

/** The table of deliveries. A purge of a record removes the deliveries of its events. */
export const deliveriesTable = tenantTable('webhook_deliveries', {
  softDelete: false,
  references: { webhook_id: { table: 'webhooks', onDelete: 'cascade' } },
  about: 'record_id',
});
