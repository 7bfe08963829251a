import { ApiError } from '../errors/api-error.js';

/**
 * SQL that finds a live lead and holds off its deletion until the transaction ends, for features
 * whose records name a lead.
 * @param organization parameter of the organization, such as `$1`
 * @param lead parameter of the lead's id
 */
export function liveLead(organization: string, lead: string): string {
  return `select from leads where organization_id = ${organization} and id = ${lead}
    and deleted_at is null for share`;
}

/** SQL that finds the leads that were deleted before a time, as `liveLead` does live ones. */
export function leadsDeletedBefore(organization: string, time: string): string {
  return `select id from leads where organization_id = ${organization} and deleted_at < ${time}`;
}

/** What a record that names no live lead is refused with. */
export function leadNotFound(): ApiError {
  return new ApiError('lead_not_found');
}
