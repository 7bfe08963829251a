import { ForeignKey, Index } from 'typeorm';
import { Organization } from '../auth/organization.entity.js';
import { Lead } from '../leads/lead.entity.js';
import { Resource } from '../resources/resource.entity.js';
import { TenantEntity } from '../../platform/data/records/tenant-entity.js';
import { APPOINTMENT_SORTS, AppointmentDto } from './appointment.dto.js';

/** An appointment. Its fields are those of its responses. It is cancelled and not deleted. */
@TenantEntity('appointments', {
  softDelete: false,
  counted: ['status', 'type'],
  references: {
    lead_id: { entity: () => Lead, onDelete: 'cascade' },
    // Removing the resource sets only `resource_id` to null, which the migration declares.
    resource_id: { entity: () => Resource, onDelete: 'set null' },
  },
  order: 'start_time',
  events: { name: 'appointment', transitions: { cancelled: { status: 'cancelled' } } },
  sorts: APPOINTMENT_SORTS,
})
@ForeignKey(() => Organization, ['organization_id'], ['id'])
@Index('appointments_by_start_time', ['organization_id', 'start_time', 'id'])
@Index('appointments_by_created_at', ['organization_id', 'created_at', 'id'])
@Index('appointments_by_status', ['organization_id', 'status', 'start_time', 'id'])
@Index('appointments_by_type', ['organization_id', 'type', 'start_time', 'id'])
@Index('appointments_by_updated_at', ['organization_id', 'updated_at', 'id'])
@Index('appointments_by_resource', { synchronize: false })
@Index('appointments_by_lead', ['organization_id', 'lead_id', 'start_time', 'id'])
export class Appointment extends AppointmentDto {}
