import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { connectionThrough } from '../../../src/ops/embedded-postgres/connection.js';
import { findProcess } from '../../../src/ops/embedded-postgres/processes.js';

const ROOT = path.resolve(__dirname, '../../..');

const ADDRESS = /listens on (http:\S+?)"/;

/** The key that a first start prints after its address. */
export const FIRST_KEY = /shown only now: (\S+)/;

/** The link with a key that a first start prints after it. */
export const CONSOLE_LINK = /(http:\S+\/console#key=(lat_\w+))/;

/** The program of util-linux that runs a command in a terminal. */
export const SCRIPT = '/usr/bin/script';

/** Settings without effective rate limits. */
export const UNLIMITED = {
  RATE_LIMIT_WRITES_PER_MINUTE: '1000000',
  RATE_LIMIT_READS_PER_MINUTE: '1000000',
};

/** The output and exit code of a process. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built product with its own data directory. */
export class Product {
  readonly dataDir = mkdtempSync(path.join(os.tmpdir(), 'latitude-product-'));
  private readonly running = new Set<ChildProcess>();

  /** @param env additional environment variables of every process */
  constructor(private readonly env: Record<string, string> = {}) {}

  /** The environment variables of every process. */
  get environment(): Record<string, string> {
    return { PORT: '0', DATA_DIR: path.join(this.dataDir, 'data'), ...this.env };
  }

  private get clusterPath(): string {
    return path.join(this.environment.DATA_DIR!, 'postgres');
  }

  /** Starts the server and waits until it listens, and has printed the key of a first start. */
  async start(env: Record<string, string> = {}): Promise<RunningServer> {
    const isFirst = !('DATABASE_URL' in { ...this.env, ...env }) && !existsSync(this.clusterPath);
    const server = this.spawnServer(env);
    await server.untilPrinted(isFirst ? FIRST_KEY : ADDRESS);
    return server;
  }

  /** Runs `npm start`, as leader of a process group, and waits until the server listens. */
  async startWithNpm(): Promise<RunningServer> {
    // The tests run on a build that is up to date.
    const npm = new RunningServer(this.spawn('npm', ['start', '--ignore-scripts'], {}, ROOT));
    await npm.untilPrinted(ADDRESS);
    return npm;
  }

  /** Starts the server in a terminal, by the program `script`, and waits until it has printed the key of a first start. */
  async startInTerminal(): Promise<RunningServer> {
    const command = `${process.execPath} ${path.join(ROOT, 'dist/src/main.js')}`;
    const server = new RunningServer(this.spawn(SCRIPT, ['-qec', command, '/dev/null'], {}));
    await server.untilPrinted(FIRST_KEY);
    return server;
  }

  /** Starts the server without waiting. */
  spawnServer(env: Record<string, string> = {}): RunningServer {
    return new RunningServer(this.spawnNode('main.js', [], env));
  }

  /** Runs the server or a command until it exits. */
  async run(
    entry: 'main.js' | 'cli.js',
    args: readonly string[] = [],
    env: Record<string, string> = {},
  ): Promise<CommandResult> {
    return resultWhenEnded(new RunningServer(this.spawnNode(entry, args, env)));
  }

  /** Starts a command without waiting. */
  spawnCommand(args: readonly string[], env: Record<string, string> = {}): RunningServer {
    return new RunningServer(this.spawnNode('cli.js', args, env));
  }

  /** Runs a command that prints one JSON value. */
  async latitude<T>(...args: string[]): Promise<T> {
    return resultOf<T>(args, await this.run('cli.js', ['--json', ...args]));
  }

  /** Runs SQL directly on the embedded database of a running server. */
  async sql<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    const client = new pg.Client(connectionThrough(path.join(this.dataDir, 'data/run')));
    await client.connect();
    try {
      return (await client.query(text, values)).rows as Row[];
    } finally {
      await client.end();
    }
  }

  /** Kills running processes and removes the data. */
  async remove(): Promise<void> {
    for (const child of this.running) child.kill('SIGKILL');
    await this.waitUntilUnlocked();
    rmSync(this.dataDir, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Waits until PostgreSQL no longer uses the data directory. */
  private async waitUntilUnlocked(): Promise<void> {
    await until(async () => {
      const lock = path.join(this.clusterPath, 'postmaster.pid');
      const pid = parseInt(await readFile(lock, 'utf8').catch(() => ''), 10);
      return Number.isNaN(pid) || (await findProcess(pid)) === undefined;
    });
  }

  private spawnNode(entry: string, args: readonly string[], env: Record<string, string>) {
    return this.spawn(process.execPath, [path.join(ROOT, 'dist/src', entry), ...args], env);
  }

  private spawn(
    command: string,
    args: readonly string[],
    env: Record<string, string>,
    cwd = this.dataDir,
  ): ChildProcess {
    const child = spawn(command, args, {
      cwd,
      env: { PATH: process.env.PATH, ...this.environment, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.running.add(child);
    child.once('exit', () => this.running.delete(child));
    return child;
  }
}

/** The output and exit code of a process, when it has ended. */
export async function resultWhenEnded(running: RunningServer): Promise<CommandResult> {
  const code = await running.ended;
  return { code, stdout: running.stdout, stderr: running.stderr };
}

/** Returns the JSON that a command printed. */
export function resultOf<T>(args: readonly string[], { code, stdout, stderr }: CommandResult): T {
  if (code !== 0) throw new Error(`latitude ${args.join(' ')} failed: ${stderr}`);
  return JSON.parse(stdout) as T;
}

/** One process of the product. */
export class RunningServer {
  stdout = '';
  stderr = '';
  readonly ended: Promise<number | null>;

  constructor(private readonly child: ChildProcess) {
    child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.ended = new Promise((resolve) => {
      child.once('close', (code) => {
        resolve(code);
      });
    });
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  get url(): string {
    return this.printed(ADDRESS) ?? '';
  }

  /** The first group of a pattern in what was printed so far. */
  printed(pattern: RegExp): string | undefined {
    return pattern.exec(this.stdout)?.[1];
  }

  async untilPrinted(pattern: RegExp): Promise<void> {
    let over = false;
    void this.ended.then(() => (over = true));
    await until(() => {
      if (over && !pattern.test(this.stdout)) throw new Error(this.stderr || this.stdout);
      return Promise.resolve(pattern.test(this.stdout));
    });
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Sends a signal to the server process only. */
  signal(signal: NodeJS.Signals): void {
    process.kill(this.child.pid!, signal);
  }

  /** Sends a signal to the process group, as a terminal or supervisor does. */
  signalGroup(signal: NodeJS.Signals): void {
    process.kill(-this.child.pid!, signal);
  }

  async stop(): Promise<number | null> {
    this.signal('SIGTERM');
    return this.ended;
  }
}

/** Timeout of `until`, long enough for a busy machine. */
const POLL_TIMEOUT_MS = 200_000;

/** Polls until a condition holds. */
export async function until(
  condition: () => Promise<boolean>,
  { everyMs = 20 } = {},
): Promise<void> {
  const deadline = Date.now() + POLL_TIMEOUT_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('the condition did not come true in time');
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
