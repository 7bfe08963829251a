import type { Command } from 'commander';
import type { Run } from './run.js';

/** `latitude migrate`. */
export function addMigrate(program: Command, run: Run): void {
  program
    .command('migrate')
    .description('bring the database schema up to date')
    // The application migrates before anything is done with it.
    .action(() => run(() => Promise.resolve({ migrated: true })));
}
