import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { Organization } from '../auth/organization.entity.js';
import { NOW } from '../../platform/data/records/now.js';
import { Lead } from '../leads/lead.entity.js';
import type { AppointmentStatus } from './appointment.dto.js';

@Entity('appointments')
@Index('appointments_by_start_time', ['organization_id', 'start_time', 'id'])
@Index('appointments_by_created_at', ['organization_id', 'created_at', 'id'])
@Index('appointments_by_status', ['organization_id', 'status', 'start_time', 'id'])
@Index('appointments_by_lead', ['organization_id', 'lead_id', 'start_time', 'id'])
export class Appointment {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'appointments_pkey' }) organization_id: string;
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'appointments_pkey' }) id: string;
  @ManyToOne(() => Organization)
  @JoinColumn({
    name: 'organization_id',
    foreignKeyConstraintName: 'appointments_organization_id_fkey',
  })
  organization?: Organization;
  @Column('uuid') lead_id: string;
  @ManyToOne(() => Lead, { onDelete: 'CASCADE' })
  @JoinColumn([
    {
      name: 'organization_id',
      referencedColumnName: 'organization_id',
      foreignKeyConstraintName: 'appointments_organization_id_lead_id_fkey',
    },
    {
      name: 'lead_id',
      referencedColumnName: 'id',
      foreignKeyConstraintName: 'appointments_organization_id_lead_id_fkey',
    },
  ])
  lead?: Lead;
  @Column('timestamp with time zone', { precision: 3 }) start_time: Date;
  @Column('timestamp with time zone', { precision: 3 }) end_time: Date;
  @Column('text', { nullable: true }) type: string | null;
  @Column('text', { nullable: true }) location: string | null;
  @Column('text', { nullable: true }) notes: string | null;
  @Column('text') status: AppointmentStatus;
  @Column('text') booked_by: 'api' | 'ai';
  @Column('text', { nullable: true }) outcome: string | null;
  @Column('text', { nullable: true }) outcome_notes: string | null;
  @Column('timestamp with time zone', { precision: 3, default: NOW }) created_at: Date;
  @Column('timestamp with time zone', { precision: 3, default: NOW }) updated_at: Date;
}
