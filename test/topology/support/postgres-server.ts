import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, chown, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../../support/servers/free-port.js';
import { until } from '../../support/servers/product.js';

const run = promisify(execFile);

/** Path in Debian's package. */
const BIN = '/usr/lib/postgresql/15/bin';

export const POSTGRES_SKIP_REASON = existsSync(`${BIN}/postgres`)
  ? undefined
  : 'postgresql-15 is not installed';

/** Settings of a server, by name. */
type ServerSettings = Readonly<Record<string, string | number>>;

const SETTINGS: ServerSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 200,
  // Without fsync, data survives a killed process but not a crash of the machine. That is enough here.
  fsync: 'off',
  // Keeps the log that standbys need after a backup of the primary and after a restart.
  wal_keep_size: '512MB',
};

/** A PostgreSQL server from Debian's package, in a directory of its own. */
export class PostgresServer {
  private child: ChildProcess | undefined;
  private name = '';

  private constructor(
    private readonly directory: string,
    private readonly user: User | undefined,
    readonly port: number,
  ) {}

  /** Creates and starts a primary. */
  static async primary(settings: ServerSettings = {}): Promise<PostgresServer> {
    const server = await PostgresServer.create();
    await server.command('initdb', ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync']);
    await server.configure({ ...SETTINGS, ...settings, port: server.port });
    await server.start();
    return server;
  }

  private static async create(): Promise<PostgresServer> {
    const parent = existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir();
    const directory = await mkdtemp(path.join(parent, 'latitude-topology-'));
    const user = await unprivilegedUser();
    if (user) await chown(directory, user.uid, user.gid);
    return new PostgresServer(directory, user, await freePort());
  }

  /**
   * Creates and starts a standby of this server.
   * @param name its name in `synchronous_standby_names`
   */
  async createStandby(name: string, settings: ServerSettings = {}): Promise<PostgresServer> {
    const standby = await PostgresServer.create();
    standby.name = name;
    const args = ['-d', sourceOf(this, name), '-c', 'fast', '-R', '--no-sync'];
    await standby.command('pg_basebackup', args);
    await standby.configure({ ...settings, port: standby.port });
    await standby.start();
    return standby;
  }

  /** Returns the URL of a database of this server. */
  url(database = 'postgres'): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  /** Starts again on the same port and waits until it accepts connections. */
  async start(): Promise<void> {
    this.child = spawn(`${BIN}/postgres`, ['-D', this.data], { stdio: 'ignore', ...this.user });
    await until(() => this.isAccepting());
  }

  /** Kills the server and all of its connections. */
  async kill(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    // An immediate shutdown is a crash for its data, and ends the child processes, too.
    if (child?.kill('SIGQUIT')) await once(child, 'exit');
  }

  async promote(): Promise<void> {
    await this.sql('select pg_promote()');
  }

  /** Makes a standby follow another primary, under the same name. */
  async follow(primary: PostgresServer): Promise<void> {
    await this.set({ primary_conninfo: sourceOf(primary, this.name) });
  }

  /** How much of the log a standby has received, in bytes. */
  async received(): Promise<number> {
    const [row] = await this.sql<{ bytes: number }>(
      `select pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')::float8 as bytes`,
    );
    return row?.bytes ?? 0;
  }

  /** Waits until a standby has applied the log that a primary has written so far. */
  async untilReplayed(primary: PostgresServer): Promise<void> {
    const [row] = await primary.sql<{ lsn: string }>('select pg_current_wal_flush_lsn() as lsn');
    await until(async () => {
      const done = `select where pg_last_wal_replay_lsn() >= '${row!.lsn}'`;
      return (await this.sql(done)).length > 0;
    });
  }

  /** Runs a statement as superuser. */
  async sql<Row>(text: string, database?: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.url(database) });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query(text)).rows as Row[];
    } finally {
      await client.end();
    }
  }

  /** Changes settings that a reload applies. */
  async set(settings: ServerSettings): Promise<void> {
    for (const [name, value] of Object.entries(settings)) {
      await this.sql(`alter system set ${name} = '${value}'`);
    }
    await this.sql('select pg_reload_conf()');
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.directory, { recursive: true });
  }

  private get data(): string {
    return path.join(this.directory, 'data');
  }

  private async command(name: string, args: readonly string[]): Promise<void> {
    await run(`${BIN}/${name}`, ['-D', this.data, ...args], { cwd: '/', ...this.user });
  }

  private async configure(settings: ServerSettings): Promise<void> {
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
    await appendFile(path.join(this.data, 'postgresql.conf'), lines.join(''));
  }

  private async isAccepting(): Promise<boolean> {
    return this.sql('select').then(
      () => true,
      () => false,
    );
  }
}

function sourceOf({ port }: PostgresServer, name: string): string {
  return `host=127.0.0.1 port=${port} user=postgres application_name=${name}`;
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/** The user of Debian's package if this process is root, whom PostgreSQL refuses. */
async function unprivilegedUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = async (flag: string) => Number((await run('id', [flag, 'postgres'])).stdout);
  return { uid: await idOf('-u'), gid: await idOf('-g') };
}
