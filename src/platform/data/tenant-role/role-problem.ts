import { MAY_SWITCH_TO_TENANT_ROLE, TENANT_ROLE } from './tenant-role.js';

/** The connected user, and the tenant role. */
export interface DatabaseUser {
  readonly name: string;
  /** Whether the user bypasses row-level security. */
  readonly bypasses: boolean;
  readonly may_switch: boolean;
  readonly role_exists: boolean;
  /** Whether the tenant role bypasses row-level security. */
  readonly role_bypasses: boolean;
}

/** Reads the `DatabaseUser`. */
export const FIND_USER = `
  select quote_ident(current_user) as name, login.rolsuper or login.rolbypassrls as bypasses,
    ${MAY_SWITCH_TO_TENANT_ROLE} as may_switch, tenant.rolname is not null as role_exists,
    coalesce(tenant.rolsuper or tenant.rolbypassrls, false) as role_bypasses
  from pg_roles login left join pg_roles tenant on tenant.rolname = '${TENANT_ROLE}'
  where login.rolname = current_user`;

/** What is wrong with the tenant role, and the statements by which a superuser repairs it. */
interface RoleProblem {
  readonly message: string;
  readonly remedy: string;
  /** Whether records of organizations would not be kept apart. */
  readonly isSevere: boolean;
}

/** @returns undefined if statements can run under the tenant role, which is bound by the policies */
export function roleProblemOf(user: DatabaseUser): RoleProblem | undefined {
  if (user.role_bypasses) {
    return {
      message: `Row-level security does not bind role ${TENANT_ROLE}`,
      remedy: `alter role ${TENANT_ROLE} nosuperuser nobypassrls;`,
      isSevere: true,
    };
  }
  if (user.may_switch) return undefined;
  const message = user.bypasses
    ? `The database user ${user.name} bypasses row-level security and may not use role ${TENANT_ROLE}`
    : `Role ${TENANT_ROLE} is not available: policies bind the database user itself`;
  return { message, remedy: grantRole(user), isSevere: user.bypasses };
}

/** The statements with which a superuser lets the user use the tenant role. */
function grantRole({ name, role_exists: exists }: DatabaseUser): string {
  const create = exists ? '' : `create role ${TENANT_ROLE} nologin; `;
  return `${create}grant ${TENANT_ROLE} to ${name};`;
}
