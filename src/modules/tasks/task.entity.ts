import { Column, ForeignKey, Index } from 'typeorm';
import { Organization } from '../auth/organization.entity.js';
import { Lead } from '../leads/lead.entity.js';
import { contactableSql } from '../leads/lead-fields.js';
import { TenantEntity } from '../../platform/data/records/tenant-entity.js';
import { TaskDto } from './task.dto.js';

/** The expression of the migration, character for character: TypeORM compares it. */
const PRIORITY_RANK = `array_position(
  array['low', 'medium', 'high', 'urgent'], priority)`;

/** A task. Its fields are those of its responses. */
@TenantEntity('tasks', {
  counted: ['status', 'assigned_to_user_id', 'priority'],
  sorts: ['due_date', 'priority_rank', 'updated_at'],
  updateTimes: true,
  events: {
    name: 'task',
    transitions: { completed: { status: 'completed' } },
    scheduled: {
      overdue: {
        isDue: `due_date = due_at and status in ('open', 'in_progress')`,
        values: { contactable: contactableSql('contact_id') },
      },
    },
  },
  // Removing the lead sets only `contact_id` to null, which the migration declares.
  references: { contact_id: { entity: () => Lead, onDelete: 'set null' } },
})
@ForeignKey(() => Organization, ['organization_id'], ['id'])
@Index('tasks_by_created_at', { synchronize: false })
@Index('tasks_by_due_date', { synchronize: false })
@Index('tasks_by_due_date_desc', { synchronize: false })
@Index('tasks_by_priority', { synchronize: false })
@Index('tasks_by_status', { synchronize: false })
@Index('tasks_of_priority', { synchronize: false })
@Index('tasks_by_assignee', { synchronize: false })
@Index('tasks_by_contact', ['organization_id', 'contact_id', 'created_at', 'id'])
@Index('tasks_deleted', { synchronize: false })
export class Task extends TaskDto {
  @Column({
    type: 'integer',
    select: false,
    insert: false,
    update: false,
    generatedType: 'STORED',
    asExpression: PRIORITY_RANK,
  })
  priority_rank?: number;
}
