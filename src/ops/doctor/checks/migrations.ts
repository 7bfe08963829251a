import { VERSION } from '../../../platform/config/version.js';
import {
  compareMigrations,
  hasSchema,
  isOlderThanBaseline,
  MIGRATIONS_TABLE,
} from '../../../platform/data/executed-migrations.js';
import { extensionMigrationsOf } from '../../../platform/extension/extensions.js';
import { type Checks, failed, listed, ok, warning } from '../check.js';
import type { DatabaseContext } from '../context.js';

/** How the schema of a database relates to the migrations of this program and its extensions. */
export type SchemaState = 'hidden' | 'empty' | 'unsupported' | 'pending' | 'newer' | 'current';

type Migrations = Pick<DatabaseContext, 'executed' | 'extensions'>;

export const HIDDEN = failed(
  'The database user may not read which migrations have run.',
  'Set DATABASE_URL to the user who owns the tables of Latitude.',
);

export const UNSUPPORTED = failed(
  'The schema is from before release 0.3.0, which this version does not upgrade.',
  'Make a backup, run latitude migrate of release 0.4.0, and then start this version.',
);

export function schemaStateOf({ executed, extensions }: Migrations): SchemaState {
  if (!executed) return 'hidden';
  if (!hasSchema(executed)) return 'empty';
  if (isOlderThanBaseline(executed[MIGRATIONS_TABLE] ?? [])) return 'unsupported';
  const { missing, unknown } = compareMigrations(executed, extensionMigrationsOf(extensions));
  if (missing.length > 0) return 'pending';
  return unknown.length > 0 ? 'newer' : 'current';
}

/** Whether the migrations of this program and its extensions have run, and no others. */
export const MIGRATION_CHECKS: Checks<DatabaseContext> = {
  migrations: async ({ sql, executed, extensions }) => {
    const state = schemaStateOf({ executed, extensions });
    const { missing, unknown } = compareMigrations(
      executed ?? {},
      extensionMigrationsOf(extensions),
    );
    switch (state) {
      case 'hidden':
        return HIDDEN;
      case 'empty': {
        const { may_create, name } = await sql.readOne<{ may_create: boolean; name: string }>(
          `select has_schema_privilege(current_schema(), 'create') as may_create,
             quote_ident(current_user) as name`,
        );
        const problem = 'The database is empty';
        return may_create
          ? failed(
              `${problem}.`,
              'Start the server or run latitude migrate, which set it up, or restore a backup.',
            )
          : failed(
              `${problem}, and the database user ${name} may not create tables in it.`,
              `As a superuser: grant create on schema public to ${name};`,
            );
      }
      case 'unsupported':
        return UNSUPPORTED;
      case 'pending':
        return failed(
          `The database lacks the migrations ${listed(missing)}.`,
          'Make a backup with the version that runs now, look at latitude doctor --upgrade, and then start this version or run latitude migrate.',
        );
      case 'newer':
        return warning(
          `The database has migrations that Latitude ${VERSION} and its extensions do not have: ${listed(unknown)}.`,
          'Run commands with the version and the extensions that migrated it. Instances of the release before it may go on.',
        );
      case 'current':
        return ok(
          `All migrations of Latitude ${VERSION} and its extensions have run, and no others.`,
        );
    }
  },
};
