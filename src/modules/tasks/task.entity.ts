import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { Organization } from '../auth/organization.entity.js';
import { NOW } from '../../platform/data/records/now.js';
import { Lead } from '../leads/lead.entity.js';
import type { TaskPriority, TaskStatus } from './task.dto.js';

/** The expression of the migration, character for character: TypeORM compares it. */
const PRIORITY_RANK = `array_position(
  array['low', 'medium', 'high', 'urgent'], priority)`;

@Entity('tasks')
@Index('tasks_by_created_at', { synchronize: false })
@Index('tasks_by_due_date', { synchronize: false })
@Index('tasks_by_due_date_desc', { synchronize: false })
@Index('tasks_by_priority', { synchronize: false })
@Index('tasks_by_status', { synchronize: false })
@Index('tasks_by_assignee', { synchronize: false })
@Index('tasks_by_contact', ['organization_id', 'contact_id', 'created_at', 'id'])
@Index('tasks_deleted', { synchronize: false })
export class Task {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'tasks_pkey' }) organization_id: string;
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'tasks_pkey' }) id: string;
  @ManyToOne(() => Organization)
  @JoinColumn({ name: 'organization_id', foreignKeyConstraintName: 'tasks_organization_id_fkey' })
  organization?: Organization;
  @Column('text') title: string;
  @Column('text', { nullable: true }) description: string | null;
  @Column('text') priority: TaskPriority;
  @Column('text') status: TaskStatus;
  @Column('timestamp with time zone', { precision: 3, nullable: true }) due_date: Date | null;
  @Column('uuid', { nullable: true }) contact_id: string | null;
  /** Removing the lead sets only `contact_id` to null, which the migration declares. */
  @ManyToOne(() => Lead, { onDelete: 'SET NULL' })
  @JoinColumn([
    {
      name: 'organization_id',
      referencedColumnName: 'organization_id',
      foreignKeyConstraintName: 'tasks_organization_id_contact_id_fkey',
    },
    {
      name: 'contact_id',
      referencedColumnName: 'id',
      foreignKeyConstraintName: 'tasks_organization_id_contact_id_fkey',
    },
  ])
  contact?: Lead;
  @Column('uuid', { nullable: true }) assigned_to_user_id: string | null;
  @Column('uuid', { nullable: true }) created_by_user_id: string | null;
  @Column('boolean') created_by_ai: boolean;
  @Column('timestamp with time zone', { precision: 3, default: NOW }) created_at: Date;
  @Column('timestamp with time zone', { precision: 3, default: NOW }) updated_at: Date;
  @Column('timestamp with time zone', { precision: 3, nullable: true }) deleted_at: Date | null;
  @Column({
    type: 'integer',
    select: false,
    insert: false,
    update: false,
    generatedType: 'STORED',
    asExpression: PRIORITY_RANK,
  })
  priority_rank: number;
}
