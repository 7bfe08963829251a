import type { Declaration } from '../../platform/fields/field.js';
import { Integers } from '../../platform/fields/kinds/kinds.js';

/** 30 days. */
export const MAX_REMINDER_MINUTES = 43_200;

/** How many minutes before their start appointments write `appointment.starting`. */
export function RemindBeforeMinutes(declaration: Declaration<readonly number[]>) {
  return Integers({ ...declaration, min: 1, max: MAX_REMINDER_MINUTES, maxItems: 5 });
}
