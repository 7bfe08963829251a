import { MIGRATIONS_TABLE_PREFIX } from '../extension-migrations.js';
import { TENANT_ROLE } from './tenant-role.js';

/**
 * The tables that hold data of more than one organization or of none. This release grants the tenant role no privilege
 * on them, nor on those that record the migrations of extensions.
 */
export const ADMINISTRATIVE_TABLES = [
  'organizations',
  'organization_defaults',
  'api_keys',
  'mcp_sessions',
  'mcp_secrets',
  'oauth_clients',
  'oauth_grants',
  'oauth_artifacts',
  'operator_keys',
  'operator_responses',
  'job_schedules',
  'event_handlers',
  'event_position',
  'migrations',
  'typeorm_metadata',
];

/**
 * Those whose privileges are left as they are. A later release may grant the tenant role some on them, and its instances run
 * beside those of this one during an upgrade.
 */
const KEPT_AS_GRANTED = ['api_keys', 'operator_keys', 'oauth_grants'];

/** The tables on which the tenant role must have no privilege. */
export const FORBIDDEN_TABLES = ADMINISTRATIVE_TABLES.filter(
  (table) => !KEPT_AS_GRANTED.includes(table),
);

/** SQL: whether statements on the view `c` run as their user and not as the owner of the view. */
const IS_INVOKER = `exists (select from pg_options_to_table(c.reloptions)
        where option_name = 'security_invoker' and lower(option_value) in ('true', 'on', 'yes', '1'))`;

/** Classifies the tables, views and sequences of the schema, without those of extensions. */
const CLASSIFIED = `
  objects as (
    select c.oid, c.relname, c.relkind, c.relispartition, c.relowner,
      exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'organization_id'
        and not a.attisdropped) as of_organizations,
      c.relrowsecurity and c.relforcerowsecurity as is_protected, ${IS_INVOKER} as is_invoker,
      pg_has_role(c.relowner, 'usage')
        or exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'tenant') as is_ours
    from pg_class c
    where c.relnamespace = (select oid from pg_namespace where nspname = current_schema())
      and not exists (select from pg_depend d
        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  ),
  tables as (
    select * from objects
    where relkind in ('r', 'p') and not relispartition and is_ours and relname <> all($1)
      and not starts_with(relname, '${MIGRATIONS_TABLE_PREFIX}')
  ),
  usable_tables as (select * from tables where is_protected or not of_organizations),
  views as (select * from objects where relkind in ('v', 'm') and is_ours),
  usable_views as (select * from views where is_invoker),
  usable_sequences as materialized (
    select s.* from objects s
      left join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = s.oid
        and d.refclassid = 'pg_class'::regclass and d.deptype in ('a', 'i')
    where s.relkind = 'S' and s.is_ours
      and (d.refobjid is null or d.refobjid in (select oid from usable_tables))
  )`;

const TABLE_PRIVILEGES = ['select', 'insert', 'update', 'delete'];

/** SQL of the missing privileges of a role, by table or view. */
function missingOnTables(
  role: string,
  tables: string,
  privileges: readonly string[] = TABLE_PRIVILEGES,
): string {
  return `
    select string_agg(privilege, ', ' order by place) || format(' on table %I.%I', current_schema(), relname)
      as missing, relname as object
    from ${tables}, unnest(array['${privileges.join("', '")}'])
      with ordinality as wanted (privilege, place)
    where not has_table_privilege(${role}, oid, privilege)
    group by relname`;
}

/**
 * The missing privileges of the tenant role: on the schema, on every table that is under row-level security or has no
 * `organization_id`, and on every view with `security_invoker`.
 */
export const FIND_MISSING = `with ${CLASSIFIED}
  ${missingOnTables(`'${TENANT_ROLE}'`, 'usable_tables')}
  union all
  ${missingOnTables(`'${TENANT_ROLE}'`, 'usable_views', ['select'])}
  union all
  select 'usage on schema ' || quote_ident(current_schema()), ''
  where not has_schema_privilege('${TENANT_ROLE}', current_schema(), 'usage')
  union all
  select format('usage on sequence %I.%I', current_schema(), relname), relname
  from usable_sequences where not has_sequence_privilege('${TENANT_ROLE}', oid, 'usage')
  order by object`;

/**
 * The missing privileges of the connected user on administrative tables. `$2`: whether the user also needs the tables with
 * records of organizations, because there is no tenant role.
 */
export const FIND_MISSING_OF_USER = `with ${CLASSIFIED},
  needed as (select * from objects where relkind in ('r', 'p')
    and (relname = any($1) or $2 and is_ours and is_protected))
  ${missingOnTables('current_user', 'needed')} order by object`;

/** Tables and views on which the tenant role gets no privileges, because they would show all records. */
export const FIND_UNPROTECTED = `with ${CLASSIFIED}
  select format('table %s has an organization_id but no forced row-level security', relname) as problem
  from tables where of_organizations and not is_protected
  union all
  select format('view %s runs as its owner, because it has no security_invoker', relname)
  from views where not is_invoker
  order by problem`;

/** The tables of `$1` on which the tenant role has privileges. Releases that do not know a table grant them. */
export const FIND_EXCESSIVE = `
  select distinct format('%I.%I', current_schema(), relname) as name
  from pg_class, aclexplode(relacl) as acl
  where relnamespace = (select oid from pg_namespace where nspname = current_schema())
    and relname = any($1)
    and acl.grantee = (select oid from pg_roles where rolname = '${TENANT_ROLE}')`;
