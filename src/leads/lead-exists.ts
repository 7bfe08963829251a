import { ApiError } from '../errors/api-error.js';

/**
 * SQL that finds a live lead and holds off its deletion until the transaction ends, for features
 * whose records name a lead.
 * @param organization parameter of the organization, such as `$1`
 * @param lead parameter of the lead's id
 */
export function leadExistsSql(organization: string, lead: string): string {
  return `select from leads where organization_id = ${organization} and id = ${lead}
    and deleted_at is null for share`;
}

/**
 * The refusal of a record that names a lead which does not exist.
 * @param field the field that names it
 */
export function leadNotFound(field: string): ApiError {
  return new ApiError('lead_not_found', {
    message: `${field} names no lead of the organization.`,
    details: [{ field, message: 'names no lead of the organization' }],
  });
}
