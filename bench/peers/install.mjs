import { execFile } from 'node:child_process';
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CACHE = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
const MAX_LINES = 6;
const TIMEOUT_MS = 15 * 60_000;

/**
 * Installs npm packages once, into the cache folder of the user.
 */
export async function install(name, packages, signal) {
  const [version] = Object.values(packages);
  const folder = path.join(
    CACHE,
    'latitude-bench',
    `${name.toLowerCase()}-${version}-node${process.versions.modules}`,
  );
  if (await exists(folder)) return folder;
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  const manifest = { private: true, dependencies: packages };
  await writeFile(path.join(unfinished, 'package.json'), JSON.stringify(manifest));
  const options = { cwd: unfinished, timeout: TIMEOUT_MS, signal, maxBuffer: 2 ** 26 };
  await run('npm', ['install', '--no-audit', '--no-fund', '--omit=dev'], options).catch(explain);
  await rename(unfinished, folder);
  return folder;
}

/** Throws the first error lines of npm, without its warnings. */
function explain(error) {
  const lines = (error.stderr ?? '').split('\n').filter((line) => line.startsWith('npm error'));
  if (lines.length === 0) throw error;
  throw new Error(lines.slice(0, MAX_LINES).join(' ').replaceAll('npm error', ''));
}

function exists(folder) {
  return access(folder).then(
    () => true,
    () => false,
  );
}
