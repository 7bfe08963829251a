import 'reflect-metadata';
import { createApp } from './app.js';
import { logger, setLogLevel } from './config/logger.js';
import { readSettings } from './config/settings.js';
import { openDatabase } from './database/open-database.js';
import { welcome } from './first-start.js';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function main(): Promise<void> {
  const settings = readSettings();
  setLogLevel(settings.logLevel);
  const stopped = nextSignal();
  const database = await openDatabase(settings, 'server');
  try {
    const app = await createApp({ settings, database: database.target });
    await app.listen(settings.port, settings.host);
    const url = await app.getUrl();
    const message = database.embedded ? await welcome(app, url) : undefined;
    if (message) process.stdout.write(message);
    logger.info(`Latitude listens on ${url}`);
    logger.info(`${await stopped}: finishing what is under way`);
    await app.close();
  } finally {
    await database.close();
  }
}

/** The first signal to stop; a second one ends the process at once. */
function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.once(signal, resolve);
  });
}

try {
  await main();
  process.exit(0);
} catch (error) {
  process.stderr.write(`latitude: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
