// Runs the built server with a temporary data directory, for checks from outside.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

export const ROOT = path.dirname(import.meta.dirname);
const MAIN = path.join(ROOT, 'dist/src/main.js');

/**
 * Starts the server and stops it afterwards.
 * @param use receives `url`, the address of the server; `key`, a key with every scope if the database is new;
 *   `directory`, a temporary one; `restart`, which kills the server and starts it again; and `stop`
 * @param settings environment variables; by default the server has its default settings
 * @param program the file to run; by default Latitude without extensions
 */
export async function withServer(use, settings = {}, program = MAIN) {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'latitude-ci-'));
  const env = { PATH: process.env.PATH, DATA_DIR: path.join(directory, 'data'), ...settings };
  let server = startServer(program, { ...env, PORT: '0' });
  try {
    const { key, url } = await started(server, settings.DATABASE_URL === undefined);
    const restart = async () => {
      await stop(server, 'SIGKILL');
      server = startServer(program, { ...env, PORT: new URL(url).port });
      await started(server, false);
    };
    return await use({ key, url, directory, restart, stop: () => stop(server) });
  } finally {
    await stop(server);
    rmSync(directory, { recursive: true });
  }
}

function startServer(program, env) {
  return spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] });
}

async function stop(server, signal) {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'close');
  server.kill(signal);
  await ended;
}

/**
 * @param printsKey whether this is the first start on an embedded database, which prints a key after the address
 * @returns the address and the key
 */
async function started(server, printsKey) {
  let key;
  let url;
  for await (const line of createInterface(server.stdout)) {
    key ??= /lat_\w+/.exec(line)?.[0];
    url ??= /listens on (http:[^"]+)/.exec(line)?.[1];
    if (!url || (printsKey && !key)) continue;
    // Discards later log lines, so that they do not fill the pipe.
    server.stdout.resume();
    return { key, url };
  }
  throw new Error('the server did not start');
}

/** Installs the packages of a directory with a lock file of its own, if they are missing or outdated. */
export async function install(directory) {
  const time = (file) => statSync(path.join(directory, file), { throwIfNoEntry: false })?.mtimeMs;
  const installed = time('node_modules/.package-lock.json') ?? 0;
  if (installed >= time('package-lock.json')) return;
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error'];
  await run('npm', ['ci', ...options], { cwd: directory });
}

/** Runs a program. @throws Error if it fails */
export async function run(command, args, options = {}) {
  const child = spawn(command, args, { stdio: 'inherit', ...options });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${code}`);
}
