// Runs the built server with a temporary data directory, for checks from outside.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

export const ROOT = path.dirname(import.meta.dirname);

/**
 * Starts the server with its default settings and stops it afterwards.
 * @param use receives the address of the server, a key with every scope, and a temporary directory
 */
export async function withServer(use) {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'latitude-ci-'));
  const server = spawn(process.execPath, [path.join(ROOT, 'dist/src/main.js')], {
    env: { PATH: process.env.PATH, DATA_DIR: path.join(directory, 'data'), PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(server, 'close');
  try {
    return await use({ ...(await firstStart(server)), directory });
  } finally {
    server.kill();
    await ended;
    rmSync(directory, { recursive: true });
  }
}

/** @returns the key and the address that the server prints at its first start */
async function firstStart(server) {
  let key;
  for await (const line of createInterface(server.stdout)) {
    key ??= /lat_\w+/.exec(line)?.[0];
    const url = /listens on (http:[^"]+)/.exec(line)?.[1];
    if (!url) continue;
    // Discards further log lines, so that they do not fill the pipe.
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
