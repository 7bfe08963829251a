import cluster from 'node:cluster';
import { logger } from '../config/logger.js';
import { SettingError } from '../config/setting.js';
import type { Settings } from '../config/settings.js';
import { nameOfServer } from '../database/connection/server-name.js';
import type { DatabaseHandle } from '../database/connection/open-database.js';
import { MemoryRateLimitStorage } from '../rate-limit/rate-limit.storage.js';
import type { WorkerOptions } from './messages.js';
import { WorkerMetrics } from './worker-metrics.js';
import { WorkerPool } from './worker-pool.js';
import type { WorkerListener } from './worker-process.js';

/**
 * Runs workers on an open database until a stop signal. They share the port, the rate limits and the page of
 * metrics, and count as one instance.
 * @param onReady called with the URL when all workers are ready
 * @throws Error whose message is meant for the user if a worker cannot start
 */
export async function runWorkers(
  settings: Settings,
  { target: database, embedded }: DatabaseHandle,
  stopped: Promise<NodeJS.Signals>,
  onReady: (url: string) => void,
): Promise<void> {
  if (cluster.isWorker) {
    throw new SettingError(
      'WEB_CONCURRENCY',
      'must be 1 in a worker of another process, such as PM2',
    );
  }
  // The parent accepts all connections, so that none is lost with the listener of a worker.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  const pool = createPool(settings.workers, {
    database,
    embedded,
    applicationName: nameOfServer(),
  });
  process.on('SIGUSR2', () => {
    pool.restart();
  });
  let signal: NodeJS.Signals = 'SIGTERM';
  try {
    const ready = await Promise.race([pool.start(), stopped]);
    if (typeof ready === 'object') {
      if (ready.firstKey) process.stdout.write(ready.firstKey);
      onReady(ready.url);
      logger.info(`The workers are ${pool.ready.map(({ pid }) => pid).join(', ')}`);
    }
    signal = await stopped;
    logger.info(`${signal}: the workers finish pending requests`);
  } finally {
    await pool.stop(signal);
  }
}

/** Creates the pool of workers, whose rate limits and metrics this process keeps. */
function createPool(size: number, options: Omit<WorkerOptions, 'role'>): WorkerPool {
  const windows = new MemoryRateLimitStorage();
  const metrics = new WorkerMetrics();
  const listener: WorkerListener = {
    onReport: (worker, report) => {
      metrics.receive(worker, report);
    },
    replyTo: (request, worker) => {
      if (request.topic === 'limits') return request.requests.map((each) => windows.take(each));
      metrics.receive(worker, request.report);
      return metrics.page(pool.ready.filter((other) => other !== worker));
    },
  };
  const pool = new WorkerPool(size, options, listener, (worker) => {
    metrics.keep(worker);
  });
  return pool;
}
