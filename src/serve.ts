import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApp } from './app.js';
import { logger, setLogErrors, setLogLevel } from './config/logger.js';
import { SettingError } from './config/setting.js';
import { readSettings, type Settings } from './config/settings.js';
import { findUnknownSettings } from './config/unknown-settings.js';
import { openDatabase } from './database/connection/open-database.js';
import type { LatitudeConfig } from './extension/config.js';
import { settingsOf } from './extension/extensions.js';
import { createFirstKey } from './first-start.js';
import { startingListener } from './http/lifecycle/starting-listener.js';
import { HttpAdapter } from './http/lifecycle/http-adapter.js';

/** Connections that the operating system queues until the server accepts them. */
const LISTEN_BACKLOG = 1_024;

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Starts the server and stops it on a signal.
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
    const adapter = new HttpAdapter();
    let url: string | undefined;
    // Without a migration the port opens when the application is ready, so that proxies use another
    // instance until then.
    const beforeMigrating = async () => {
      url = await listen(adapter.createEarlyServer(startingListener(settings)), settings);
    };
    const options = { ...config, settings, database: database.target, beforeMigrating };
    const app = await createApp(options, adapter);
    try {
      url ??= await listen(adapter.getHttpServer(), settings);
      const message = database.embedded ? await createFirstKey(app, url) : undefined;
      if (message) process.stdout.write(message);
      logger.info(`Latitude listens on ${url}`);
      logger.info(addresses(url, settings));
      logger.info(`${await stopped}: finishing pending requests`);
    } finally {
      await app.close();
    }
  } finally {
    await database.close();
  }
}

function addresses(url: string, { docs }: Settings): string {
  return `${docs ? `Reference: ${url}/docs. ` : ''}Address for AI agents: ${url}/mcp`;
}

/** @throws SettingError if the port is in use or the host is not an address of this machine */
async function listen(server: Server, { port, host }: Settings): Promise<string> {
  try {
    await once(server.listen(port, host, LISTEN_BACKLOG), 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new SettingError('PORT, HOST', `cannot be listened on: ${host}:${port} (${code})`);
  }
  const { address, family, port: chosen } = server.address() as AddressInfo;
  // A server that listens on all addresses is reachable on this machine by its loopback address.
  const reachable = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  return `http://${family === 'IPv6' ? `[${reachable}]` : reachable}:${chosen}`;
}

/** Resolves with the first stop signal. A second one ends the process at once. */
function nextStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.once(signal, resolve);
  });
}
