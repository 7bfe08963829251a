#!/usr/bin/env node
import 'reflect-metadata';
import { Command, CommanderError } from 'commander';
import { addBackup, addRestore } from './cli/backup.js';
import { addCounters } from './cli/counters.js';
import { addDemo } from './cli/demo.js';
import { addKeys } from './cli/keys.js';
import { addLeads } from './cli/leads.js';
import { addMigrate } from './cli/migrate.js';
import { addOpenApi } from './cli/openapi.js';
import { addOrganizations } from './cli/organizations.js';
import { addPurge } from './cli/purge.js';
import { createRunner } from './cli/run.js';

const program = new Command('latitude')
  .description('Manages organizations, their API keys and their data.')
  .option('--json', 'print one JSON value and nothing else')
  .exitOverride();

const run = createRunner(program);
const commands = [
  addOrganizations,
  addKeys,
  addLeads,
  addMigrate,
  addCounters,
  addPurge,
  addDemo,
  addBackup,
  addRestore,
  addOpenApi,
];
for (const add of commands) add(program, run);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode;
  else {
    console.error(`latitude: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
process.exit();
