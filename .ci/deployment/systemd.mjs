// Checks the unit of docs/operating/systemd.md by systemd.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from '../server.mjs';

const PAGE = path.join(ROOT, 'docs/operating/systemd.md');
const NAME = 'latitude@.service';

/** @returns what systemd reports; undefined if it is not installed */
export function problemsOfUnit() {
  const isInstalled = spawnSync('systemd-analyze', ['--version']).status === 0;
  if (!isInstalled) return undefined;
  const [, unit] = /^```ini\n(.*?)^```$/ms.exec(readFileSync(PAGE, 'utf8'));
  const directory = mkdtempSync(path.join(os.tmpdir(), 'latitude-unit-'));
  try {
    const file = path.join(directory, NAME);
    writeFileSync(file, unit.replace('/usr/bin/node', process.execPath));
    const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file]);
    return `${stdout}${stderr}`.split('\n').filter((line) => line !== '');
  } finally {
    rmSync(directory, { recursive: true });
  }
}
