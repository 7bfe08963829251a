import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf, unlessMissing } from './errors.js';
import type { RunAs } from './guarded-process.js';
import { copyBinaries, type Installation, linkLibraries, USE_ANOTHER } from './installation.js';

const run = promisify(execFile);

/** The binaries of PostgreSQL, and the user that runs them: PostgreSQL refuses to run as root. */
export interface Runtime {
  readonly binaries: string;
  readonly majorVersion: string;
  readonly runAs: RunAs;
}

interface Candidate extends RunAs {
  readonly name: string;
}

const CURRENT_USER: Candidate = { name: 'this user', wrapper: [] };

/**
 * The current user in a Linux user namespace, where it has an unprivileged user id with a name and keeps its
 * file permissions. PostgreSQL refuses to run as root, and initdb fails for a user id without a name.
 */
const NAMESPACE: Candidate = {
  name: 'this user',
  wrapper: ['unshare', '--user', '--map-user=65534', '--map-group=65534', '--'],
};

const PROBE = 'cd "$1" || exit 10; "$2" --version || exit 11';
const CANNOT_ENTER = 10;
const CANNOT_RUN = 11;

/**
 * Finds a user for a data directory and its cluster, and binaries that this user can run.
 * @throws Error whose message is meant for the user if there are none
 */
export async function prepareRuntime(
  installation: Installation,
  dataDirectory: string,
  cluster: string,
): Promise<Runtime> {
  const [majorVersion = ''] = installation.version.split('.');
  let problem = '';
  for (const candidate of await candidates(cluster)) {
    const outcome = await findBinaries(installation, candidate, dataDirectory);
    if ('binaries' in outcome) return { ...outcome, majorVersion, runAs: candidate };
    problem = outcome.problem;
  }
  throw new Error(problem);
}

/** The possible users in the order of preference. */
async function candidates(cluster: string): Promise<Candidate[]> {
  if (process.getuid?.() !== 0) return hasName() ? [CURRENT_USER] : [NAMESPACE, CURRENT_USER];
  const owner = await stat(cluster).catch(unlessMissing(undefined));
  if (owner !== undefined && owner.uid !== 0) {
    return [{ name: `user ${owner.uid}`, wrapper: [], uid: owner.uid, gid: owner.gid }];
  }
  if (process.platform !== 'linux') {
    throw new Error('PostgreSQL refuses to run as root: start Latitude as an ordinary user.');
  }
  return [NAMESPACE, await nobody()];
}

/** initdb fails for a user id without a name. */
function hasName(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
}

async function nobody(): Promise<Candidate> {
  const users = await readFile('/etc/passwd', 'utf8').catch(unlessMissing(''));
  const [, uid = 65_534, gid = 65_534] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(users) ?? [];
  return { name: 'the user nobody', wrapper: [], uid: Number(uid), gid: Number(gid) };
}

type Outcome = { readonly binaries: string } | { readonly problem: string };

async function findBinaries(
  installation: Installation,
  candidate: Candidate,
  dataDirectory: string,
): Promise<Outcome> {
  let binaries = installation.directory;
  await linkLibraries(binaries);
  let failure = await probe(binaries, candidate, dataDirectory);
  if (failure?.code === CANNOT_RUN) {
    binaries = await copyBinaries(installation, dataDirectory);
    failure = await probe(binaries, candidate, dataDirectory);
  }
  if (failure === undefined) return { binaries };
  if (failure.code === CANNOT_ENTER) {
    return {
      problem: `PostgreSQL runs as ${candidate.name}, who cannot enter ${dataDirectory}: set DATA_DIR to a directory that every user can enter, such as /var/lib/latitude.`,
    };
  }
  const reason = messageOf(failure).replace(/\s+/g, ' ');
  return { problem: `The embedded PostgreSQL does not run here (${reason}): ${USE_ANOTHER}.` };
}

/** @returns the error; undefined if the binaries run */
async function probe(
  binaries: string,
  { wrapper, uid, gid }: Candidate,
  dataDirectory: string,
): Promise<{ code?: unknown } | undefined> {
  const script = ['/bin/sh', '-c', PROBE, 'probe', dataDirectory, join(binaries, 'bin/postgres')];
  const [program = '', ...args] = [...wrapper, ...script];
  return run(program, args, { uid, gid, cwd: '/' }).then(
    () => undefined,
    (error: unknown) => error as { code?: unknown },
  );
}
