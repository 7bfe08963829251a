import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { pollUntil } from './polling.js';

/**
 * Runs "$@" until the standard input of this shell closes, which is a pipe from Node.js. The pipe closes
 * whenever Node.js ends, even by SIGKILL. SIGINT is then sent several times, because a new process
 * ignores it until it has installed its handlers.
 */
const GUARD = `
interrupt() {
  for attempt in 1 2 3 4 5 6 7 8 9 10; do
    kill -INT "$1" || return
    sleep 0.2
  done
}
trap '' INT TERM HUP
exec 3<&0
"$@" </dev/null >/dev/null 3<&- &
command=$!
echo "$command"
{ read -r _ <&3; interrupt "$command"; } >/dev/null 2>&1 &
reader=$!
exec >/dev/null 3<&-
wait "$command"
code=$?
{ kill -KILL "$reader"; wait "$reader"; } 2>/dev/null
exit "$code"
`;

const LAST_LINES = 8;

/** The user of a command, or a wrapper such as `unshare` that runs it. */
export interface RunAs {
  readonly wrapper: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

/** A command that ends with Node.js. It has its own session, so that Ctrl-C reaches only Node.js. */
export interface GuardedProcess {
  readonly pid: number;
  /** The reason of its end as text; undefined while it runs. */
  readonly ended: string | undefined;
  /** Resolves to the reason when the command or its guard has ended. */
  readonly exited: Promise<string>;
  /** The last lines of its standard error as one line, without times and process ids. */
  readonly lastOutput: string;
  /** Interrupts the command, kills it after ten seconds, and closes its pipes. */
  end(): Promise<void>;
}

/** Starts a command under its guard. Its environment is empty, so that it sees no secrets. */
export async function spawnGuarded(
  command: readonly string[],
  { wrapper, uid, gid }: RunAs,
  log: (line: string) => void = () => undefined,
): Promise<GuardedProcess> {
  const words = [...wrapper, 'env', '-i', 'LC_ALL=C', ...command];
  const child = spawn('/bin/sh', ['-c', GUARD, 'latitude-guard', ...words], {
    uid,
    gid,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined);
  const lastWords = collectLines(child.stderr, log);
  let ended: string | undefined;
  const exited = once(child, 'exit').then(async () => {
    await pollUntil(() => child.stderr.readableEnded, { every: 10, timeout: 200 });
    const { exitCode, signalCode } = child;
    return (ended =
      exitCode === null ? `killed by ${signalCode ?? 'a signal'}` : `exit code ${exitCode}`);
  });
  const pid = await firstLine(child.stdout, exited);
  return {
    pid: Number(pid),
    exited,
    get ended() {
      return ended;
    },
    get lastOutput() {
      return lastWords.join(' ') || 'it wrote nothing';
    },
    end: () => end(child, exited),
  };
}

async function end(child: ChildProcessWithoutNullStreams, exited: Promise<string>): Promise<void> {
  child.stdin.destroy();
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const inTime = await pollUntil(hasEnded, { every: 10, timeout: 10_000 });
  if (!inTime && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  await exited;
  child.stderr.destroy();
}

function collectLines(stream: Readable, log: (line: string) => void): string[] {
  const last: string[] = [];
  createInterface({ input: stream }).on('line', (line) => {
    log(line);
    last.push(line.replace(/^\d{4}-\d\d-\d\d [\d:.]+ \S+ \[\d+\] /, '').trim());
    if (last.length > LAST_LINES) last.shift();
  });
  return last;
}

function firstLine(stream: Readable, exited: Promise<string>): Promise<string> {
  const lines = createInterface({ input: stream });
  return new Promise((resolve, reject) => {
    lines.once('line', resolve);
    lines.once('close', () => {
      exited.then((how) => {
        reject(new Error(how));
      }, reject);
    });
    exited.catch(reject);
  });
}
