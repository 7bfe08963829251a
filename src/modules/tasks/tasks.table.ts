import { tenantTable } from '../../platform/data/records/tenant-table.js';

export const tasksTable = tenantTable('tasks', {
  counted: ['status', 'assigned_to_user_id'],
  sorts: ['due_date', 'priority_rank'],
  events: { name: 'task', transitions: { completed: { status: 'completed' } } },
  references: { contact_id: { table: 'leads', onDelete: 'set null' } },
});
