import type { TenantCall } from '../../platform/data/call.js';

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

/** Whether responses have the name of a lead beside its id. Only AI agents that may read leads receive it. */
export function showsLeadNames({ actor }: TenantCall): boolean {
  return actor?.channel === 'ai' && actor.scopes.has('leads:read');
}
