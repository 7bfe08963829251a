import { Command, CommanderError } from 'commander';
import { FEATURES } from '../../app.module.js';
import { describeFailure } from '../../platform/config/failure.js';
import { formatForTerminal } from '../../platform/config/logger.js';
import { VERSION } from '../../platform/config/version.js';
import type { LatitudeConfig } from '../../platform/extension/config.js';
import { checkExtensions } from '../../platform/extension/extensions.js';
import { ExtensionError } from '../../platform/extension/listed-extensions.js';
import type { Run } from '../../platform/extension/command.js';
import { addConsole } from './console.js';
import { addBackup, addRestore } from './backup.js';
import { addCounters } from './counters.js';
import { addDemo } from './demo.js';
import { addDoctor } from './doctor.js';
import { addErasures } from './erasures.js';
import { addJobs } from './jobs.js';
import { addKeys, addOperators } from './keys.js';
import { addMigrate } from './migrate.js';
import { addNew } from './new.js';
import { addOpenApi } from './openapi.js';
import { addOrganizations } from './organizations.js';
import { writeOutput } from './output.js';
import { addPurge } from './purge.js';
import { databaseRunner } from './run.js';

const COMMANDS = [
  addOrganizations,
  addKeys,
  addOperators,
  addConsole,
  addCounters,
  addJobs,
  addPurge,
  addErasures,
  addDemo,
];

/**
 * Runs one command. Errors are printed as one line.
 * @param args the arguments without those of Node
 * @returns the exit code
 */
export async function runCommandLine(
  config: LatitudeConfig,
  args: readonly string[],
): Promise<number> {
  try {
    await formatForTerminal();
    const program = commandLine(config);
    await program.parseAsync(args, { from: 'user' }).catch((error: unknown) => {
      if (!(error instanceof CommanderError)) throw error;
      process.exitCode = error.exitCode;
    });
    // A command that reports a problem sets the exit code.
    return Number(process.exitCode ?? 0);
  } catch (error) {
    console.error(`latitude: ${describeFailure(error)}`);
    return 1;
  }
}

/** @throws ExtensionError if the extensions are refused, or one of their commands exists already */
export function commandLine(config: LatitudeConfig): Command {
  checkExtensions(FEATURES, config.extensions);
  const program = new Command('latitude')
    .description('Manages organizations, their API keys and their data.')
    .version(VERSION, '--version', 'print the version of Latitude')
    .option('--json', 'print one JSON value and nothing else')
    .configureOutput({ writeOut: writeOutput })
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  const runOnDatabase = databaseRunner(program, config);
  const run: Run = (action) =>
    runOnDatabase(({ withApp, progress }) => withApp((app) => action(app, progress)));
  for (const add of COMMANDS) add(program, run);
  addMigrate(program, runOnDatabase, config.extensions);
  addBackup(program, runOnDatabase, config.extensions);
  addRestore(program, runOnDatabase, config.extensions);
  addDoctor(program, config);
  addOpenApi(program, config);
  addNew(program);
  for (const { name, commands } of [...FEATURES, ...config.extensions]) {
    try {
      for (const add of commands) add(program, run);
    } catch (cause) {
      const message = `A command of the extension ${name} is refused: ${(cause as Error).message}.`;
      throw new ExtensionError(message, { cause });
    }
  }
  return program;
}
