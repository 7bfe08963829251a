import { v7 as uuidv7 } from 'uuid';
import type { Call } from '../../platform/data/call.js';
import { type ApiError, validationError } from '../../platform/errors/api-error.js';
import { changedFields, nullsForMissing } from '../../platform/fields/changes.js';
import { appendedNotes } from '../../platform/fields/note-changes.js';
import { mustBeAfter, mustBeBefore } from '../../platform/fields/kinds/rules.js';
import {
  type AppointmentDto,
  AppointmentFields,
  type AppointmentStatus,
  type UpdateAppointmentDto,
} from './appointment.dto.js';

/** The statuses of appointments that take no time. */
const FREE: readonly AppointmentStatus[] = ['cancelled', 'no_show'];

/** What an appointment takes of a resource. */
type TakenTime = Pick<AppointmentDto, 'resource_id' | 'start_time' | 'end_time' | 'status'>;

/** The row of a new appointment. */
export function rowOf(call: Call, input: AppointmentFields) {
  return {
    id: uuidv7(),
    booked_by: call.actor.channel === 'ai' ? 'ai' : 'api',
    ...nullsForMissing(AppointmentFields, input),
  };
}

/**
 * The values of an appointment after an update.
 * @returns undefined if it changes nothing
 * @throws ApiError `validation_error` for times in the wrong order, and for notes that become too long
 */
export function revisedAppointment(stored: AppointmentDto, input: UpdateAppointmentDto) {
  const { append_notes, within_hours: _, ...fields } = input;
  const notes = appendedNotes(stored.notes, append_notes) ?? fields.notes;
  const changes = changedFields(stored, { ...fields, notes });
  // A status updates `updated_at` even if it equals the stored one (docs/contract/states.md#appointment-status).
  if (!changes && input.status === undefined) return undefined;
  const revised = { ...stored, ...changes };
  if (revised.end_time <= revised.start_time) throw invalidTimeOrder(input);
  return { ...nullsForMissing(AppointmentFields, revised), status: revised.status };
}

/** Whether an appointment with this status takes no time. A new one is scheduled. */
export function isFree(status: AppointmentStatus = 'scheduled'): boolean {
  return FREE.includes(status);
}

function takesTime({ resource_id, status }: TakenTime): boolean {
  return resource_id !== null && !isFree(status);
}

/** Whether a change takes other time of a resource than before. */
export function takesOtherTime(before: TakenTime, after: TakenTime): boolean {
  const isSame =
    takesTime(before) &&
    before.resource_id === after.resource_id &&
    before.start_time.getTime() === after.start_time.getTime() &&
    before.end_time.getTime() === after.end_time.getTime();
  return takesTime(after) && !isSame;
}

/** Whether a change takes other time of a resource than before, or frees it. */
export function changesTime(before: TakenTime, after: TakenTime): boolean {
  return takesOtherTime(before, after) || (takesTime(before) && !takesTime(after));
}

/** The error for an end before the start. It names a field of the request. */
function invalidTimeOrder({ end_time: end }: UpdateAppointmentDto): ApiError {
  return validationError([
    end === undefined
      ? { field: 'start_time', message: mustBeBefore('end_time') }
      : { field: 'end_time', message: mustBeAfter('start_time') },
  ]);
}
