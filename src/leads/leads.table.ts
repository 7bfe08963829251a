import { tenantTable } from '../database/records/tenant-table.js';

/** The table of leads. */
export const leadsTable = tenantTable('leads', { counted: ['status', 'temperature'] });
