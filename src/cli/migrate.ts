import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { DatabaseStatus } from '../database/connection/database-status.js';
import type { Run } from '../extension/command.js';
import type { Extension } from '../extension/extension.js';
import { extensionMigrationsOf } from '../extension/extensions.js';

/** `latitude migrate`. */
export function addMigrate(program: Command, run: Run, extensions: readonly Extension[]): void {
  program
    .command('migrate')
    .description('bring the database schema up to date')
    // The application runs the migrations when it starts.
    .action(() => run((app) => executedMigrations(app, extensions)));
}

/** The names of the executed migrations: those of Latitude, and those of each extension. */
async function executedMigrations(app: INestApplicationContext, extensions: readonly Extension[]) {
  const status = app.get(DatabaseStatus);
  const migrations = await status.migrations();
  const ofExtensions: Record<string, string[]> = {};
  for (const { extension, table } of extensionMigrationsOf(extensions)) {
    ofExtensions[extension] = await status.migrations(table);
  }
  const hasExtensions = Object.keys(ofExtensions).length > 0;
  return { migrations, ...(hasExtensions && { extensions: ofExtensions }) };
}
