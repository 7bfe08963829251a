import type { Tenant } from '../../platform/data/gateway/tenant.js';
import type { Actor } from '../../platform/data/actor.js';

/**
 * SQL of the name of a lead that is not deleted, for statements whose parameter `$1` is the
 * organization. For features whose records refer to a lead.
 * @param table the table of the records
 * @param column its column with the id of the lead
 */
export function leadNameSql(table: string, column: string): string {
  return `select concat_ws(' ', first_name, last_name) from leads
    where organization_id = $1 and id = ${table}.${column} and deleted_at is null`;
}

/** The tenant of an actor. Agents that may read leads get the name of a lead with its id. */
export function withLeadNames({ organization, channel, scopes }: Actor): Tenant {
  if (channel !== 'ai' || !scopes.has('leads:read')) return organization;
  return { ...organization, withComputedFields: true };
}
