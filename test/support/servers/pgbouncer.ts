import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { DatabaseTarget } from '../../../src/platform/data/connection/data-source-options.js';
import { freePort } from './free-port.js';
import { configOf } from '../../../src/testing/databases.js';
import { until } from './product.js';
import { TcpProxy } from './tcp-proxy.js';

/** Path in Debian's package. */
const PGBOUNCER_PATH = '/usr/sbin/pgbouncer';

export const PGBOUNCER_SKIP_REASON = existsSync(PGBOUNCER_PATH)
  ? undefined
  : 'pgbouncer is not installed';

/** User id without privileges. */
const NOBODY_UID = 65_534;

/** A PgBouncer in front of a database. */
export class PgBouncer {
  private constructor(
    private readonly child: ChildProcess,
    private readonly proxy: TcpProxy,
    private readonly directory: string,
    /** URL of the database through PgBouncer. */
    readonly url: string,
  ) {}

  static async to(
    database: DatabaseTarget,
    mode: 'session' | 'transaction' | 'statement',
    poolSize: number,
  ): Promise<PgBouncer> {
    // PgBouncer refuses to run as root, and other users may not open the socket of PostgreSQL.
    const proxy = await TcpProxy.to(database);
    const { host, port, user, database: name } = configOf(proxy.target);
    const directory = await mkdtemp(path.join(os.tmpdir(), 'latitude-pgbouncer-'));
    await chmod(directory, 0o755);
    const listenPort = await freePort();
    const file = path.join(directory, 'pgbouncer.ini');
    const settings = {
      listen_addr: '127.0.0.1',
      listen_port: listenPort,
      unix_socket_dir: '',
      auth_type: 'any',
      pool_mode: mode,
      default_pool_size: poolSize,
    };
    const lines = Object.entries(settings).map(([setting, value]) => `${setting} = ${value}`);
    const address = `host=${host} port=${port} user=${user}`;
    await writeFile(file, `[databases]\n* = ${address}\n[pgbouncer]\n${lines.join('\n')}\n`);
    const uid = process.getuid?.() === 0 ? NOBODY_UID : undefined;
    const child = spawn(PGBOUNCER_PATH, ['-q', file], { uid, stdio: 'ignore', cwd: '/' });
    const url = `postgres://${user}@127.0.0.1:${listenPort}/${name}`;
    const bouncer = new PgBouncer(child, proxy, directory, url);
    await until(() => bouncer.isAccepting());
    return bouncer;
  }

  async stop(): Promise<void> {
    this.child.kill('SIGKILL');
    if (this.child.exitCode === null && this.child.signalCode === null) {
      await once(this.child, 'exit');
    }
    await this.proxy.close();
    await rm(this.directory, { recursive: true });
  }

  private async isAccepting(): Promise<boolean> {
    const client = new pg.Client({ connectionString: this.url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('select');
      return true;
    } catch {
      return false;
    } finally {
      await client.end();
    }
  }
}
