import type { ComputedFields } from '../../platform/data/records/record-columns.js';

/**
 * An additional field of records that refer to a lead: its name, unless the lead is deleted. Only AI agents that may read
 * leads receive it.
 * @param field the name of the field
 * @param table the table of the records
 * @param column its column with the id of the lead
 */
export function withLeadName(field: string, table: string, column: string): ComputedFields {
  const sql = `select concat_ws(' ', first_name, last_name) from leads
    where organization_id = $1 and id = ${table}.${column} and deleted_at is null`;
  const isFor: ComputedFields['isFor'] = ({ actor, replay }) => {
    const mayRead = actor?.channel === 'ai' && actor.scopes.has('leads:read');
    if (mayRead) replay?.needFor(field, 'leads:read');
    return mayRead;
  };
  return { fields: { [field]: sql }, isFor };
}
