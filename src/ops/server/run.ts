import '../../platform/config/v8-flags.js';
import 'reflect-metadata';
import { setLogErrors } from '../../platform/config/error-serializer.js';
import { describeFailure } from '../../platform/config/failure.js';
import { flushLog, formatForTerminal, logger, setLogLevel } from '../../platform/config/logger.js';
import { namesOf, readSettings } from '../../platform/config/settings.js';
import { nextStop } from '../../platform/config/stop-signals.js';
import { findUnknownSettings } from '../../platform/config/unknown-settings.js';
import { VERSION } from '../../platform/config/version.js';
import { defineConfig, type LatitudeConfig } from '../../platform/extension/config.js';
import { settingsOf } from '../../platform/extension/listed-extensions.js';

/**
 * Runs an application and ends the process: a command if there are arguments, otherwise the server
 * until a stop signal.
 * @param args the arguments without those of Node
 */
export async function run(
  config: LatitudeConfig = defineConfig(),
  args: readonly string[] = process.argv.slice(2),
): Promise<never> {
  if (args.length > 0) {
    const { runCommandLine } = await import('../cli/command-line.js');
    process.exit(await runCommandLine(config, args));
  }
  try {
    await serve(config);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`latitude: ${describeFailure(error)}\n`);
    process.exit(1);
  }
}

/**
 * Starts the server and stops it on a signal. What takes long to load is loaded after the first line of the log, and
 * the application last. A wrong setting or database is reported earlier.
 * @throws Error whose message is meant for the user if the server cannot start
 */
export async function serve(config: LatitudeConfig): Promise<void> {
  await formatForTerminal();
  const declared = settingsOf(config.extensions);
  const settings = readSettings(undefined, declared);
  setLogLevel(settings.logLevel);
  setLogErrors(settings.logErrors);
  logger.info(`Starting Latitude ${VERSION}`);
  flushLog();
  if (config.extensions.some(({ commands }) => commands.length > 0)) {
    // Throws an ExtensionError if one of the commands exists already.
    (await import('../cli/command-line.js')).commandLine(config);
  }
  const unknown = findUnknownSettings(namesOf(declared));
  for (const warning of unknown) logger.warn(warning);
  const stop = nextStop();
  const { startTracing } = await import('./start-tracing.js');
  const stopTracing = await startTracing(settings.tracing);
  const { openDatabase } = await import('../open-database.js');
  const database = await openDatabase(settings, 'server', stop).catch((error: unknown) => {
    if (!stop.aborted) throw error;
    return undefined;
  });
  try {
    if (database === undefined) {
      logger.info(`${String(stop.reason)}: startup is stopped`);
    } else {
      const { runServer } = await import('./run-server.js');
      await runServer({ ...config, settings }, database, stop);
    }
  } finally {
    await database?.close();
    await stopTracing();
  }
  logger.info('Latitude has stopped');
}
