import type { QueryRunner } from 'typeorm';
import { ADMINISTRATIVE_TABLES } from '../tenant-role/tenant-privileges.js';

/** An index, with the constraint that it belongs to, if any. */
export interface TableIndex {
  readonly name: string;
  /** The definition of the constraint, such as `UNIQUE (organization_id, id) DEFERRABLE`. */
  readonly constraint: string | undefined;
  readonly isPrimary: boolean;
  readonly isExclusion: boolean;
  readonly isUnique: boolean;
  /** The names of its columns, without expressions. */
  readonly columns: readonly string[];
  /** The statement that creates the index. */
  readonly statement: string;
}

/** The definition of a table with an `organization_id`. Names and definitions are quoted SQL. */
export interface TableDefinition {
  readonly oid: number;
  readonly name: string;
  /** The columns that statements can write. */
  readonly columns: readonly string[];
  /** The identity columns, each with its sequence. */
  readonly identities: readonly { column: string; sequence: string }[];
  readonly indexes: readonly TableIndex[];
  /** The statements that create its policies, triggers, statistics targets and privileges. */
  readonly statements: readonly string[];
  /** Storage parameters, such as `fillfactor=90`. */
  readonly parameters: readonly string[];
}

const POLICIES = `
  select format('create policy %I on %s as %s for %s to %s%s%s', polname, polrelid::regclass,
    case when polpermissive then 'permissive' else 'restrictive' end,
    case polcmd when '*' then 'all' when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update'
      else 'delete' end,
    (select string_agg(case role when 0 then 'public' else quote_ident(pg_get_userbyid(role)) end, ', ')
      from unnest(polroles) role),
    ' using (' || pg_get_expr(polqual, polrelid) || ')',
    ' with check (' || pg_get_expr(polwithcheck, polrelid) || ')')
  from pg_policy where polrelid = c.oid`;

const TRIGGERS = `select pg_get_triggerdef(oid) from pg_trigger where tgrelid = c.oid and not tgisinternal`;

const STATISTICS = `
  select format('alter table %s alter column %I set statistics %s', c.oid::regclass, attname, attstattarget)
  from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped and attstattarget > 0`;

const PRIVILEGES = `
  select format('grant %s%s on %s to %s%s', privilege_type, ' (' || quote_ident(attname) || ')', c.oid::regclass,
    case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end,
    case when is_grantable then ' with grant option' end)
  from (select null as attname, relacl as acl
      union all select attname, attacl from pg_attribute where attrelid = c.oid and not attisdropped) granted,
    aclexplode(acl)
  where grantee <> relowner`;

const INDEXES = `
  select json_build_object('name', quote_ident(index.relname), 'isUnique', indisunique,
    'isPrimary', indisprimary, 'isExclusion', indisexclusion, 'constraint', pg_get_constraintdef(pg_constraint.oid),
    'statement', pg_get_indexdef(indexrelid),
    'columns', (select json_agg(quote_ident(attname) order by place)
      from unnest(indkey) with ordinality as part (number, place)
        join pg_attribute on attrelid = c.oid and attnum = number where place <= indnkeyatts))
  from pg_index join pg_class index on index.oid = indexrelid
    left join pg_constraint on conindid = indexrelid and contype in ('p', 'u', 'x')
  where indrelid = c.oid order by index.relname`;

/** The tables under row-level security that have an `organization_id` and are not partitioned. */
const FIND_TABLES = `
  select c.oid, c.oid::regclass::text as name,
    array(select quote_ident(attname) from pg_attribute where attrelid = c.oid and attnum > 0
      and not attisdropped and attgenerated = '' order by attnum) as columns,
    array(select json_build_object('column', quote_ident(attname), 'sequence',
        pg_get_serial_sequence(c.oid::regclass::text, attname))
      from pg_attribute where attrelid = c.oid and attnum > 0 and attidentity <> '') as identities,
    array(${INDEXES}) as indexes,
    array(${POLICIES} union all ${TRIGGERS} union all ${STATISTICS} union all ${PRIVILEGES}) as statements,
    coalesce(reloptions, '{}') as parameters
  from pg_class c
  where relnamespace = current_schema()::regnamespace and relkind = 'r' and not relispartition
    and relrowsecurity and relforcerowsecurity and relname <> all($1)
    and exists (select from pg_attribute where attrelid = c.oid and attname = 'organization_id' and attnotnull)
  order by relname`;

/** Reads the tables with records of organizations that are not partitioned, from the system catalog. */
export async function readDefinitions(runner: QueryRunner): Promise<TableDefinition[]> {
  return (await runner.query(FIND_TABLES, [ADMINISTRATIVE_TABLES])) as TableDefinition[];
}

/** A foreign key of a table, or one that references it. */
export interface ForeignKey {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

const FIND_FOREIGN_KEYS = `
  select conrelid::regclass::text as "table", quote_ident(conname) as name,
    pg_get_constraintdef(oid) as definition
  from pg_constraint
  where contype = 'f' and conparentid = 0 and (conrelid = any($1::oid[]) or confrelid = any($1::oid[]))
  order by 1, 2`;

export async function readForeignKeys(
  runner: QueryRunner,
  tables: readonly TableDefinition[],
): Promise<ForeignKey[]> {
  return (await runner.query(FIND_FOREIGN_KEYS, [tables.map(({ oid }) => oid)])) as ForeignKey[];
}
