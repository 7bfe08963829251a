import type { IncludedField } from '../../platform/data/lists/includes.js';
import { NOT_DELETED_BY_ID } from '../../platform/data/records/record-sql.js';
import { type ComputedFields, jsonColumnsOf } from '../../platform/data/records/stored-record.js';
import { jsonSchemaOf, nullable } from '../../platform/fields/schema/schema-of.js';
import { LeadListItemDto } from './lead.dto.js';

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

/**
 * The lead of a record, with the fields of a list. It is null if there is none, or it is deleted.
 * @param table the table of the records
 * @param column its column with the id of the lead
 */
export function includedLead(table: string, column: string): IncludedField {
  const description = 'Lead, with the fields of a list; null if there is none or it is deleted.';
  return {
    schema: { ...nullable(jsonSchemaOf(LeadListItemDto, 'output')), description },
    sql: `select row_to_json(lead) from (select ${jsonColumnsOf(LeadListItemDto)} from leads
      where organization_id = $1 and id = ${table}.${column} and ${NOT_DELETED_BY_ID}) lead`,
  };
}
