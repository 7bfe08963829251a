import { once } from 'node:events';
import type { INestApplicationContext } from '@nestjs/common';
import type { NestApplicationContext } from '@nestjs/core';
import { createApp } from '../../app.js';
import { KeysService } from '../../modules/auth/keys.service.js';
import { ORDINARY_SCOPES } from '../../platform/access/scopes.js';
import { flushLog, logger } from '../../platform/config/logger.js';
import { describeFailure } from '../../platform/config/failure.js';
import { Settings } from '../../platform/config/settings.js';
import { writeSynchronously } from '../../platform/config/standard-output.js';
import { consoleLink, createConsoleKey } from '../console-key.js';
import type { DatabaseHandle } from '../open-database.js';
import { listen } from '../../platform/http/lifecycle/listen.js';
import { ScheduledPurgeModule } from './scheduled-purge.js';
import { startingListener } from '../../platform/http/lifecycle/starting-listener.js';
import { HealthService } from '../../platform/http/health/health.service.js';
import { HttpAdapter } from '../../platform/http/lifecycle/http-adapter.js';
import type { AppOptions } from '../../app.module.js';

/**
 * Runs the application on an open database until it is to stop.
 * @param stop is aborted then, with the name of the signal as the reason
 * @throws Error whose message is meant for the user if the server cannot start
 */
export async function runServer(
  config: Omit<AppOptions, 'database' | 'beforeMigrating'>,
  database: DatabaseHandle,
  stop: AbortSignal,
): Promise<void> {
  const { settings } = config;
  const { host, port } = settings;
  const adapter = new HttpAdapter();
  let url: string | undefined;
  // If there is nothing to migrate, the port opens when the application is ready. Until then, proxies use
  // other instances.
  const beforeMigrating = async () => {
    if (url !== undefined) return;
    adapter.serveBefore(startingListener(settings));
    url = await listen(adapter.getHttpServer(), host, port, 'PORT');
  };
  const purges = settings.purgeAfter === undefined ? [] : [ScheduledPurgeModule];
  const modules = [...(config.modules ?? []), ...purges];
  const options = { ...config, modules, database: database.target, beforeMigrating };
  const starting = createApp(options, adapter);
  const stopped = stop.aborted ? Promise.resolve() : once(stop, 'abort');
  const app = await Promise.race([starting, stopped.then(() => undefined)]);
  if (app === undefined) {
    logger.info(`${String(stop.reason)}: startup is stopped`);
    // The process ends before it. PostgreSQL rolls back what it has not committed.
    starting.catch(() => undefined);
    if (url !== undefined) await adapter.close();
    return;
  }
  try {
    url ??= await listen(adapter.getHttpServer(), host, port, 'PORT');
    const message = database.embedded ? await createFirstKeys(app, url) : undefined;
    logger.info(`Latitude listens on ${url}`);
    logger.info(
      `${settings.docs ? `Reference: ${url}/docs. ` : ''}Address for AI agents: ${url}/mcp`,
    );
    if (message) printFirstKeys(message);
    await startBackups(app, database, stop);
    await stopped;
    logger.info(`${String(stop.reason)}: finishing pending requests`);
    // Load balancers notice meanwhile that the instance is not ready.
    const { shutdownDelaySeconds: seconds } = app.get(HealthService);
    if (seconds > 0) {
      logger.info(`accepting connections for ${seconds} more seconds`);
      await adapter.shutdown.drain(seconds * 1_000);
    }
  } finally {
    await closeApp(app, stop.reason as NodeJS.Signals | undefined);
  }
}

/** Starts the scheduled backups of the embedded PostgreSQL, if the settings name their directory. */
async function startBackups(
  app: INestApplicationContext,
  { target }: DatabaseHandle,
  stop: AbortSignal,
): Promise<void> {
  const { backupDir, backupAt, backupKeep } = app.get(Settings);
  if (backupDir === undefined) return;
  const { ScheduledBackups } = await import('./scheduled-backups.js');
  const plan = { directory: backupDir, at: backupAt, keep: backupKeep };
  new ScheduledBackups(app, target, plan, stop).start();
}

/** Closes the application. Its shutdown hooks receive the signal. */
export async function closeApp(
  app: INestApplicationContext,
  signal: NodeJS.Signals | undefined,
): Promise<void> {
  await (app as NestApplicationContext).close(signal);
}

/**
 * Creates an organization and its keys if the database has none (docs/contract/running.md#start): one for requests and, if
 * the console is served, one for it.
 * @returns a message for the terminal with the keys; undefined if the database has keys already
 */
async function createFirstKeys(
  app: INestApplicationContext,
  url: string,
): Promise<string | undefined> {
  const keys = app.get(KeysService);
  const [existing, ...others] = await keys.listOrganizations();
  // An interrupted first startup leaves an organization without keys.
  if (others.length > 0 || (existing && (await keys.listKeys(existing.id)).length > 0)) return;
  const organization = existing ?? (await keys.createOrganization('My organization'));
  const { key } = await keys.createKey({
    organizationId: organization.id,
    name: 'First key',
    scopes: ORDINARY_SCOPES,
  });
  return `
Your organization: ${organization.id}
Your API key, shown only now: ${key}

Create your first lead:

curl -X POST ${url}/api/v1/leads -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '{"first_name":"Ada","last_name":"Lovelace","email":"ada@example.com"}'

${await linkToConsole(app, url, organization.id)}`;
}

/** @returns the part of the message of a first start about the console; empty if it is not served */
async function linkToConsole(
  app: INestApplicationContext,
  url: string,
  organizationId: string,
): Promise<string> {
  const settings = app.get(Settings);
  if (!settings.console) return '';
  const key = await createConsoleKey(app.get(KeysService), settings, organizationId);
  return `Or open the console, with a key of its own that is shown only now, too:

${consoleLink(url, key)}

`;
}

/** Prints the message with the keys of the first start after the lines of the log. */
function printFirstKeys(message: string): void {
  flushLog();
  try {
    writeSynchronously(message);
  } catch (error) {
    process.stderr.write(
      `latitude: The first keys were created, but not printed: ${describeFailure(error)}. Create another one with "latitude keys create".\n`,
    );
  }
}
