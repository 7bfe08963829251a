import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const START_TIMEOUT = 120_000;
const LOG_TAIL_LENGTH = 3_000;

/** A server as a child process that logs its address to a file. */
export class Server {
  #process;
  #log;

  /** @param node the file of Node.js, by default the running one */
  constructor(name, { args, env, log, node = process.execPath, ...options }) {
    this.name = name;
    this.#log = log;
    const output = openSync(log, 'w');
    const stdio = ['ignore', output, output];
    this.#process = spawn(node, args, { env, stdio, ...options });
    closeSync(output);
  }

  /** Waits until the log has the address. */
  async waitUntilListening() {
    this.url = await this.waitForLog(/listens on (http:[^\s"]+)/);
  }

  /** Waits until the server answers at a given address. */
  async waitUntilReady(url, path) {
    await this.#waitFor(async () => {
      const response = await fetch(url + path).catch(() => undefined);
      await response?.body?.cancel();
      return response?.ok;
    });
    this.url = url;
  }

  /** Waits until the log matches. @returns the first group */
  waitForLog(pattern) {
    return this.#waitFor(async () => pattern.exec(await readFile(this.#log, 'utf8'))?.[1]);
  }

  async #waitFor(check) {
    const deadline = performance.now() + START_TIMEOUT;
    while (this.isRunning && performance.now() < deadline) {
      const found = await check();
      if (found) return found;
      await sleep(50);
    }
    throw new Error(`${this.name} did not start: ${await this.logTail()}`);
  }

  get isRunning() {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** @returns the last lines of the log, or those of them that match a pattern */
  async logTail(pattern = /^/) {
    const lines = (await readFile(this.#log, 'utf8')).split('\n');
    return lines
      .filter((line) => pattern.test(line))
      .join('\n')
      .slice(-LOG_TAIL_LENGTH);
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
