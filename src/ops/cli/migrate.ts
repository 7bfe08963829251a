import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { KeysService } from '../../modules/auth/keys.service.js';
import { SystemDatabase } from '../../platform/data/gateway/system-database.js';
import {
  MIGRATIONS_TABLE,
  readExecutedMigrations,
} from '../../platform/data/executed-migrations.js';
import type { Extension } from '../../platform/extension/extension.js';
import { extensionMigrationsOf } from '../../platform/extension/extensions.js';
import { ContactIdentityService } from '../../modules/leads/contact-identity/contact-identity.service.js';
import { listConflicts } from '../../modules/leads/leads.commands.js';
import { eachOrganization } from './each-organization.js';
import type { RunOnDatabase } from './run.js';

/** `latitude migrate`. */
export function addMigrate(
  program: Command,
  runOnDatabase: RunOnDatabase,
  extensions: readonly Extension[],
): void {
  program
    .command('migrate')
    .description('bring the database schema and the stored forms of leads up to date')
    .action(() =>
      runOnDatabase(({ withMigratingApp, progress }) =>
        withMigratingApp(async (app) => {
          const migrations = await executedMigrations(app, extensions);
          const contacts = app.get(ContactIdentityService);
          await eachOrganization(
            app,
            (call, { phone_region }) => contacts.refill(call, phone_region),
            progress,
          );
          // The leads whose e-mail or phone belongs to another lead.
          const conflicts = await listConflicts(
            app,
            await app.get(KeysService).listOrganizations(),
          );
          return { ...migrations, ...(conflicts.length > 0 && { conflicts }) };
        }),
      ),
    );
}

/** The names of the executed migrations: those of Latitude, and those of each extension. */
async function executedMigrations(app: INestApplicationContext, extensions: readonly Extension[]) {
  const database = app.get(SystemDatabase);
  const executed = await readExecutedMigrations((text) => database.read(text));
  const ofExtensions = extensionMigrationsOf(extensions).map(
    ({ extension, table }) => [extension, executed[table]] as const,
  );
  return {
    migrations: executed[MIGRATIONS_TABLE],
    ...(ofExtensions.length > 0 && { extensions: Object.fromEntries(ofExtensions) }),
  };
}
