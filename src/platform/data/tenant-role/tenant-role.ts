import { TENANT_SETTING } from '../connection/session-context.js';

/**
 * The role of all statements on records of organizations. It owns no tables and is neither a superuser
 * nor a login role, so that row-level security always applies to it.
 */
export const TENANT_ROLE = 'latitude_app';

/** The condition of the policy of every table with an `organization_id`. */
const TENANT_POLICY = `organization_id = nullif(current_setting('${TENANT_SETTING}', true), '')::uuid`;

/** Whether a condition that PostgreSQL reports is that of the policy `tenant`. */
function isTenantPolicy(condition: string | null | undefined): boolean {
  return withoutTypes(condition) === withoutTypes(TENANT_POLICY);
}

/** Whether a condition that PostgreSQL reports is that of the policy `worker`. */
function isWorkerPolicy(condition: string | null | undefined): boolean {
  return withoutTypes(condition) === withoutTypes(WORKER_POLICY);
}

/**
 * Whether conditions that PostgreSQL reports are those of a table of organizations: that of the policy `tenant`, and no others
 * but those of the policy `worker`.
 */
export function areTenantPolicies(conditions: readonly (string | null)[]): boolean {
  const others = conditions.filter((condition) => !isTenantPolicy(condition));
  return others.length === conditions.length - 1 && others.every(isWorkerPolicy);
}

/** Whether a condition that PostgreSQL reports is that of the policy `system`. */
export function isSystemPolicy(condition: string | null | undefined): boolean {
  return withoutTypes(condition) === withoutTypes(SYSTEM_POLICY);
}

/** Removes the casts and parentheses that PostgreSQL adds to a condition. */
function withoutTypes(condition: string | null | undefined): string | undefined {
  return condition?.toLowerCase().replaceAll(/::\w+|[\s()]/g, '');
}

/** The setting that shows the jobs and events of all organizations to the workers of jobs and events. */
export const WORKER_SETTING = 'app.job_worker';

/**
 * The condition of the policy `worker` of tables that `SystemDatabase` reads without an organization: `jobs`, `calendars` and those
 * of events. It never holds under the tenant role.
 */
const WORKER_POLICY = `current_setting('${WORKER_SETTING}', true) = 'on' and current_user <> '${TENANT_ROLE}'`;

/**
 * The condition of the policy `system` of the tables that are read before the organization is known, such as `api_keys`. It
 * never holds under the tenant role. The owner of the tables needs it, because forced policies bind it, too.
 */
const SYSTEM_POLICY = `current_user <> '${TENANT_ROLE}' and coalesce(current_setting('${TENANT_SETTING}', true), '') = ''`;

/** SQL: whether the connected user may switch to the tenant role. PostgreSQL 16 requires the SET option. */
export const MAY_SWITCH_TO_TENANT_ROLE = `(
  exists (select from pg_roles where rolname = '${TENANT_ROLE}') and
  pg_has_role(current_user, (select oid from pg_roles where rolname = '${TENANT_ROLE}'),
    case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end))`;

/**
 * Creates the tenant role and grants it to the connected user, if the user may do so. Otherwise the
 * forced policies apply to the user itself.
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

/** Statements for a migration that enable row-level security on a table with an `organization_id`. */
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
