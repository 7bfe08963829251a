import type { DataSource } from 'typeorm';
import { logger } from '../../config/logger.js';
import { identifierList, type TransactionRole } from '../connection/session-context.js';
import {
  assertPrivilegesOf,
  grantToTenantRole,
  revokeFromTenantRole,
} from './tenant-privileges.js';
import { CREATE_TENANT_ROLE, MAY_SWITCH_TO_TENANT_ROLE, TENANT_ROLE } from './tenant-role.js';

interface User {
  readonly name: string;
  /** Whether the user bypasses row-level security. */
  readonly bypasses: boolean;
  readonly may_switch: boolean;
  /** Whether the tenant role bypasses row-level security. */
  readonly role_bypasses: boolean;
}

const FIND_USER = `
  select quote_ident(current_user) as name, login.rolsuper or login.rolbypassrls as bypasses,
    ${MAY_SWITCH_TO_TENANT_ROLE} as may_switch,
    coalesce(tenant.rolsuper or tenant.rolbypassrls, false) as role_bypasses
  from pg_roles login left join pg_roles tenant on tenant.rolname = '${TENANT_ROLE}'
  where login.rolname = current_user`;

/** The search path of the user, if that of the role can differ: `"$user"` depends on the role. */
const FIND_SEARCH_PATH = `
  select current_schemas(false)::text[] as schemas where current_setting('search_path') like '%$user%'
    and exists (select from pg_namespace where nspname in (current_user, '${TENANT_ROLE}'))`;

/**
 * Checks that statements can run under the tenant role. It creates the role, its membership and its
 * privileges if they are missing and the connected user may do so.
 * One instance at a time does so, while it holds the lock of migrations.
 * @returns the role of statements; undefined if the policies apply to the user itself
 * @throws Error whose message names the statements to run
 */
export async function prepareTenantRole(
  dataSource: DataSource,
): Promise<TransactionRole | undefined> {
  await dataSource.query(CREATE_TENANT_ROLE);
  const [user] = await dataSource.query<[User]>(FIND_USER);
  if (user.role_bypasses) {
    throw new Error(
      `Row-level security does not bind role ${TENANT_ROLE}; run as a superuser: ` +
        `alter role ${TENANT_ROLE} nosuperuser nobypassrls`,
    );
  }
  if (!user.may_switch && user.bypasses) {
    throw new Error(
      `The database user ${user.name} bypasses row-level security and may not use role ` +
        `${TENANT_ROLE}; run as a superuser: create role ${TENANT_ROLE} nologin ` +
        `(unless it exists); grant ${TENANT_ROLE} to ${user.name}`,
    );
  }
  await assertPrivilegesOf(user.name, dataSource, !user.may_switch);
  if (!user.may_switch) {
    logger.warn(`role ${TENANT_ROLE} is not available: policies bind the database user itself`);
    return undefined;
  }
  await grantToTenantRole(dataSource, user.name);
  await revokeFromTenantRole(dataSource);
  const [path] = await dataSource.query<{ schemas: string[] }[]>(FIND_SEARCH_PATH);
  const searchPath = path?.schemas;
  if (searchPath) await pinFunctions(dataSource, searchPath);
  return { role: TENANT_ROLE, searchPath };
}

/** Replaces `"$user"` in the search path of trigger functions, which would depend on the role. */
async function pinFunctions(dataSource: DataSource, searchPath: readonly string[]): Promise<void> {
  const functions = await dataSource.query<{ name: string }[]>(`
    select oid::regprocedure::text as name from pg_proc
    where pronamespace = (select oid from pg_namespace where nspname = current_schema())
      and exists (select from unnest(proconfig) setting where setting like 'search_path=%"$user"%')
  `);
  for (const { name } of functions) {
    await dataSource.query(
      `alter function ${name} set search_path = ${identifierList(searchPath)}`,
    );
  }
}
