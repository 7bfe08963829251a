import {
  type DatabaseUser,
  FIND_USER,
  roleProblemOf,
} from '../../../platform/data/tenant-role/role-problem.js';
import {
  ADMINISTRATIVE_TABLES,
  FIND_EXCESSIVE,
  FIND_MISSING,
  FIND_MISSING_COLUMNS,
  FIND_MISSING_OF_USER,
  FIND_UNPROTECTED,
  type Missing,
} from '../../../platform/data/tenant-role/tenant-privileges.js';
import { TENANT_ROLE } from '../../../platform/data/tenant-role/tenant-role.js';
import { tableOf } from '../../../platform/data/records/tenant-entity.js';
import type { Extension } from '../../../platform/extension/extension.js';
import { type Checks, failed, type Finding, ok, skipped, together, warning } from '../check.js';
import type { DatabaseContext } from '../context.js';
import { readExpectedSchema } from '../schema-picture.js';
import { schemaStateOf } from './migrations.js';

/**
 * Whether requests run under the role to which row-level security applies, and whether the role has exactly the privileges
 * that it needs.
 */
export const TENANCY_CHECKS: Checks<DatabaseContext> = {
  role: async ({ sql }) => {
    const user = await sql.readOne<DatabaseUser>(FIND_USER);
    const problem = roleProblemOf(user);
    if (problem) {
      const make = problem.isSevere ? failed : warning;
      return make(`${problem.message}.`, `As a superuser: ${problem.remedy}`);
    }
    return ok(`The database user ${user.name} uses role ${TENANT_ROLE}, which the policies bind.`);
  },

  owners: async ({ sql }) => {
    const tables = [...readExpectedSchema().values()].filter(({ kind }) => kind === 'table');
    const names = tables.map(({ name }) => name);
    const rows = await sql.read<{ message: string; remedy: string }>(FIND_TABLES_OF_OTHERS, [
      names,
    ]);
    return together(
      rows.map(({ message, remedy }) => warning(message, remedy)),
      ok('The tables belong to the database user, which can migrate them.'),
    );
  },

  grants: async ({ sql, executed, extensions }) => {
    if (schemaStateOf({ executed, extensions }) === 'pending')
      return skipped('The upgrade grants the privileges that its migrations need.');
    const user = await sql.readOne<DatabaseUser>(FIND_USER);
    const parameters = [ADMINISTRATIVE_TABLES];
    // Without the role, the user itself needs its privileges.
    const runsAsUser = !user.may_switch;
    const ofUser = await sql.read<Missing>(FIND_MISSING_OF_USER, [...parameters, runsAsUser]);
    if (!user.role_exists) {
      return together(
        ofUser.map((each) => lacking(each, user.name)),
        skipped(`There is no role ${TENANT_ROLE}.`),
      );
    }
    const ofRole = [
      ...(await sql.read<MissingOn>(FIND_MISSING, parameters)).filter(isKnown(extensions)),
      ...(await sql.read<Missing>(FIND_MISSING_COLUMNS)),
    ];
    const excessive = await sql.read<{ excessive: string }>(FIND_EXCESSIVE, parameters);
    const unprotected = await sql.read<{ problem: string }>(FIND_UNPROTECTED, parameters);
    return together(
      [
        ...excessive.map((each) =>
          failed(
            `Role ${TENANT_ROLE} may ${each.excessive}, which requests must not.`,
            `revoke ${each.excessive} from ${TENANT_ROLE};`,
          ),
        ),
        ...ofUser.map((each) => lacking(each, user.name)),
        ...ofRole.map((each) => lacking(each, TENANT_ROLE)),
        ...unprotected.map(({ problem }) =>
          warning(`The ${problem}.`, 'Protect it as createTenantTable does.'),
        ),
      ],
      ok('The roles have the privileges that they need, and no others on secrets.'),
    );
  },
};

const FIND_TABLES_OF_OTHERS = `
  select format('The table %s belongs to %I, so that migrations of it fail.', oid::regclass, pg_get_userbyid(relowner))
      as message,
    format('As a superuser: alter table %s owner to %I;', oid::regclass, current_user) as remedy
  from pg_class where relnamespace = current_schema()::regnamespace and relname = any($1)
    and not pg_has_role(relowner, 'usage') order by 1`;

/** Privileges that a role lacks on a table or sequence, or on the schema. */
interface MissingOn extends Missing {
  readonly object: string;
}

/**
 * Whether Latitude or an extension needs a privilege. Those on tables of others are left out, because the next start grants
 * them.
 */
function isKnown(extensions: readonly Extension[]) {
  const ofExtensions = extensions.flatMap(({ entities }) => entities.map(tableOf));
  const objects = [...readExpectedSchema().values(), ...ofExtensions].map(({ name }) => name);
  // '' stands for the schema.
  const known = new Set(['', ...objects]);
  return ({ object }: MissingOn): boolean => known.has(object);
}

function lacking({ missing }: Missing, role: string): Finding {
  return failed(
    `Role ${role} lacks ${missing}.`,
    `As the owner or a superuser: grant ${missing} to ${role};`,
  );
}
