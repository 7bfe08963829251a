import type pg from 'pg';
import {
  type ExecutedMigrations,
  readExecutedMigrations,
} from '../../platform/data/executed-migrations.js';
import { MIGRATIONS_TABLE_PREFIX } from '../../platform/data/extension-migrations.js';
import { areTenantPolicies, isSystemPolicy } from '../../platform/data/tenant-role/tenant-role.js';
import type { BackupColumn, BackupSequence } from './backup-file.js';

/** A backup contains the schema of this table. */
export const ROOT = 'organizations';
const SCHEMA = `(select relnamespace from pg_class where oid = to_regclass('${ROOT}'))`;

/** Tables that describe the schema. They are not stored, because migrations fill them. */
const METADATA_TABLES = ['migrations', 'typeorm_metadata'];

/** Whether `c`, a row of `pg_class`, belongs to an extension of PostgreSQL. */
const IS_PART_OF_EXTENSION = `exists (select from pg_depend e
  where e.classid = 'pg_class'::regclass and e.objid = c.oid and e.deptype = 'e')`;

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

/** All tables of the schema in the order of their names, including those of added modules. */
export async function readTables(client: pg.Client): Promise<StoredTable[]> {
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
          case when p.polpermissive and p.polcmd in ('*', 'r') and p.polroles = '{0}'
            then pg_get_expr(p.polqual, p.polrelid) end), '[]')
        from pg_policy p where p.polrelid = c.oid) as policies
     from pg_class c
     where c.relnamespace = ${SCHEMA} and c.relkind in ('r', 'p') and not c.relispartition
       and c.relname <> all ($1) and not starts_with(c.relname, '${MIGRATIONS_TABLE_PREFIX}')
       and not ${IS_PART_OF_EXTENSION}
     order by c.relname`,
    [METADATA_TABLES],
  );
  return rows;
}

/**
 * Locks all tables of the schema until the transaction ends.
 * @param others further tables
 * @throws Error whose message is meant for the user if there are no tables
 */
export async function lockTables(
  client: pg.Client,
  mode: string,
  others: readonly string[] = [],
): Promise<StoredTable[]> {
  const tables = await readTables(client);
  if (tables.length === 0) throw new Error('The database has no tables of Latitude.');
  const names = [...tables.map(({ sql }) => sql), ...others].join(', ');
  await client.query(`lock table ${names} in ${mode} mode`);
  return tables;
}

/** All sequences of the schema with their state. */
export async function readSequences(client: pg.Client): Promise<BackupSequence[]> {
  const { rows } = await client.query<{ name: string; sql: string }>(
    `select c.relname as name, c.oid::regclass::text as sql from pg_class c
     where c.relnamespace = ${SCHEMA} and c.relkind = 'S' and not ${IS_PART_OF_EXTENSION}
       and not exists (select from pg_depend d join pg_class t on t.oid = d.refobjid
         where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')
           and (t.relname = any ($1) or starts_with(t.relname, '${MIGRATIONS_TABLE_PREFIX}')))
     order by c.relname`,
    [METADATA_TABLES],
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

/** The names of the executed migrations in their order, by the table that records them. */
export function readMigrations(client: pg.Client): Promise<ExecutedMigrations> {
  return readExecutedMigrations(
    async <Row>(text: string) => (await client.query(text)).rows as Row[],
  );
}

/**
 * Whether all rows of a table can be read organization by organization: it has the policy of tenants, and no others but
 * those of the background work of Latitude.
 */
export function isReadByOrganization({ tenant, policies }: StoredTable): boolean {
  return tenant && areTenantPolicies(policies);
}

/** Whether row-level security shows all rows of a table to the connected user, while no organization is set. */
export function isReadAtOnce({ restricted, policies }: StoredTable): boolean {
  return !restricted || (policies.some(isSystemPolicy) && !policies.includes(null));
}

/** The quoted columns of a table as an SQL list. */
export function columnList(client: pg.Client, columns: readonly BackupColumn[]): string {
  return columns.map(({ name }) => client.escapeIdentifier(name)).join(', ');
}
