import { randomUUID } from 'node:crypto';
import {
  chown,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, unlessMissing } from './errors.js';
import { identify, isAlive, type ProcessIdentity } from './processes.js';

/** What keeps the cluster: a server for as long as it runs, or a command for a moment. */
export type Role = 'server' | 'command';

/** What the owner file says. */
export interface Owner extends ProcessIdentity {
  readonly role: Role;
  readonly socketDirectory: string;
  /** Of the directory, whatever its path: in a copy, the file tells of the original. Unset by 0.1.0. */
  readonly directoryId?: string;
}

type Claim = Pick<Owner, 'role' | 'socketDirectory'>;

/** That this process is the owner, until it releases it. */
export interface Ownership {
  readonly release: () => Promise<void>;
}

interface OwnerFile {
  readonly path: string;
  readonly owner: Owner | undefined;
}

/**
 * Makes this process the one owner of a data directory, unless a living process is.
 *
 * The owner file lies in a directory of its own, and that directory is moved into place complete:
 * a rename succeeds only onto an empty directory, so of any number of processes one wins. A dead
 * owner's file is removed by its unique name, which can never hit the file of a new owner.
 * @returns the ownership, or whoever has it
 */
export async function acquire(dataDirectory: string, claim: Claim): Promise<Ownership | Owner> {
  const directory = join(dataDirectory, 'owner');
  const directoryId = await identifyDirectory(dataDirectory);
  for (;;) {
    for (const { path, owner } of await readOwnerFiles(directory)) {
      const isHere = owner && (owner.directoryId ?? directoryId) === directoryId;
      if (isHere && (await isAlive(owner))) return owner;
      await rm(path, { recursive: true, force: true });
    }
    const file = await moveIntoPlace(dataDirectory, directory, { ...claim, directoryId });
    if (file !== undefined) return { release: () => release(directory, file) };
  }
}

/** The same under every path, and another one for a copy or a snapshot. */
async function identifyDirectory(path: string): Promise<string> {
  const { dev, ino } = await stat(path);
  return `${dev}:${ino}`;
}

async function readOwnerFiles(directory: string): Promise<OwnerFile[]> {
  const names = await readdir(directory).catch(unlessMissing([]));
  return Promise.all(
    names.map(async (name) => {
      const path = join(directory, name);
      return { path, owner: parse(await readFile(path, 'utf8').catch(unlessMissing(''))) };
    }),
  );
}

/** A file cut short by a power failure has no owner, as no process survived it. */
function parse(text: string): Owner | undefined {
  try {
    const owner = JSON.parse(text) as Record<string, unknown>;
    const { pid, started, role, socketDirectory, directoryId } = owner;
    const complete =
      typeof pid === 'number' &&
      typeof started === 'string' &&
      typeof socketDirectory === 'string' &&
      (role === 'server' || role === 'command');
    if (!complete) return undefined;
    const known = typeof directoryId === 'string' ? { directoryId } : {};
    return { pid, started, role, socketDirectory, ...known };
  } catch {
    return undefined;
  }
}

async function moveIntoPlace(
  dataDirectory: string,
  directory: string,
  claim: Omit<Owner, keyof ProcessIdentity>,
): Promise<string | undefined> {
  const name = `${process.pid}-${randomUUID()}.json`;
  const prepared = join(dataDirectory, `owner.claim-${name}`);
  const owner = { ...(await identify(process.pid)), ...claim };
  await mkdir(prepared);
  try {
    await writeFile(join(prepared, name), JSON.stringify(owner));
    await changeOwnerToThatOf(dataDirectory, prepared, join(prepared, name));
    await rename(prepared, directory);
    return join(directory, name);
  } catch (error) {
    await rm(prepared, { recursive: true, force: true });
    if (errorCode(error) === 'ENOTEMPTY' || errorCode(error) === 'EEXIST') return undefined;
    throw error;
  }
}

/** After a command run with sudo is killed, the user himself must be able to clear its file away. */
async function changeOwnerToThatOf(
  dataDirectory: string,
  ...paths: readonly string[]
): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(dataDirectory);
  await Promise.all(paths.map((path) => chown(path, uid, gid)));
}

async function release(directory: string, file: string): Promise<void> {
  await rm(file, { force: true });
  // The next owner may already have moved in: a directory with a file in it stays.
  await rmdir(directory).catch(() => undefined);
}
