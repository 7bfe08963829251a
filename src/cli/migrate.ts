import type { Command } from 'commander';
import { DatabaseStatus } from '../database/connection/database-status.js';
import type { Run } from './run.js';

/** `latitude migrate`. */
export function addMigrate(program: Command, run: Run): void {
  program
    .command('migrate')
    .description('bring the database schema up to date')
    // The application runs the migrations when it starts.
    .action(() => run(async (app) => ({ migrations: await app.get(DatabaseStatus).migrations() })));
}
