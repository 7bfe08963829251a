import type { ComputedFields } from '../../platform/data/records/stored-record.js';

/** SQL of the full name of a lead. */
export const NAME_SQL = `concat_ws(' ', first_name, last_name)`;

/**
 * SQL that tells whether a lead may be contacted; true without a lead.
 * @param column with the id of the lead. No column of leads has its name.
 */
export function contactableSql(column: string): string {
  return `not exists (select from leads lead where organization_id = $1 and lead.id = ${column}
    and (sms_opted_out or on_dnc_list))`;
}

/**
 * Additional fields of records that refer to a lead, such as its name. They are null if the lead is deleted. Only AI
 * agents that may read leads receive them.
 * @param fields SQL expressions about the lead, by field
 * @param table the table of the records
 * @param column its column with the id of the lead
 */
export function withFieldsOfLead(
  fields: Readonly<Record<string, string>>,
  table: string,
  column: string,
): ComputedFields {
  const queries = Object.entries(fields).map(([field, sql]) => [
    field,
    `select ${sql} from leads
      where organization_id = $1 and id = ${table}.${column} and deleted_at is null`,
  ]);
  const isFor: ComputedFields['isFor'] = ({ actor, replay }) => {
    const mayRead = actor?.channel === 'ai' && actor.scopes.has('leads:read');
    if (mayRead) for (const field of Object.keys(fields)) replay?.needFor(field, 'leads:read');
    return mayRead;
  };
  return { fields: Object.fromEntries(queries) as ComputedFields['fields'], isFor };
}
