import { NOT_DELETED_BY_ID, ONE_BY_ONE } from '../../platform/data/records/record-sql.js';
import { ApiError } from '../../platform/errors/api-error.js';

/**
 * SQL that selects the ids of leads that are not deleted, and locks the leads against deletion until the
 * transaction ends. For features whose records refer to leads. Each lead is locked once and in the order of the ids, so
 * that two transactions do not wait for each other.
 * @param organization parameter of the organization, such as `$1`
 * @param ids subquery that selects the ids
 */
export function existingLeadsSql(organization: string, ids: string): string {
  return `select lead.id from (select distinct "lead id" from (${ids}) ids ("lead id") order by 1) named
    cross join lateral (select id from leads where organization_id = ${organization}
      and id = "lead id" and ${NOT_DELETED_BY_ID} ${ONE_BY_ONE} for share) lead`;
}

/**
 * The error for a record that refers to a lead which does not exist.
 * @param field the field with the id of the lead
 * @param survivor the lead that it was merged into
 */
export function leadNotFound(field: string, survivor?: string): ApiError {
  const missing = { field, message: 'does not refer to a lead of the organization' };
  return new ApiError('lead_not_found', {
    message: `${field} does not refer to a lead of the organization.`,
    details: [survivor === undefined ? missing : mergedInto(field, survivor)],
  });
}

/** The detail of an error about a lead that was merged into another one. */
export function mergedInto(field: string, survivor: string) {
  return { field, message: 'is a lead that was merged into another one', merged_into: survivor };
}
