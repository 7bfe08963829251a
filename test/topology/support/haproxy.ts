import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {
  HAPROXY_PATH,
  instancesConfiguration,
  IS_PRIMARY,
  postgresConfiguration,
  serverRows,
  statsSection,
} from '../../support/servers/haproxy.mjs';
import { freePort } from '../../support/servers/free-port.js';
import { until } from '../../support/servers/product.js';
import type { PostgresServer } from './postgres-server.js';

export const HAPROXY_SKIP_REASON = existsSync(HAPROXY_PATH)
  ? undefined
  : 'haproxy is not installed';

/** An HAProxy in front of instances, without stickiness, and in front of the primary of PostgreSQL servers. */
export class HaProxy {
  private constructor(
    private readonly child: ChildProcess,
    private readonly directory: string,
    /** URL of the instances. */
    readonly url: string,
    /** URL of the primary. */
    readonly databaseUrl: string,
    private readonly statsPort: number,
  ) {}

  /** @param repeats whether it repeats requests on the other instance */
  static async start(
    instances: readonly number[],
    servers: readonly PostgresServer[],
    repeats: boolean,
  ): Promise<HaProxy> {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'latitude-haproxy-'));
    const script = path.join(directory, 'is-primary');
    await copyFile(IS_PRIMARY, script);
    const [port, databasePort, statsPort] = [await freePort(), await freePort(), await freePort()];
    const databases = servers.map((server) => server.port);
    const file = path.join(directory, 'haproxy.cfg');
    const databaseFile = path.join(directory, 'haproxy-postgres.cfg');
    await writeFile(
      file,
      instancesConfiguration(port, instances, { repeats }) + statsSection(statsPort),
    );
    await writeFile(databaseFile, postgresConfiguration(databasePort, databases, script));
    const args = ['-db', '-q', '-f', file, '-f', databaseFile];
    const child = spawn(HAPROXY_PATH, args, { stdio: 'ignore', cwd: '/' });
    return new HaProxy(
      child,
      directory,
      `http://127.0.0.1:${port}`,
      `postgres://postgres@127.0.0.1:${databasePort}/postgres`,
      statsPort,
    );
  }

  /** Waits until it passes connections on to a number of servers. */
  async untilUp(name: 'latitude' | 'postgres', servers: number): Promise<void> {
    await until(async () => (await this.countUp(name)) === servers);
  }

  private async countUp(name: string): Promise<number> {
    const rows = await serverRows(this.statsPort, name).catch(() => []);
    return rows.filter(({ status }) => status === 'UP').length;
  }

  async stop(): Promise<void> {
    if (this.child.kill('SIGKILL')) await once(this.child, 'exit');
    await rm(this.directory, { recursive: true });
  }
}
