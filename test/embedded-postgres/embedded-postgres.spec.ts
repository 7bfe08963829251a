import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import {
  DataDirectoryInUseError,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  openEmbeddedPostgres,
} from '../../src/embedded-postgres/embedded-postgres.js';
import { identify } from '../../src/embedded-postgres/processes.js';
import { pollUntil } from '../../src/embedded-postgres/polling.js';

type Connection = EmbeddedPostgres['connection'];
type Role = EmbeddedPostgresOptions['role'];

/** What the fixture tells about how the opening went. */
interface Outcome {
  readonly pid?: number;
  readonly connection?: Connection;
  readonly name?: string;
  readonly message?: string;
}

const FIXTURE = fileURLToPath(new URL('../support/embedded-postgres-child.ts', import.meta.url));

/** One cluster serves all tests but those about its making: that takes longer than all the rest. */
let root: string;
let dataDir: string;
let opened: EmbeddedPostgres[];
let children: ChildProcess[];

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'latitude-embedded-'));
});

afterAll(async () => {
  await rm(root, { recursive: true, force: true, maxRetries: 5 });
});

beforeEach(() => {
  dataDir = join(root, 'shared');
  opened = [];
  children = [];
});

afterEach(async () => {
  await Promise.all(opened.map((postgres) => postgres.stop()));
  for (const child of children) child.kill('SIGKILL');
  await eventually(async () => (await livingPostmaster()) === undefined);
});

async function open(role: Role = 'server', flags?: string[]): Promise<EmbeddedPostgres> {
  const postgres = await openEmbeddedPostgres({ dataDir, role, flags });
  opened.push(postgres);
  return postgres;
}

/** Opens it in a process of its own, which is the leader of its process group. */
function openInChild(role: Role = 'server') {
  const args = ['--import', '@swc-node/register/esm-register', FIXTURE, dataDir, role];
  const child = spawn(process.execPath, args, {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const log: string[] = [];
  const outcome = new Promise<Outcome>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const message = JSON.parse(line) as Outcome & { log?: string };
      if (message.log === undefined) resolve(message);
      else log.push(message.log);
    });
  });
  const ready = outcome.then(({ pid, connection, message }) => {
    if (pid === undefined || connection === undefined) throw new Error(message);
    return { pid, connection };
  });
  ready.catch(() => undefined);
  return { pid: child.pid!, child, log, outcome, ready };
}

async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  if (!(await pollUntil(condition, { every: 10, timeout: 200_000 })))
    throw new Error('It never came.');
}

async function query<T>(connection: Connection, sql: string): Promise<T[]> {
  const client = new Client(connection);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows as T[];
  } finally {
    await client.end();
  }
}

const isUp = (connection: Connection) =>
  query(connection, 'select').then(
    () => true,
    () => false,
  );

/** Inserts rows one by one until the connection breaks; returns what was committed. */
async function insertUntilItBreaks(connection: Connection, onFirst: () => void): Promise<number[]> {
  const client = new Client(connection);
  client.on('error', () => undefined);
  await client.connect();
  const committed: number[] = [];
  try {
    for (let id = 1; ; id++) {
      await client.query('insert into numbers values ($1)', [id]);
      committed.push(id);
      if (id === 20) onFirst();
    }
  } catch {
    return committed;
  }
}

async function livingPostmaster(): Promise<number | undefined> {
  const file = join(dataDir, 'postgres/postmaster.pid');
  const pid = Number.parseInt(await readFile(file, 'utf8').catch(() => ''));
  return (await identify(pid)) && pid;
}

async function isDead(pid: number): Promise<boolean> {
  return (await identify(pid)) === undefined;
}

/** On Linux: the process that started this one. */
async function parentOf(pid: number): Promise<number> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8');
  return Number(line.slice(line.lastIndexOf(')') + 2).split(' ')[1]);
}

/** A process that has nothing to do with us. */
function stranger(): number {
  const child = spawn('sleep', ['3600'], { stdio: 'ignore' });
  children.push(child);
  return child.pid!;
}

describe('the embedded PostgreSQL', () => {
  it('makes its database on first use and keeps the rows', async () => {
    dataDir = join(root, 'missing/as yet');
    const first = await open();
    await query(first.connection, 'create table kept as select 42 as answer');
    await first.stop();
    const second = await open();
    expect(await query(second.connection, 'select answer from kept')).toEqual([{ answer: 42 }]);
    expect(second.connection.database).toBe('latitude');
  });

  it('is durable, and reachable through a socket of its user alone', async () => {
    const { connection } = await open();
    const [settings] = await query(
      connection,
      `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
              current_setting('listen_addresses') as addresses`,
    );
    expect(settings).toEqual({ fsync: 'on', commit: 'on', addresses: '' });
    expect((await stat(connection.host)).mode & 0o777).toBe(0o700);
  });

  it('hands on flags', async () => {
    const { connection } = await open('server', ['-c', 'fsync=off']);
    expect(await query(connection, 'show fsync')).toEqual([{ fsync: 'off' }]);
  });

  it('leaves nothing behind when it stops, however often it is told to', async () => {
    const postgres = await open();
    await Promise.all([postgres.stop(), postgres.stop()]);
    await postgres.stop();
    expect(await isDead(postgres.pid)).toBe(true);
    expect(await readdir(dataDir)).toEqual(['postgres']);
  });

  it('lets the process end by itself after it stopped', async () => {
    const { child, ready } = openInChild();
    await ready;
    child.stdin.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it.each([
    ['an odd name', `o'd"d, n\u00e4me $HOME`, true],
    ['a name too long for a socket', 'x'.repeat(100), false],
  ])('works in a directory with %s', async (_, name, socketInside) => {
    dataDir = join(root, name);
    const { connection } = await open();
    expect(await isUp(connection)).toBe(true);
    expect(connection.host.startsWith(dataDir)).toBe(socketInside);
  });
});

describe('two processes on one data directory', () => {
  it('refuses a second server and says who has it', async () => {
    await open();
    const second = open();
    await expect(second).rejects.toThrow(DataDirectoryInUseError);
    await expect(second).rejects.toThrow(
      `The data directory ${dataDir} is in use by another Latitude server (process ${process.pid}): stop that one, or set DATA_DIR to another directory.`,
    );
  });

  it('gives a command the PostgreSQL of the running server, and leaves it running', async () => {
    const server = await open();
    const command = await open('command');
    expect(command.pid).toBe(server.pid);
    expect(command.connection).toEqual(server.connection);
    await command.stop();
    expect(await isUp(server.connection)).toBe(true);
  });

  it('never takes the server of the original for that of a copy', async () => {
    const first = await open();
    await first.stop();
    const original = dataDir;
    const copy = join(root, 'copy');
    await cp(original, copy, { recursive: true, preserveTimestamps: true });
    const server = await open();
    for (const name of ['owner', 'postgres/postmaster.pid']) {
      await cp(join(original, name), join(copy, name), { recursive: true });
    }
    dataDir = copy;
    const command = await open('command');
    expect(command.pid).not.toBe(server.pid);
    const place = `select current_setting('data_directory') as path`;
    expect(await query(command.connection, place)).toEqual([{ path: join(copy, 'postgres') }]);
    await command.stop();
    expect(await isUp(server.connection)).toBe(true);
    await server.stop();
  });

  it('lets a command wait for a server that is still starting', async () => {
    const server = openInChild();
    await eventually(() => existsSync(join(dataDir, 'owner')));
    const command = await open('command');
    expect(command.pid).toBe((await server.ready).pid);
  });

  it('lets a server wait for a command to end', async () => {
    const command = await open('command');
    const server = openInChild();
    await eventually(async () => isUp(command.connection));
    await command.stop();
    expect((await server.ready).pid).not.toBe(command.pid);
  });

  it('lets exactly one of several servers win that start at the same instant', async () => {
    dataDir = join(root, 'raced');
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => openInChild().outcome));
    expect(outcomes.filter(({ pid }) => pid !== undefined)).toHaveLength(1);
    expect(outcomes.filter(({ name }) => name === 'DataDirectoryInUseError')).toHaveLength(3);
  });
});

describe('when processes are killed', () => {
  it.each([
    ['node', (pid: number) => pid],
    ["node's process group", (pid: number) => -pid],
  ])('%s: postgres ends by itself and no committed row is lost', async (_, target) => {
    const killed = openInChild();
    const { pid, connection } = await killed.ready;
    await query(
      connection,
      'drop table if exists numbers; create table numbers (id int primary key)',
    );
    const committed = await insertUntilItBreaks(connection, () => {
      process.kill(target(killed.pid), 'SIGKILL');
    });
    await eventually(() => isDead(pid));

    const next = await open();
    const rows = await query<{ id: number }>(next.connection, 'select id from numbers order by id');
    expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(committed));
  });

  it('node during initdb: the next start is a clean one', async () => {
    dataDir = join(root, 'interrupted');
    const killed = openInChild();
    const half = `postgres.init-${killed.pid}`;
    await eventually(() => existsSync(join(dataDir, half, 'base')));
    killed.child.kill('SIGKILL');
    await eventually(() => isDead(killed.pid));
    const next = await open();
    expect(await isUp(next.connection)).toBe(true);
    expect(await readdir(dataDir)).not.toContain(half);
  });

  it('postgres: it is started again on the same socket', async () => {
    const log: string[] = [];
    const postgres = await openEmbeddedPostgres({
      dataDir,
      role: 'server',
      log: (line) => log.push(line),
    });
    opened.push(postgres);
    const { pid, connection } = postgres;
    process.kill(pid, 'SIGKILL');
    await eventually(async () => postgres.pid !== pid && (await isUp(connection)));
    expect(log.filter((line) => line.includes('ended unexpectedly'))).toHaveLength(1);
  });

  it('postgres: it can be stopped while it is being started again', async () => {
    const postgres = await open();
    process.kill(postgres.pid, 'SIGKILL');
    await eventually(() => isDead(postgres.pid));
    await postgres.stop();
    expect(await livingPostmaster()).toBeUndefined();
    expect(await readdir(dataDir)).toEqual(['postgres']);
  });

  const onLinux = process.platform === 'linux' ? describe : describe.skip;

  onLinux('the guard', () => {
    it('alone: postgres is started again on the same socket', async () => {
      const postgres = await open();
      const { pid, connection } = postgres;
      process.kill(await parentOf(pid), 'SIGKILL');
      await eventually(async () => postgres.pid !== pid && (await isUp(connection)));
      expect(await isDead(pid)).toBe(true);
    });

    it('together with node: the next start takes over', async () => {
      const killed = openInChild();
      const { pid } = await killed.ready;
      const guard = await parentOf(pid);
      const siblings = await readFile(`/proc/${guard}/task/${guard}/children`, 'utf8');
      const rest = siblings
        .trim()
        .split(' ')
        .map(Number)
        .filter((child) => child !== pid);
      for (const each of [killed.pid, guard, ...rest]) process.kill(each, 'SIGKILL');
      await eventually(async () => (await isDead(guard)) && (await isDead(killed.pid)));
      expect(await isDead(pid)).toBe(false);

      const next = await open();
      expect(await isDead(pid)).toBe(true);
      expect(await isUp(next.connection)).toBe(true);
    });
  });
});

describe('what an earlier run has left', () => {
  it('does not take a stranger for postgres, nor signal it, when postmaster.pid names it', async () => {
    await (await open()).stop();
    const pid = stranger();
    await writeFile(join(dataDir, 'postgres/postmaster.pid'), `${pid}\n${dataDir}/postgres\n`);
    const { connection } = await open();
    expect(await isUp(connection)).toBe(true);
    expect(await isDead(pid)).toBe(false);
  });

  it("does not take another directory's postgres for its own", async () => {
    const other = await open();
    dataDir = join(root, 'second');
    await (await open()).stop();
    await writeFile(join(dataDir, 'postgres/postmaster.pid'), `${other.pid}\n`);
    await open();
    expect(await isUp(other.connection)).toBe(true);
  });

  it.each([
    ['dead', () => 2 ** 22 + 1],
    ['a stranger by now', stranger],
  ])('takes over from an owner that is %s', async (_, pid) => {
    const owner = { pid: pid(), started: 'earlier', role: 'server', socketDirectory: '/nowhere' };
    await mkdir(join(dataDir, 'owner'), { recursive: true });
    await writeFile(join(dataDir, 'owner/earlier.json'), JSON.stringify(owner));
    expect(await isUp((await open()).connection)).toBe(true);
  });

  it('clears away what dead processes left half made, not what living ones are making', async () => {
    const [dead, living] = [2 ** 22 + 1, stranger()].map((pid) => `postgres.init-${pid}`);
    for (const name of [dead!, living!]) await mkdir(join(dataDir, name), { recursive: true });
    await open();
    const names = await readdir(dataDir);
    expect(names).not.toContain(dead);
    expect(names).toContain(living);
  });
});

describe('what it says when it cannot start', () => {
  it('DATA_DIR is a file', async () => {
    dataDir = join(root, 'file');
    await writeFile(dataDir, '');
    await expect(open()).rejects.toThrow(`The data directory ${dataDir} cannot be used (ENOTDIR`);
  });

  it('the cluster is of another version', async () => {
    dataDir = join(root, 'older');
    await mkdir(join(dataDir, 'postgres'), { recursive: true });
    await writeFile(join(dataDir, 'postgres/PG_VERSION'), '15\n');
    await expect(open()).rejects.toThrow('is of PostgreSQL "15", and this Latitude brings');
  });

  it('the cluster is damaged: in the words of postgres', async () => {
    await (await open()).stop();
    const control = join(dataDir, 'postgres/global/pg_control');
    const sound = await readFile(control);
    await writeFile(control, sound.subarray(0, 100));
    await expect(open()).rejects.toThrow(/PostgreSQL could not start in .*: .*pg_control/);
    expect(await readdir(dataDir)).not.toContain('owner');
    await writeFile(control, sound);
  });

  it("the socket's directory was made for others to enter", async () => {
    await mkdir(join(dataDir, 'run'), { recursive: true, mode: 0o755 });
    await expect(open()).rejects.toThrow(`${dataDir}/run`);
    await rmdir(join(dataDir, 'run'));
  });
});
