import { isObject } from '../../platform/fields/kinds/json-object.js';

/** The type of the events that tell changes of an organization. */
export const ORGANIZATION_UPDATED = 'organization.updated';

/** Whether an event tells that an organization was suspended. */
export function isSuspension(event: {
  readonly changed: readonly string[];
  readonly record: unknown;
}): boolean {
  const { changed, record } = event;
  return changed.includes('suspended') && isObject(record) && record.suspended === true;
}
