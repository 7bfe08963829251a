import type pg from 'pg';
import { TENANT_POLICY } from '../tenant-role/tenant-role.js';
import type { BackupColumn, BackupSequence } from './backup-file.js';

/** The table in whose schema everything else is. */
const ROOT = 'organizations';

/** Tables that describe the schema itself: the migrations of each database fill them. */
const ABOUT_THE_SCHEMA = ['migrations', 'typeorm_metadata'];

/** A table whose rows a backup holds. */
export interface StoredTable {
  readonly name: string;
  /** Its name as SQL. */
  readonly sql: string;
  /** What rows are read from: the table without those that inherit from it. */
  readonly source: string;
  /** The columns that are stored, in their order: generated ones are computed again. */
  readonly columns: readonly BackupColumn[];
  /** Whether its rows belong to organizations. */
  readonly tenant: boolean;
  /** Whether row-level security hides rows from the connected user. */
  readonly restricted: boolean;
  /** Whether it binds the owner of the table too. */
  readonly forced: boolean;
  /** The conditions of its policies; undefined for a policy of another form than that of tenants. */
  readonly policies: readonly (string | null)[];
}

/** @returns undefined where there is no Latitude in the database */
export async function readSchemaName(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ schema: string }>(
    `select relnamespace::regnamespace::text as schema from pg_class
     where oid = to_regclass('${ROOT}')`,
  );
  return rows[0]?.schema;
}

/** Every table of the schema, a team's own too, in the order of their names. */
export async function readTables(client: pg.Client, schema: string): Promise<StoredTable[]> {
  const { rows } = await client.query<StoredTable>(
    `select c.relname as name, c.oid::regclass::text as sql,
       case when c.relkind = 'r' then 'only ' else '' end || c.oid::regclass::text as source,
       (select coalesce(json_agg(json_build_object('name', a.attname,
            'type', format_type(a.atttypid, a.atttypmod)) order by a.attnum), '[]')
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
          and a.attgenerated = '') as columns,
       c.relname = '${ROOT}' or exists (select from pg_attribute a where a.attrelid = c.oid
         and a.attname = 'organization_id' and not a.attisdropped) as tenant,
       row_security_active(c.oid) as restricted, c.relforcerowsecurity as forced,
       (select coalesce(json_agg(
          case when p.polpermissive and p.polcmd = '*' and p.polroles = '{0}'
            then pg_get_expr(p.polqual, p.polrelid) end), '[]')
        from pg_policy p where p.polrelid = c.oid) as policies
     from pg_class c
     where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and c.relname <> all ($2) and not ${isPartOfExtension('c')}
     order by c.relname`,
    [schema, ABOUT_THE_SCHEMA],
  );
  return rows;
}

/** Every sequence of the schema and how far it is. */
export async function readSequences(client: pg.Client, schema: string): Promise<BackupSequence[]> {
  const { rows } = await client.query<{ name: string; sql: string }>(
    `select c.relname as name, c.oid::regclass::text as sql from pg_class c
     where c.relnamespace = $1::regnamespace and c.relkind = 'S' and not ${isPartOfExtension('c')}
       and not exists (select from pg_depend d join pg_class t on t.oid = d.refobjid
         where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')
           and t.relname = any ($2))
     order by c.relname`,
    [schema, ABOUT_THE_SCHEMA],
  );
  const sequences: BackupSequence[] = [];
  for (const { name, sql } of rows) {
    const state = await client.query<Omit<BackupSequence, 'name'>>(
      `select last_value::text as last_value, is_called from ${sql}`,
    );
    sequences.push(...state.rows.map((row) => ({ name, ...row })));
  }
  return sequences;
}

/** The names of the migrations that the database has seen, in their order. */
export async function readMigrations(client: pg.Client): Promise<string[]> {
  const found = await client.query(`select from pg_class where oid = to_regclass('migrations')`);
  if (found.rowCount === 0) return [];
  const { rows } = await client.query<{ name: string }>('select name from migrations order by id');
  return rows.map(({ name }) => name);
}

/** Whether all rows of a table can be read by naming one organization after another. */
export function isReadByOrganization({ tenant, policies }: StoredTable): boolean {
  return (
    tenant && policies.length === 1 && withoutTypes(policies[0]) === withoutTypes(TENANT_POLICY)
  );
}

/** PostgreSQL answers a condition with casts and parentheses that were not written. */
function withoutTypes(condition: string | null | undefined): string | undefined {
  return condition?.toLowerCase().replaceAll(/::\w+|[\s()]/g, '');
}

/** The columns of a table as a list in SQL. */
export function columnList(client: pg.Client, columns: readonly BackupColumn[]): string {
  return columns.map(({ name }) => client.escapeIdentifier(name)).join(', ');
}

function isPartOfExtension(alias: string): string {
  return `exists (select from pg_depend e where e.classid = 'pg_class'::regclass
    and e.objid = ${alias}.oid and e.deptype = 'e')`;
}
