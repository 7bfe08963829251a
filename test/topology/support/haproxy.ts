import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {
  DEFAULTS,
  HAPROXY_PATH,
  instancesSection,
  serverLines,
  serverRows,
  statsSection,
} from '../../support/servers/haproxy.mjs';
import { freePort } from '../../support/servers/free-port.js';
import { until } from '../../support/servers/product.js';
import type { PostgresServer } from './postgres-server.js';

export const HAPROXY_SKIP_REASON = existsSync(HAPROXY_PATH)
  ? undefined
  : 'haproxy is not installed';

/** Succeeds for a primary. HAProxy passes the address of the server as the third and fourth argument. */
const IS_PRIMARY = `#!/bin/sh
in_recovery=$(psql -h "$3" -p "$4" -U postgres -d postgres -Atc 'select pg_is_in_recovery()')
[ "$in_recovery" = f ]
`;

function configuration(
  script: string,
  statsPort: number,
  http: { port: number; instances: readonly number[]; options?: string },
  database: { port: number; servers: readonly PostgresServer[] },
): string {
  return `
global
  external-check
  insecure-fork-wanted
${DEFAULTS}
${instancesSection(http.port, http.instances, http.options)}
${statsSection(statsPort)}
listen postgres
  mode tcp
  bind 127.0.0.1:${database.port}
  option external-check
  external-check path /usr/lib/postgresql/15/bin:/usr/bin:/bin
  external-check command ${script}
  option redispatch 1
  default-server check inter 2s fastinter 500ms downinter 500ms fall 3 rise 1 on-marked-down shutdown-sessions
  # The check starts a process, which takes long on a busy machine.
  timeout check 5s
  timeout client 1h
  timeout server 1h
${serverLines(database.servers.map(({ port }) => port))}
`;
}

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

  static async start(
    instances: readonly number[],
    servers: readonly PostgresServer[],
    options?: string,
  ): Promise<HaProxy> {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'latitude-haproxy-'));
    const script = path.join(directory, 'is-primary');
    await writeFile(script, IS_PRIMARY, { mode: 0o755 });
    const http = { port: await freePort(), instances, options };
    const database = { port: await freePort(), servers };
    const file = path.join(directory, 'haproxy.cfg');
    const statsPort = await freePort();
    await writeFile(file, configuration(script, statsPort, http, database));
    const child = spawn(HAPROXY_PATH, ['-db', '-q', '-f', file], { stdio: 'ignore', cwd: '/' });
    return new HaProxy(
      child,
      directory,
      `http://127.0.0.1:${http.port}`,
      `postgres://postgres@127.0.0.1:${database.port}/postgres`,
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
