// Runs the built product on a data directory of its own, for checks that come from outside.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

export const ROOT = path.dirname(import.meta.dirname);

/**
 * Starts the product with its default settings and stops it afterwards.
 * @param use called with the address of the server, a key with every scope, and the directory
 */
export async function withProduct(use) {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'latitude-ci-'));
  const product = spawn(process.execPath, [path.join(ROOT, 'dist/src/main.js')], {
    env: { PATH: process.env.PATH, DATA_DIR: path.join(directory, 'data'), PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(product, 'close');
  try {
    return await use({ ...(await firstStart(product)), directory });
  } finally {
    product.kill();
    await ended;
    rmSync(directory, { recursive: true });
  }
}

/** The key and the address that the product prints when it starts for the first time. */
async function firstStart(product) {
  let key;
  for await (const line of createInterface(product.stdout)) {
    key ??= /lat_\w+/.exec(line)?.[0];
    const url = /listens on (http:[^"]+)/.exec(line)?.[1];
    if (!url) continue;
    // What it logs from now on is not read, but must not fill the pipe.
    product.stdout.resume();
    return { key, url };
  }
  throw new Error('the product did not start');
}

/** Installs the packages of a directory that has a lock file of its own, unless they are there. */
export async function install(directory) {
  const time = (file) => statSync(path.join(directory, file), { throwIfNoEntry: false })?.mtimeMs;
  const installed = time('node_modules/.package-lock.json') ?? 0;
  if (installed >= time('package-lock.json')) return;
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error'];
  await run('npm', ['ci', ...options], { cwd: directory });
}

/** Runs a program to its end. @throws where it fails */
export async function run(command, args, options = {}) {
  const child = spawn(command, args, { stdio: 'inherit', ...options });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${code}`);
}
