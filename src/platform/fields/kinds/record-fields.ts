import type { Declaration } from '../field.js';
import { DateTime, Uuid } from './kinds.js';

/** The default of a time column, as in its migration: the current time in milliseconds. */
const NOW = () => "date_trunc('milliseconds', now())";

const SET_BY_DATABASE = { required: true, column: { default: NOW } };

/**
 * The id of a record in responses.
 * @param kind such as `key`
 */
export function RecordId(kind: string, example: string) {
  return Uuid({ required: true, description: `Identifier of the ${kind}.`, example });
}

/** The organization that a record belongs to. */
export function OrganizationId() {
  return Uuid({
    required: true,
    description: 'The organization that it belongs to: that of the key.',
    example: '01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21',
  });
}

/** A time in the life of a record, such as that of its last use. */
export function TimeOf(description: string, options: Declaration<Date> = {}) {
  return DateTime({ ...options, description, example: '2026-01-05T16:20:00.000Z' });
}

/** The time at which a record was created. */
export function CreatedAt() {
  return TimeOf('When it was created, to the millisecond.', SET_BY_DATABASE);
}

/** The time at which a record was last changed. */
export function UpdatedAt() {
  return TimeOf('When it last changed; it moves forward with every real change.', SET_BY_DATABASE);
}
