import { ApiError } from '../errors/api-error.js';

/**
 * SQL that selects the ids of leads that are not deleted, and locks the leads against deletion until the
 * transaction ends. For features whose records refer to leads.
 * @param organization parameter of the organization, such as `$1`
 * @param ids subquery that selects the ids
 */
export function existingLeadsSql(organization: string, ids: string): string {
  return `select id from leads where organization_id = ${organization} and id = any(array(${ids}))
    and deleted_at is null order by id for share`;
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
