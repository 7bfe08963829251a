import { BatchConnections } from '../../../src/platform/data/gateway/batch-connections.js';
import type { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';

/** Tables whose rows belong to an organization. */
export const TENANT_TABLES = `select c.relname as name from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
  where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace`;

/**
 * The names of the tables with records, without those of keys and grants, of which the tenant role uses some columns only,
 * and without that of forms of leads, which a handler of events writes later.
 */
export async function recordTables(app: TestApp): Promise<string[]> {
  const tables = await app.sql<{ name: string }>(`${TENANT_TABLES} order by 1`);
  return tables
    .map(({ name }) => name)
    .filter((name) => !['api_keys', 'oauth_grants', 'lead_forms'].includes(name));
}

/** The rows of an organization, with the last writing transaction of each row (`xmin`). */
export async function rowsOf(
  app: TestApp,
  tables: readonly string[],
  tenant: Tenant,
): Promise<object[]> {
  const text = await rowsAsText(app, tables, tenant);
  return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as object);
}

/** The same rows as one string with a line for each row, which is fast to compare. */
export async function rowsAsText(
  app: TestApp,
  tables: readonly string[],
  { id }: Tenant,
): Promise<string> {
  const selects = tables.map(
    (table) => `select ${rowOf(table)} as row
      from ${table} t where organization_id = $1`,
  );
  // Uses the pool of the owner, whose connections are already open.
  const { rows } = await app.app
    .get(BatchConnections)
    .background.query<{ text: string | null }>(
      `select string_agg(row, e'\\n' order by row collate "C") as text from (${selects.join(' union all ')}) all_rows`,
      [id],
    );
  return rows[0]?.text ?? '';
}

/** A row as JSON. The publisher moves events from one of two tables to the other. */
function rowOf(table: string): string {
  return ['event_outbox', 'events'].includes(table)
    ? `(to_jsonb(t) - '{seq,position}'::text[])::text`
    : `(select row_to_json(r)::text from (select t.*, t.xmin::text as xmin) r)`;
}
