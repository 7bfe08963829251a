import { setTimeout as after } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { createApp } from './app.js';
import { logger, setLogLevel } from './config/logger.js';
import { createFirstKey } from './first-start.js';
import { HealthService } from './http/health/health.service.js';
import { HttpAdapter } from './http/lifecycle/http-adapter.js';
import type { AppOptions } from './root.module.js';
import { closeApp, drain, listen, listenEarly } from './server.js';
import type { Ending } from './workers/messages.js';
import type { ParentProcess } from './workers/parent-process.js';

const READINESS_INTERVAL_MS = 200;

/**
 * Runs the application in a worker until the parent or a signal ends it.
 * @throws Error whose message is meant for the user if the worker cannot start
 */
export async function runWorker(
  config: Omit<AppOptions, 'database' | 'beforeMigrating'>,
  parent: ParentProcess,
  ending: Promise<Ending>,
): Promise<void> {
  const { settings } = config;
  const { database, applicationName, embedded, role } = parent.options;
  const adapter = new HttpAdapter();
  let url: string | undefined;
  const beforeMigrating = async () => {
    void parent.send({ type: 'migrating' });
    if (role === 'first') url = await listenEarly(adapter, settings);
  };
  const options = { ...config, database, applicationName, parent, beforeMigrating };
  // The first worker has already logged the warnings of startup.
  if (role === 'further') setLogLevel('error');
  const app = await createApp(options, adapter);
  setLogLevel(settings.logLevel);
  let signal: NodeJS.Signals | undefined;
  try {
    if (role === 'successor' && !(await Promise.race([isReady(app), ending.then(() => false)])))
      return;
    url ??= await listen(adapter, settings);
    const firstKey = role === 'first' && embedded ? await createFirstKey(app, url) : undefined;
    void parent.send({ type: 'ready', url, firstKey });
    const how = await ending;
    logger.info('finishing pending requests');
    if (how === 'replace') {
      await adapter.handOver();
    } else {
      signal = how;
      await drain(app, adapter);
    }
  } finally {
    await closeApp(app, signal);
    await parent.sendReport();
  }
}

/** Waits until `/health/ready` would be 200. */
async function isReady(app: INestApplicationContext): Promise<true> {
  const health = app.get(HealthService);
  while ((await health.checkReadiness()).status !== 'ok') await after(READINESS_INTERVAL_MS);
  return true;
}
