import { APPOINTMENT_SORTS } from './appointment.dto.js';
import { tenantTable } from '../../platform/data/records/tenant-table.js';

export const appointmentsTable = tenantTable('appointments', {
  softDelete: false,
  counted: ['status'],
  references: { lead_id: { table: 'leads', onDelete: 'cascade' } },
  order: 'start_time',
  events: { name: 'appointment', transitions: { cancelled: { status: 'cancelled' } } },
  sorts: APPOINTMENT_SORTS,
});
