import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { freePort } from '../../support/free-port.js';
import { until } from '../../support/product.js';
import type { PostgresServer } from './postgres-server.js';

/** Path in Debian's package. */
const HAPROXY_PATH = '/usr/sbin/haproxy';

export const HAPROXY_SKIP_REASON = existsSync(HAPROXY_PATH)
  ? undefined
  : 'haproxy is not installed';

/** Succeeds for a primary. HAProxy passes the address of the server as the third and fourth argument. */
const IS_PRIMARY = `#!/bin/sh
in_recovery=$(psql -h "$3" -p "$4" -U postgres -d postgres -Atc 'select pg_is_in_recovery()')
[ "$in_recovery" = f ]
`;

/** The configuration of docs/guides/operator.md#load-balancers, with the ports of the test. */
function configuration(
  script: string,
  statsPort: number,
  http: { port: number; instances: readonly number[] },
  database: { port: number; servers: readonly PostgresServer[] },
): string {
  const addresses = (ports: readonly number[]) =>
    ports.map((port, n) => `  server s${n} 127.0.0.1:${port}`).join('\n');
  return `
global
  external-check
  insecure-fork-wanted
defaults
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout check 2s

listen latitude
  mode http
  bind 127.0.0.1:${http.port}
  balance roundrobin
  option redispatch 1
  retries 5
  retry-on conn-failure empty-response
  option httpchk GET /health/ready
  default-server check inter 1s fall 3 rise 1 observe layer4 error-limit 1 on-error mark-down
${addresses(http.instances)}

listen stats
  mode http
  bind 127.0.0.1:${statsPort}
  stats enable
  stats uri /

listen postgres
  mode tcp
  bind 127.0.0.1:${database.port}
  option external-check
  external-check path /usr/lib/postgresql/15/bin:/usr/bin:/bin
  external-check command ${script}
  option redispatch 1
  default-server check inter 2s fastinter 500ms downinter 500ms fall 3 rise 1 on-marked-down shutdown-sessions
${addresses(database.servers.map(({ port }) => port))}
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
    private readonly statsUrl: string,
  ) {}

  static async start(
    instances: readonly number[],
    servers: readonly PostgresServer[],
  ): Promise<HaProxy> {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'latitude-haproxy-'));
    const script = path.join(directory, 'is-primary');
    await writeFile(script, IS_PRIMARY, { mode: 0o755 });
    const http = { port: await freePort(), instances };
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
      `http://127.0.0.1:${statsPort}`,
    );
  }

  /** Waits until it passes connections on to a number of servers. */
  async untilUp(name: 'latitude' | 'postgres', servers: number): Promise<void> {
    await until(async () => (await this.countUp(name)) === servers);
  }

  private async countUp(name: string): Promise<number> {
    const response = await fetch(`${this.statsUrl}/;csv`).catch(() => undefined);
    const rows = ((await response?.text()) ?? '').split('\n').map((line) => line.split(','));
    return rows.filter((row) => row[0] === name && /^s\d$/.test(row[1] ?? '') && row[17] === 'UP')
      .length;
  }

  async stop(): Promise<void> {
    if (this.child.kill('SIGKILL')) await once(this.child, 'exit');
    await rm(this.directory, { recursive: true });
  }
}
