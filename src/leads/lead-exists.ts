import { ApiError } from '../errors/api-error.js';

/**
 * SQL that selects a lead that is not deleted, and locks it against deletion until the transaction
 * ends. For features whose records refer to a lead.
 * @param organization parameter of the organization, such as `$1`
 * @param lead parameter of the lead's id
 */
export function leadExistsSql(organization: string, lead: string): string {
  return `select from leads where organization_id = ${organization} and id = ${lead}
    and deleted_at is null for share`;
}

/**
 * The error for a record that refers to a lead which does not exist.
 * @param field the field with the id of the lead
 */
export function leadNotFound(field: string): ApiError {
  return new ApiError('lead_not_found', {
    message: `${field} names no lead of the organization.`,
    details: [{ field, message: 'names no lead of the organization' }],
  });
}
