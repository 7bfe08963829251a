import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const START_TIMEOUT = 120_000;
const LAST_WORDS = 3_000;

/** A server as a child process that logs to a file and says there where it listens. */
export class Server {
  #process;
  #log;

  constructor(name, { args, env, log, ...options }) {
    this.name = name;
    this.#log = log;
    const output = openSync(log, 'w');
    const stdio = ['ignore', output, output];
    this.#process = spawn(process.execPath, args, { env, stdio, ...options });
    closeSync(output);
  }

  /** Waits until it says where it listens. */
  async untilListening() {
    this.url = await this.said(/listens on (http:[^\s"]+)/);
  }

  /** Waits until it answers at an address that it was given. */
  async untilAnswering(url, path) {
    await this.#until(async () => {
      const response = await fetch(url + path).catch(() => undefined);
      await response?.body?.cancel();
      return response?.ok;
    });
    this.url = url;
  }

  /** The first group of what it says, once it says so. */
  said(pattern) {
    return this.#until(async () => pattern.exec(await readFile(this.#log, 'utf8'))?.[1]);
  }

  async #until(check) {
    const deadline = performance.now() + START_TIMEOUT;
    while (this.isRunning && performance.now() < deadline) {
      const found = await check();
      if (found) return found;
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

  get pid() {
    return this.#process.pid;
  }

  async stop() {
    if (!this.isRunning) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await exited;
  }
}
