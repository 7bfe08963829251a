import type { DataSource } from 'typeorm';
import { logger } from '../../config/logger.js';
import { INSUFFICIENT_PRIVILEGE, sqlStateOf } from '../connection/driver-error.js';
import { identifierList, type TransactionRole } from '../connection/session-context.js';
import {
  ADMINISTRATIVE_TABLES,
  FIND_EXCESSIVE,
  FIND_MISSING,
  FIND_MISSING_COLUMNS,
  FIND_MISSING_OF_USER,
  FIND_UNPROTECTED,
  type Missing,
} from './tenant-privileges.js';
import { type DatabaseUser, FIND_USER, roleProblemOf } from './role-problem.js';
import { CREATE_TENANT_ROLE, TENANT_ROLE } from './tenant-role.js';

/** The search path of the user, if that of the role can differ: `"$user"` depends on the role. */
const FIND_SEARCH_PATH = `
  select current_schemas(false)::text[] as schemas where current_setting('search_path') like '%$user%'
    and exists (select from pg_namespace where nspname in (current_user, '${TENANT_ROLE}'))`;

/**
 * Checks that statements can run under the tenant role. It creates the role, its membership and its
 * privileges if they are missing and the connected user may do so.
 * One instance at a time does so, while it holds the lock of migrations.
 * @param level the level of the log for each change
 * @returns the role of statements; undefined if the policies apply to the user itself
 * @throws Error whose message names the statements to run
 */
export function prepareTenantRole(
  dataSource: DataSource,
  level: 'debug' | 'info' = 'info',
): Promise<TransactionRole | undefined> {
  return new TenantRolePreparation(dataSource, level).run();
}

class TenantRolePreparation {
  constructor(
    private readonly dataSource: DataSource,
    private readonly level: 'debug' | 'info',
  ) {}

  async run(): Promise<TransactionRole | undefined> {
    await this.dataSource.query(CREATE_TENANT_ROLE);
    const [user] = await this.dataSource.query<[DatabaseUser]>(FIND_USER);
    const problem = roleProblemOf(user);
    if (problem?.isSevere) {
      throw new Error(`${problem.message}; run as a superuser: ${problem.remedy}`);
    }
    const lacking = await this.find<Missing>(FIND_MISSING_OF_USER, !user.may_switch);
    assertNone(lacking, user.name, `The database user ${user.name} lacks privileges`);
    if (problem) {
      logger.warn(`${problem.message}; run as a superuser, and restart: ${problem.remedy}`);
      return undefined;
    }
    // Before the grants, because a privilege on a table is revoked together with those on its columns.
    await this.revoke();
    await this.grant(user.name);
    const [path] = await this.dataSource.query<{ schemas: string[] }[]>(FIND_SEARCH_PATH);
    const searchPath = path?.schemas;
    if (searchPath) await this.pinFunctions(searchPath);
    return { role: TENANT_ROLE, searchPath };
  }

  /**
   * Grants missing privileges to the tenant role.
   * @param user the connected user
   * @throws Error that names the privileges that this user may not grant
   */
  private async grant(user: string): Promise<void> {
    for (const { problem } of await this.find<{ problem: string }>(FIND_UNPROTECTED)) {
      logger.warn(`${problem}: role ${TENANT_ROLE} gets no privileges on it`);
    }
    const lacking = await this.findMissing();
    if (lacking.length === 0) return;
    for (const { missing } of lacking) {
      const effect = `granted ${missing} to role ${TENANT_ROLE}`;
      await this.change(`grant ${missing} to ${TENANT_ROLE}`, effect);
    }
    // For some grants without effect, PostgreSQL only raises a warning.
    const left = await this.findMissing();
    const problem = `Role ${TENANT_ROLE} lacks privileges that the database user ${user} may not grant`;
    assertNone(left, TENANT_ROLE, problem);
  }

  private async findMissing(): Promise<Missing[]> {
    const onTables = await this.find<Missing>(FIND_MISSING);
    return [...onTables, ...(await this.dataSource.query<Missing[]>(FIND_MISSING_COLUMNS))];
  }

  /** Revokes what the tenant role does not need on administrative tables, if the connected user has granted it. */
  private async revoke(): Promise<void> {
    for (const { excessive } of await this.find<{ excessive: string }>(FIND_EXCESSIVE)) {
      await this.change(
        `revoke ${excessive} from ${TENANT_ROLE}`,
        `revoked ${excessive} from role ${TENANT_ROLE}`,
      );
    }
  }

  /** Replaces `"$user"` in the search path of trigger functions, which would depend on the role. */
  private async pinFunctions(searchPath: readonly string[]): Promise<void> {
    const functions = await this.dataSource.query<{ name: string }[]>(`
      select oid::regprocedure::text as name from pg_proc
      where pronamespace = (select oid from pg_namespace where nspname = current_schema())
        and exists (select from unnest(proconfig) setting where setting like 'search_path=%"$user"%')
    `);
    const path = identifierList(searchPath);
    for (const { name } of functions) {
      await this.dataSource.query(`alter function ${name} set search_path = ${path}`);
    }
  }

  private find<Row>(text: string, ...values: unknown[]): Promise<Row[]> {
    return this.dataSource.query<Row[]>(text, [ADMINISTRATIVE_TABLES, ...values]);
  }

  /** Runs a statement and logs its effect, if the connected user may run it. */
  private async change(statement: string, effect: string): Promise<void> {
    try {
      await this.dataSource.query(statement);
      logger[this.level](effect);
    } catch (error) {
      if (sqlStateOf(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    }
  }
}

/** @throws Error that names the statements with which a superuser grants the privileges to a role */
function assertNone(lacking: readonly Missing[], role: string, problem: string): void {
  if (lacking.length === 0) return;
  const grants = lacking.map(({ missing }) => `grant ${missing} to ${role}`).join('; ');
  throw new Error(`${problem}; run as a superuser: ${grants}`);
}
