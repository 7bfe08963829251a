import { MIGRATIONS_TABLE_PREFIX } from '../extension-migrations.js';
import { TENANT_ROLE } from './tenant-role.js';

/** The tables of what is before or above organizations. The tenant role has no privilege on them. */
const SYSTEM_TABLES = [
  'mcp_sessions',
  'mcp_secrets',
  'oauth_clients',
  'oauth_artifacts',
  'operator_keys',
  'job_schedules',
  'event_handlers',
  'event_position',
  'migrations',
  'typeorm_metadata',
];

/** The privileges of the tenant role on a table, by columns. `delete` is one on the table. */
type ColumnPrivileges = Readonly<
  Partial<Record<'select' | 'insert' | 'update', readonly string[]>>
> & { readonly delete?: true };

const KEY_LIMITS = ['reads_per_minute', 'writes_per_minute'];

const KEY_FIELDS = [
  ...['organization_id', 'id', 'name', 'key_start', 'scopes', 'user_id', 'expires_at'],
  ...['lifetime_ms', 'ends_with', 'confirmations', ...KEY_LIMITS],
];

const NEW_GRANT_FIELDS = [
  ...['organization_id', 'id', 'key_id', 'user_id', 'client_id', 'client_name', 'resource'],
  ...['scopes', 'expires_at'],
];

const GRANT_FIELDS = [
  ...NEW_GRANT_FIELDS,
  ...['confirmations', 'created_at', 'updated_at', 'last_used_at', 'revoked_at'],
];

const ORGANIZATION_FIELDS = ['name', 'phone_region', 'time_zone'];

const RESPONSE_KEY = ['operator_id', 'key', 'route'];

const RESPONSE_FIELDS = [
  ...['content_hash', 'status', 'location', 'etag', 'body', 'record_ids', 'scopes'],
];

/**
 * The tables of which the tenant role uses some columns only. Release 0.4.0, whose instances run beside those of this one
 * during an upgrade, revokes what is granted on a whole table other than `api_keys` and `oauth_grants`.
 */
export const COLUMN_PRIVILEGES: Readonly<Record<string, ColumnPrivileges>> = {
  organizations: {
    select: [
      ...['id', ...ORGANIZATION_FIELDS, 'suspended', 'created_at', 'operator_id'],
      ...['unknown_fields', 'definitions_version', 'finds_duplicates'],
    ],
    insert: ['id', ...ORGANIZATION_FIELDS, 'operator_id'],
    update: [
      ...ORGANIZATION_FIELDS,
      ...['suspended', 'unknown_fields', 'definitions_version', 'finds_duplicates'],
    ],
  },
  organization_defaults: { select: ['phone_region'] },
  // A key is found by its hash before its organization is known, so that nothing else reads the hash.
  api_keys: {
    select: [
      ...KEY_FIELDS,
      ...['created_at', 'updated_at', 'last_used_at', 'revoked_at', 'successor_id'],
    ],
    insert: [...KEY_FIELDS, 'key_hash'],
    update: [
      ...['expires_at', 'revoked_at', 'lifetime_ms', 'ends_with', 'successor_id', 'updated_at'],
      'last_used_at',
      ...KEY_LIMITS,
    ],
  },
  oauth_grants: {
    // Release 0.4.0 empties every table with an `organization_id` by `ctid`, when it removes an organization.
    select: [...GRANT_FIELDS, 'ctid'],
    insert: NEW_GRANT_FIELDS,
    update: ['confirmations', 'last_used_at', 'revoked_at', 'updated_at'],
    delete: true,
  },
  operator_responses: {
    select: [...RESPONSE_KEY, ...RESPONSE_FIELDS, 'created_at'],
    insert: [...RESPONSE_KEY, ...RESPONSE_FIELDS],
    update: [...RESPONSE_FIELDS, 'created_at'],
  },
};

/** The tables on which the tenant role has no privileges, or those on some columns only. */
export const ADMINISTRATIVE_TABLES = [...SYSTEM_TABLES, ...Object.keys(COLUMN_PRIVILEGES)];

/** Privileges on one object that a role lacks, such as `select on table public.leads`. */
export interface Missing {
  readonly missing: string;
}

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

/** SQL of the privileges of `COLUMN_PRIVILEGES`: `object`, `privilege` and `columns`, which are null for the whole table. */
const WANTED = Object.entries(COLUMN_PRIVILEGES)
  .flatMap(([table, { delete: deletes, ...columns }]) => [
    ...Object.entries(columns).map(
      ([privilege, names]) => `('${table}', '${privilege}', array['${names.join("', '")}'])`,
    ),
    ...(deletes ? [`('${table}', 'delete', null)`] : []),
  ])
  .join(', ');

/**
 * The missing privileges of the tenant role on columns. The schema can be that of an older backup, in which the tables have
 * fewer columns and are not under row-level security.
 */
export const FIND_MISSING_COLUMNS = `
  select privilege || coalesce(' (' || nullif(array_to_string(present, ', '), '') || ')', '')
    || format(' on table %I.%I', current_schema(), object) as missing
  from (values ${WANTED}) as wanted (object, privilege, columns)
    join pg_class c on c.relname = object
      and c.relnamespace = (select oid from pg_namespace where nspname = current_schema())
      and (c.relrowsecurity and c.relforcerowsecurity or object = 'organization_defaults'),
    lateral (select array(select attname::text from pg_attribute
      where attrelid = c.oid and attname = any(columns) and not attisdropped order by attnum) as present) found
  where case when columns is null then not has_table_privilege('${TENANT_ROLE}', c.oid, privilege)
    else exists (select from unnest(present) name
      where not has_column_privilege('${TENANT_ROLE}', c.oid, name, privilege)) end
  order by object, privilege`;

/** The columns that no other statement reads than those of the database user. */
const SECRETS = [
  ...['api_keys.key_hash', 'operator_keys.key_hash', 'mcp_secrets.secret'],
  ...['oauth_artifacts.id_hash', 'oauth_artifacts.payload'],
];

/**
 * What the tenant role must not have on the tables of `$1`: privileges on the whole table, and those that show secrets.
 * Releases that do not know a table grant them. A later release may grant the role more columns, and rows to insert and
 * delete in the tables of which it uses columns; its instances run beside those of this one during an upgrade.
 */
export const FIND_EXCESSIVE = `
  with tables as (
    select oid, relname, relacl from pg_class
    where relnamespace = (select oid from pg_namespace where nspname = current_schema()) and relname = any($1)),
  tenant as (select oid from pg_roles where rolname = '${TENANT_ROLE}')
  select lower(privilege_type) || format(' on table %I.%I', current_schema(), relname) as excessive
  from tables, aclexplode(relacl) as acl
  where acl.grantee = (select oid from tenant)
    and not (privilege_type in ('INSERT', 'DELETE') and relname in ('${Object.keys(COLUMN_PRIVILEGES).join("', '")}'))
  union all
  select lower(privilege_type) || format(' (%I) on table %I.%I', attname, current_schema(), relname)
  from tables join pg_attribute on attrelid = tables.oid, aclexplode(attacl) as acl
  where acl.grantee = (select oid from tenant) and relname || '.' || attname in ('${SECRETS.join("', '")}')
    and (relname, privilege_type) <> ('api_keys', 'INSERT')
  order by 1`;
