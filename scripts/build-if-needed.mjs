// Builds dist/ if it is missing or older than its sources.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';

const SOURCES = [
  ...['src', 'console', 'ormconfig.ts', 'package.json', 'tsconfig.json', 'tsconfig.build.json'],
];
const RESULT = 'dist/src/main.js';

const modified = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** @returns the newest time of a tree, including folders, whose time changes when a file is removed */
function newest(file) {
  const stat = statSync(file);
  if (!stat.isDirectory()) return stat.mtimeMs;
  const children = readdirSync(file).map((name) => newest(path.join(file, name)));
  return Math.max(stat.mtimeMs, ...children);
}

process.chdir(path.dirname(import.meta.dirname));
if (Math.max(...SOURCES.map(newest)) > modified(RESULT)) {
  process.stderr.write('Starting: building Latitude\n');
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  process.exitCode = status ?? 1;
}
