import { RecordOf, UpdateOf } from '../fields/field.js';
import { DateTime, OneOf, Text, Uuid } from '../fields/kinds.js';
import { ListQuery } from '../listing/list-query.js';

export const APPOINTMENT_STATUSES = [
  'scheduled',
  'confirmed',
  'completed',
  'cancelled',
  'no_show',
] as const;
export type AppointmentStatus = (typeof APPOINTMENT_STATUSES)[number];

const APPOINTMENT_SORTS = ['start_time', 'created_at'] as const;

/** What an appointment is created from (api.md 2.2, decisions 3). */
export class CreateAppointmentDto {
  @Uuid({ required: true }) lead_id: string;
  @DateTime({ required: true }) start_time: Date;
  @DateTime({ required: true, after: 'start_time' }) end_time: Date;
  @Text({ max: 100 }) type?: string | null;
  @Text({ max: 500 }) location?: string | null;
  @Text({ max: 5000 }) notes?: string | null;
  @OneOf(APPOINTMENT_STATUSES, { default: 'scheduled' }) status?: AppointmentStatus;
  @Text({ max: 100 }) outcome?: string | null;
  @Text({ max: 5000 }) outcome_notes?: string | null;
}

/** What an appointment may be changed by; its lead stays. */
export class UpdateAppointmentDto extends UpdateOf(CreateAppointmentDto, { fixed: ['lead_id'] }) {}

/** An appointment as it is answered, alone and in a list. */
export class AppointmentDto extends RecordOf(CreateAppointmentDto) {
  @Uuid() organization_id: string;
  @OneOf(['api', 'ai']) booked_by: 'api' | 'ai';
  @DateTime() created_at: Date;
  @DateTime() updated_at: Date;
}

/** What a list of appointments may be narrowed and sorted by (api.md 4.2). */
export class AppointmentListQuery extends ListQuery {
  @OneOf(APPOINTMENT_STATUSES) status?: AppointmentStatus;
  @Uuid() lead_id?: string;
  @DateTime({ rounding: 'up' }) start_after?: Date;
  @DateTime({ rounding: 'up' }) start_before?: Date;
  @OneOf(APPOINTMENT_SORTS, { default: 'start_time' }) sort_by: (typeof APPOINTMENT_SORTS)[number];
}
