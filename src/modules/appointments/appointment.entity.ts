import { ForeignKey, Index } from 'typeorm';
import { Organization } from '../auth/organization.entity.js';
import { Lead } from '../leads/lead.entity.js';
import { contactableSql } from '../leads/lead-fields.js';
import { Resource } from '../resources/resource.entity.js';
import { TenantEntity } from '../../platform/data/records/tenant-entity.js';
import { APPOINTMENT_SORTS, AppointmentDto } from './appointment.dto.js';

/** The reminders of an appointment, or those of its resource. */
const REMINDERS = `coalesce(remind_before_minutes, (select resource.remind_before_minutes from resources resource
  where organization_id = $1 and resource.id = resource_id))`;

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
  events: {
    name: 'appointment',
    transitions: { cancelled: { status: 'cancelled' } },
    scheduled: {
      starting: {
        isDue: `status in ('scheduled', 'confirmed') and start_time > clock_timestamp() and due_at = any(
          select start_time - make_interval(mins => minutes) from unnest(${REMINDERS}) minutes)`,
        values: {
          contactable: contactableSql('lead_id'),
          remind_before_minutes: '(extract(epoch from start_time - due_at) / 60)::integer',
        },
      },
    },
  },
  sorts: APPOINTMENT_SORTS,
  updateTimes: true,
})
@ForeignKey(() => Organization, ['organization_id'], ['id'])
@Index('appointments_by_start_time', ['organization_id', 'start_time', 'id'])
@Index('appointments_by_created_at', ['organization_id', 'created_at', 'id'])
@Index('appointments_by_status', ['organization_id', 'status', 'start_time', 'id'])
@Index('appointments_by_type', ['organization_id', 'type', 'start_time', 'id'])
@Index('appointments_by_resource', { synchronize: false })
@Index('appointments_by_lead', ['organization_id', 'lead_id', 'start_time', 'id'])
export class Appointment extends AppointmentDto {}
