import { LEAD_SORTS } from './lead.dto.js';
import { tenantTable } from '../../platform/data/records/tenant-table.js';

export const leadsTable = tenantTable('leads', {
  counted: ['status', 'temperature'],
  sorts: LEAD_SORTS,
  events: { name: 'lead' },
});
