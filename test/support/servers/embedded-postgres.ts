import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  openEmbeddedPostgres,
} from '../../../src/ops/embedded-postgres/embedded-postgres.js';
import { findProcess } from '../../../src/ops/embedded-postgres/processes.js';
import { pollUntil } from '../../../src/ops/embedded-postgres/polling.js';
import { postmasterOf, withPid } from './postmaster.js';

export type Connection = EmbeddedPostgres['connection'];
type Role = EmbeddedPostgresOptions['role'];

/** The result of the opening, as the child process reports it. */
interface Outcome {
  readonly pid?: number;
  readonly connection?: Connection;
  readonly name?: string;
  readonly message?: string;
}

const FIXTURE = fileURLToPath(new URL('./embedded-postgres-child.mjs', import.meta.url));

/** The data directory of the current test. All tests share one cluster, because initdb is slow. */
export const sandbox = { root: '', dataDir: '' };
/** Stopped after each test. */
export let opened: Pick<EmbeddedPostgres, 'stop'>[];
let children: ChildProcess[];

/** Installs the hooks that make and remove the sandbox, and end what a test has started. */
export function useSandbox(): void {
  beforeAll(async () => {
    sandbox.root = await mkdtemp(join(tmpdir(), 'latitude-embedded-'));
  });

  afterAll(async () => {
    await rm(sandbox.root, { recursive: true, force: true, maxRetries: 5 });
  });

  beforeEach(() => {
    sandbox.dataDir = join(sandbox.root, 'shared');
    opened = [];
    children = [];
  });

  afterEach(async () => {
    await Promise.all(opened.map((postgres) => postgres.stop()));
    for (const child of children) child.kill('SIGKILL');
    await eventually(async () => (await runningPostmaster()) === undefined);
  });
}

export async function open(
  role: Role = 'server',
  flags?: string[],
  log?: (line: string) => void,
): Promise<EmbeddedPostgres & { readonly pid: number }> {
  const { dataDir } = sandbox;
  const postgres = await openEmbeddedPostgres({ dataDir, role, flags, log });
  opened.push(postgres);
  return withPid(postgres, dataDir);
}

/** Opens it in a separate process, which is the leader of its process group. */
export function openInChild(role: Role = 'server') {
  const args = [FIXTURE, sandbox.dataDir, role];
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

export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  if (!(await pollUntil(condition, { timeout: 200_000 })))
    throw new Error('The condition was not met in time.');
}

export async function query<T>(connection: Connection, sql: string): Promise<T[]> {
  const client = new Client(connection);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows as T[];
  } finally {
    await client.end();
  }
}

export const isUp = (connection: Connection) =>
  query(connection, 'select').then(
    () => true,
    () => false,
  );

/** Inserts rows one by one until the connection breaks; returns what was committed. */
export async function insertUntilDisconnected(
  connection: Connection,
  onFirst: () => void,
): Promise<number[]> {
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

export async function runningPostmaster(): Promise<number | undefined> {
  const pid = postmasterOf(sandbox.dataDir);
  return (await findProcess(pid)) && pid;
}

export async function hasEnded(pid: number): Promise<boolean> {
  return (await findProcess(pid)) === undefined;
}

/** On Linux: the process that started this one. */
export async function parentOf(pid: number): Promise<number> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8');
  return Number(line.slice(line.lastIndexOf(')') + 2).split(' ')[1]);
}

/** Starts an unrelated process. */
export function startUnrelatedProcess(): number {
  const child = spawn('sleep', ['3600'], { stdio: 'ignore' });
  children.push(child);
  return child.pid!;
}
