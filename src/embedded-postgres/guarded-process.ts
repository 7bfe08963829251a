import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { pollUntil } from './polling.js';

/**
 * Runs "$@" for as long as its own standard input, a pipe from node, stays open. The pipe closes
 * however node ends, SIGKILL included; the command is then interrupted several times, because one
 * that has only just been started ignores SIGINT until it has installed its handlers.
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

/** Whom a command runs as: another user, or this one behind a wrapper such as `unshare`. */
export interface RunAs {
  readonly wrapper: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

/** A command that ends when node ends, in a session of its own so that Ctrl-C reaches node alone. */
export interface GuardedProcess {
  readonly pid: number;
  /** How it ended, in words, once it has. */
  readonly ended: string | undefined;
  /** Settles when the command, or the guard that watches it, has ended. */
  readonly exited: Promise<string>;
  /** The last lines on its standard error, without time and process id, as one line. */
  readonly lastOutput: string;
  /** Interrupts it, kills it after ten seconds, and lets go of its pipes. */
  end(): Promise<void>;
}

/** Starts a command under its guard. Its environment is empty: it needs none of our secrets. */
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
