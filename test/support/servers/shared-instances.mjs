/** The server that suites share: one instance, or several behind HAProxy with limits in Redis. */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { HAPROXY_PATH, instancesConfiguration, serverRows, statsSection } from './haproxy.mjs';

const POLL_INTERVAL_MS = 50;

/**
 * Starts `TEST_INSTANCES` instances, by default one. They load the application before the database is ready.
 * @param database a promise of their database
 */
export async function startInstances(database) {
  const count = Number(process.env.TEST_INSTANCES ?? 1);
  if (!(Number.isInteger(count) && count >= 1)) throw new Error('TEST_INSTANCES must be 1 or more');
  const servers = Array.from({ length: count }, () =>
    fork(path.join(import.meta.dirname, 'shared-server.mjs')),
  );
  const target = await database;
  const redis = count > 1 ? await startRedis() : undefined;
  for (const server of servers) {
    server.send({ database: target, environment: redis?.environment ?? {} });
  }
  const started = await Promise.all(servers.map((server) => once(server, 'message')));
  const descriptions = started.map(([description]) => description);
  const balancer = count > 1 ? await startBalancer(descriptions) : undefined;
  return {
    description: { ...descriptions[0], ...(balancer && { url: balancer.url }) },
    stop: async () => {
      await balancer?.stop();
      for (const server of servers) server.disconnect();
      await Promise.all(servers.map((server) => once(server, 'exit')));
      await redis?.stop();
    },
  };
}

/** Its keys are those of this run only, and its data is lost when it stops. */
async function startRedis() {
  const port = await freePort();
  const args = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no'];
  const child = spawn('/usr/bin/redis-server', args, { stdio: 'ignore', cwd: os.tmpdir() });
  await once(child, 'spawn');
  return {
    environment: { REDIS_URL: `redis://127.0.0.1:${port}` },
    stop: async () => {
      child.kill();
      await once(child, 'exit');
    },
  };
}

async function startBalancer(instances) {
  const ports = instances.map(({ url }) => Number(new URL(url).port));
  const [port, statsPort] = [await freePort(), await freePort()];
  const directory = await mkdtemp(path.join(os.tmpdir(), 'latitude-haproxy-'));
  const file = path.join(directory, 'haproxy.cfg');
  await writeFile(file, instancesConfiguration(port, ports) + statsSection(statsPort));
  const child = spawn(HAPROXY_PATH, ['-db', '-q', '-f', file], { stdio: 'ignore', cwd: '/' });
  await once(child, 'spawn');
  while (!(await areUp(statsPort, ports.length))) await after(POLL_INTERVAL_MS);
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      const requests = (await serverRows(statsPort, 'latitude')).map(({ lbtot }) => Number(lbtot));
      child.kill();
      await once(child, 'exit');
      await rm(directory, { recursive: true });
      console.log(`Requests of each instance: ${requests.join(', ')}`);
      // A load balancer that sends the requests of a connection to one instance tests nothing.
      if (Math.min(...requests) < 0.8 * Math.max(...requests)) throw new Error('unbalanced');
    },
  };
}

async function areUp(statsPort, count) {
  const rows = await serverRows(statsPort, 'latitude').catch(() => []);
  return rows.filter(({ status }) => status === 'UP').length === count;
}

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
