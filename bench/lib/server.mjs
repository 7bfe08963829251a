import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const START_TIMEOUT = 60_000;
const LAST_WORDS = 1_000;

/** The clock of /proc/<pid>/stat, which Linux keeps at 100 Hz for programs. */
const MICROSECONDS_PER_TICK = 10_000;

/** A server as a child process that logs to a file and says there where it listens. */
export class Server {
  #process;
  #log;

  constructor(name, { args, env, log }) {
    this.name = name;
    this.#log = log;
    const output = openSync(log, 'w');
    this.#process = spawn(process.execPath, args, { env, stdio: ['ignore', output, output] });
    closeSync(output);
  }

  async untilListening() {
    const deadline = performance.now() + START_TIMEOUT;
    while (this.isRunning && performance.now() < deadline) {
      const [, url] = /listens on (http:[^\s"]+)/.exec(await readFile(this.#log, 'utf8')) ?? [];
      if (url !== undefined) {
        this.url = url;
        return;
      }
      await sleep(50);
    }
    throw new Error(`${this.name} did not start: ${await this.lastWords()}`);
  }

  get isRunning() {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  async lastWords() {
    return (await readFile(this.#log, 'utf8')).slice(-LAST_WORDS);
  }

  /** Processor time that it has used in all its threads; undefined where the system does not tell. */
  async cpuMicroseconds() {
    const stat = await readFile(`/proc/${this.#process.pid}/stat`, 'utf8').catch(() => undefined);
    if (stat === undefined) return undefined;
    // The second field is the name in parentheses, which may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [user, system] = [fields[11], fields[12]];
    return (Number(user) + Number(system)) * MICROSECONDS_PER_TICK;
  }

  async stop() {
    if (!this.isRunning) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await exited;
  }
}
