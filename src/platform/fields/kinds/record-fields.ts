import { DateTime, Uuid } from './kinds.js';

/** The default of a time column, as in its migration: the current time in milliseconds. */
const NOW = () => "date_trunc('milliseconds', now())";

/** The organization that a record belongs to. */
export function OrganizationId() {
  return Uuid({
    required: true,
    description: 'The organization that it belongs to: that of the key.',
    example: '01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21',
  });
}

/** The time at which a record was created. */
export function CreatedAt() {
  return DateTime({
    required: true,
    description: 'When it was created, to the millisecond.',
    example: '2026-01-05T16:20:00.000Z',
    column: { default: NOW },
  });
}

/** The time at which a record was last changed. */
export function UpdatedAt() {
  return DateTime({
    required: true,
    description: 'When it last changed; it moves forward with every real change.',
    example: '2026-01-05T16:20:00.000Z',
    column: { default: NOW },
  });
}
