import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { messageOf } from './errors.js';
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
"$@" </dev/null 3<&- &
command=$!
{ read -r _ <&3; interrupt "$command"; } 2>/dev/null &
reader=$!
exec 3<&-
wait "$command"
code=$?
{ kill -KILL "$reader"; wait "$reader"; } 2>/dev/null
exit "$code"
`;

const LAST_LINES = 8;

/** The user of a command, or a wrapper such as `unshare` that runs it. */
export interface RunAs {
  /** The name of the user in messages. */
  readonly name: string;
  readonly wrapper: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

/** A command that ends with Node.js. It has its own session, so that Ctrl-C reaches only Node.js. */
export class GuardedProcess {
  /** Resolves to the reason when the command or its guard has ended. */
  readonly exited: Promise<string>;
  /** The reason of its end as text; undefined while it runs. */
  ended: string | undefined;
  readonly #child: ChildProcessByStdio<Writable, null, Readable>;
  readonly #lastLines: string[] = [];

  /** Starts a command under its guard. Its environment is empty, so that it sees no secrets. */
  constructor(
    command: readonly string[],
    { wrapper, uid, gid }: RunAs,
    log: (line: string) => void = () => undefined,
  ) {
    const words = [...wrapper, 'env', '-i', 'LC_ALL=C', ...command];
    const child = spawn('/bin/sh', ['-c', GUARD, 'latitude-guard', ...words], {
      uid,
      gid,
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    child.stdin.on('error', () => undefined);
    createInterface({ input: child.stderr }).on('line', (line) => {
      log(line);
      this.#lastLines.push(line.replace(/^\d{4}-\d\d-\d\d [\d:.]+ \S+ \[\d+\] /, '').trim());
      if (this.#lastLines.length > LAST_LINES) this.#lastLines.shift();
    });
    this.#child = child;
    this.exited = once(child, 'exit')
      .then(() => this.#reasonOfEnd(), messageOf)
      .then((reason) => (this.ended = reason));
  }

  /** The last lines of its standard error as one line, without times and process ids. */
  get lastOutput(): string {
    return this.#lastLines.join(' ') || 'it wrote nothing';
  }

  /** Interrupts the command, kills it after ten seconds, and closes its pipes. */
  async end(): Promise<void> {
    const child = this.#child;
    child.stdin.destroy();
    const inTime = await pollUntil(() => this.ended !== undefined, { timeout: 10_000 });
    if (!inTime && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await this.exited;
    child.stderr.destroy();
  }

  async #reasonOfEnd(): Promise<string> {
    const { stderr, exitCode, signalCode } = this.#child;
    await pollUntil(() => stderr.readableEnded, { timeout: 200 });
    return exitCode === null ? `killed by ${signalCode ?? 'a signal'}` : `exit code ${exitCode}`;
  }
}
