import { formatForTerminal, logger, setLogErrors, setLogLevel } from './config/logger.js';
import { readSettings } from './config/settings.js';
import { STOP_SIGNALS } from './config/stop-signals.js';
import { findUnknownSettings } from './config/unknown-settings.js';
import { openDatabase } from './database/connection/open-database.js';
import type { LatitudeConfig } from './extension/config.js';
import { settingsOf } from './extension/extensions.js';

/**
 * Starts the server and stops it on a signal. The application is loaded last, because
 * loading it takes most of the time of a startup. A wrong setting or database is reported earlier.
 * @throws Error whose message is meant for the user if the server cannot start
 */
export async function serve(config: LatitudeConfig): Promise<void> {
  await formatForTerminal();
  const declared = settingsOf(config.extensions);
  const settings = readSettings(undefined, declared);
  setLogLevel(settings.logLevel);
  setLogErrors(settings.logErrors);
  await checkCommands(config);
  const unknown = findUnknownSettings(Object.keys(declared));
  for (const warning of unknown) logger.warn(warning);
  const stopped = nextStopSignal();
  const database = await openDatabase(settings, 'server');
  try {
    const { runServer } = await import('./server.js');
    await runServer({ ...config, settings }, database, stopped);
  } finally {
    await database.close();
  }
}

/** @throws ExtensionError if a command of an extension exists already */
async function checkCommands(config: LatitudeConfig): Promise<void> {
  if (config.extensions.every(({ commands }) => commands.length === 0)) return;
  const { commandLine } = await import('./cli/command-line.js');
  commandLine(config);
}

/** Resolves with the first stop signal. A second one ends the process at once. */
function nextStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.once(signal, resolve);
  });
}
