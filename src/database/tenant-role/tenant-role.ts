/**
 * The role that every statement of a tenant runs under: no owner of tables, no superuser, no
 * login. Row-level security therefore always binds it.
 */
export const TENANT_ROLE = 'latitude_app';

/** The setting that the policies compare `organization_id` with. */
export const TENANT_SETTING = 'app.organization_id';

/** The condition of the policy that every table with an `organization_id` has. */
export const TENANT_POLICY = `organization_id = nullif(current_setting('${TENANT_SETTING}', true), '')::uuid`;

/** Whether the connected user may switch to the tenant role; PostgreSQL 16 asks for more than membership. */
export const MAY_SWITCH_TO_TENANT_ROLE = `(
  exists (select from pg_roles where rolname = '${TENANT_ROLE}') and
  pg_has_role(current_user, (select oid from pg_roles where rolname = '${TENANT_ROLE}'),
    case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end))`;

/**
 * Makes the tenant role where the connected user may, and lets that user switch to it. A user who
 * may not make roles is bound by the forced policies itself, unless it is a superuser.
 */
export const CREATE_TENANT_ROLE = `
  do $$ begin
    if not exists (select from pg_roles where rolname = '${TENANT_ROLE}') then
      create role ${TENANT_ROLE} nologin;
    end if;
    if not ${MAY_SWITCH_TO_TENANT_ROLE} then
      grant ${TENANT_ROLE} to current_user;
    end if;
  exception
    when insufficient_privilege then
      raise notice 'role ${TENANT_ROLE} is not available to %', current_user;
    when duplicate_object or unique_violation then null;
  end $$`;

/** Statements that put a table with an `organization_id` under row-level security. */
export function protectTenantTable(table: string): string[] {
  return [
    `alter table ${table} enable row level security`,
    `alter table ${table} force row level security`,
    `create policy tenant on ${table} using (${TENANT_POLICY})`,
    `do $$ begin
       if exists (select from pg_roles where rolname = '${TENANT_ROLE}') then
         grant select, insert, update, delete on ${table} to ${TENANT_ROLE};
       end if;
     end $$`,
  ];
}
