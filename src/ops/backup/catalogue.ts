import type pg from 'pg';
import { MIGRATIONS_TABLE_PREFIX } from '../../platform/data/extension-migrations.js';
import { isTenantPolicy, isWorkerPolicy } from '../../platform/data/tenant-role/tenant-role.js';
import type { BackupColumn, BackupSequence } from './backup-file.js';

/** A backup contains the schema of this table. */
const ROOT = 'organizations';

/** Tables that describe the schema. They are not stored, because migrations fill them. */
const METADATA_TABLES = ['migrations', 'typeorm_metadata'];

/** A table whose rows are part of a backup. */
export interface StoredTable {
  readonly name: string;
  /** The quoted name. */
  readonly sql: string;
  /** The FROM item: the table without tables that inherit from it. */
  readonly source: string;
  /** The stored columns in their order. Generated columns are computed again. */
  readonly columns: readonly BackupColumn[];
  /** Whether its rows belong to organizations. */
  readonly tenant: boolean;
  /** Whether row-level security hides rows from the connected user. */
  readonly restricted: boolean;
  /** The conditions of the policies; null for a policy with another command, kind or role. */
  readonly policies: readonly (string | null)[];
}

/** @returns undefined if the database has no tables of Latitude */
export async function readSchemaName(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ schema: string }>(
    `select relnamespace::regnamespace::text as schema from pg_class
     where oid = to_regclass('${ROOT}')`,
  );
  return rows[0]?.schema;
}

/** All tables of the schema in the order of their names, including those of added modules. */
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
       row_security_active(c.oid) as restricted,
       (select coalesce(json_agg(
          case when p.polpermissive and p.polcmd = '*' and p.polroles = '{0}'
            then pg_get_expr(p.polqual, p.polrelid) end), '[]')
        from pg_policy p where p.polrelid = c.oid) as policies
     from pg_class c
     where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and c.relname <> all ($2) and not starts_with(c.relname, '${MIGRATIONS_TABLE_PREFIX}')
       and not ${isPartOfExtension('c')}
     order by c.relname`,
    [schema, METADATA_TABLES],
  );
  return rows;
}

/** All sequences of the schema with their state. */
export async function readSequences(client: pg.Client, schema: string): Promise<BackupSequence[]> {
  const { rows } = await client.query<{ name: string; sql: string }>(
    `select c.relname as name, c.oid::regclass::text as sql from pg_class c
     where c.relnamespace = $1::regnamespace and c.relkind = 'S' and not ${isPartOfExtension('c')}
       and not exists (select from pg_depend d join pg_class t on t.oid = d.refobjid
         where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')
           and (t.relname = any ($2) or starts_with(t.relname, '${MIGRATIONS_TABLE_PREFIX}')))
     order by c.relname`,
    [schema, METADATA_TABLES],
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

/** The names of the executed migrations in their order. */
export async function readMigrations(client: pg.Client): Promise<string[]> {
  const found = await client.query(`select from pg_class where oid = to_regclass('migrations')`);
  if (found.rowCount === 0) return [];
  const { rows } = await client.query<{ name: string }>('select name from migrations order by id');
  return rows.map(({ name }) => name);
}

/** The names of the executed migrations of extensions, by the table that records them. */
export async function readExtensionMigrations(
  client: pg.Client,
  schema: string,
): Promise<Record<string, string[]>> {
  const tables = await client.query<{ name: string; sql: string }>(
    `select relname as name, oid::regclass::text as sql from pg_class
     where relnamespace = $1::regnamespace and relkind = 'r'
       and starts_with(relname, '${MIGRATIONS_TABLE_PREFIX}') order by 1`,
    [schema],
  );
  const executed: Record<string, string[]> = {};
  for (const { name, sql } of tables.rows) {
    const { rows } = await client.query<{ name: string }>(`select name from ${sql} order by id`);
    executed[name] = rows.map((row) => row.name);
  }
  return executed;
}

/** Whether all rows of a table can be read organization by organization. */
export function isReadByOrganization({ tenant, policies }: StoredTable): boolean {
  const others = policies.filter((policy) => !isTenantPolicy(policy));
  return tenant && others.length === policies.length - 1 && others.every(isWorkerPolicy);
}

/** The quoted columns of a table as an SQL list. */
export function columnList(client: pg.Client, columns: readonly BackupColumn[]): string {
  return columns.map(({ name }) => client.escapeIdentifier(name)).join(', ');
}

function isPartOfExtension(alias: string): string {
  return `exists (select from pg_depend e where e.classid = 'pg_class'::regclass
    and e.objid = ${alias}.oid and e.deptype = 'e')`;
}
