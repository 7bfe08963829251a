import { describeFailure } from './config/failure.js';
import { formatForTerminal, logger, setLogErrors, setLogLevel } from './config/logger.js';
import { readSettings, type Settings } from './config/settings.js';
import { STOP_SIGNALS } from './config/stop-signals.js';
import { findUnknownSettings } from './config/unknown-settings.js';
import { connectionsOfWorker } from './database/connection/connection-plan.js';
import { openDatabase } from './database/connection/open-database.js';
import type { LatitudeConfig } from './extension/config.js';
import { settingsOf } from './extension/extensions.js';
import { logAddresses } from './log-addresses.js';
import { ParentProcess } from './workers/parent-process.js';

/**
 * Starts the server, or its workers, and stops it on a signal. The application is loaded last, because
 * loading it takes most of the time of a startup. A wrong setting or database is reported earlier.
 * @throws Error whose message is meant for the user if the server cannot start
 */
export async function serve(config: LatitudeConfig): Promise<void> {
  await formatForTerminal();
  const declared = settingsOf(config.extensions);
  const settings = readSettings(undefined, declared);
  setLogLevel(settings.logLevel);
  setLogErrors(settings.logErrors);
  if (settings.workers > 1) logger.setBindings({ pid: process.pid });
  const parent = ParentProcess.connect();
  if (parent) return serveInWorker(config, settings, parent);
  await checkCommands(config);
  const unknown = findUnknownSettings(Object.keys(declared));
  for (const warning of unknown) logger.warn(warning);
  const stopped = nextStopSignal();
  const database = await openDatabase(settings, 'server');
  try {
    if (settings.workers > 1) {
      const { runWorkers } = await import('./workers/run-workers.js');
      await runWorkers(settings, database, stopped, (url) => {
        logAddresses(url, settings);
      });
    } else {
      process.on('SIGUSR2', () => {
        logger.warn('SIGUSR2 restarts workers, and there are none: WEB_CONCURRENCY is 1');
      });
      const { runServer } = await import('./server.js');
      await runServer({ ...config, settings }, database, stopped);
    }
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

/** Serves in a worker. The parent reports a failure of the worker. */
async function serveInWorker(
  config: LatitudeConfig,
  ofInstance: Settings,
  parent: ParentProcess,
): Promise<void> {
  // A signal to the process group stops the workers and the parent at once, so that the parent does not
  // replace them.
  const stopped = nextStopSignal();
  const { workers, databaseMaxConnections: ofAll } = ofInstance;
  const settings = { ...ofInstance, databaseMaxConnections: connectionsOfWorker(workers, ofAll) };
  try {
    const { runWorker } = await import('./worker.js');
    await runWorker({ ...config, settings }, parent, Promise.race([parent.ending, stopped]));
  } catch (error) {
    await parent.send({ type: 'failed', message: describeFailure(error) });
    process.exit(1);
  }
}

/** Resolves with the first stop signal. A second one ends the process at once. */
function nextStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.once(signal, resolve);
  });
}
