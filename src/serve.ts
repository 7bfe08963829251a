import { logger, setLogErrors, setLogLevel } from './config/logger.js';
import { readSettings } from './config/settings.js';
import { findUnknownSettings } from './config/unknown-settings.js';
import { openDatabase } from './database/connection/open-database.js';
import type { LatitudeConfig } from './extension/config.js';
import { settingsOf } from './extension/extensions.js';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Starts the server and stops it on a signal. The application is loaded last, because loading takes most of
 * the time of a start: a wrong setting or database is reported before.
 * @throws Error with a sentence for the user if the server cannot start
 */
export async function serve(config: LatitudeConfig): Promise<void> {
  const declared = settingsOf(config.extensions);
  const settings = readSettings(undefined, declared);
  setLogLevel(settings.logLevel);
  setLogErrors(settings.logErrors);
  const unknown = findUnknownSettings(undefined, Object.keys(declared));
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

/** Resolves with the first stop signal. A second one ends the process at once. */
function nextStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.once(signal, resolve);
  });
}
