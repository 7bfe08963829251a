import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jsonOf } from '../../platform/fields/kinds/json-object.js';
import { changeOwner, type Cluster } from './cluster.js';
import { errorCode, unlessMissing } from './errors.js';
import { findProcess, isAlive, type ProcessIdentity } from './processes.js';

/** The kind of process that owns the cluster: a server, or a run of the command line. */
export type Role = 'server' | 'command';

/** The contents of the owner file. */
export interface Owner extends ProcessIdentity {
  readonly role: Role;
  readonly socketDirectory: string;
  /** Identifies the directory. In a copy, the file names the original. Version 0.1.0 does not set it. */
  readonly directoryId?: string;
}

/** Ends the ownership of a data directory by this process. */
export type Release = () => Promise<void>;

/**
 * Makes this process the owner of a data directory, unless a running process owns it.
 *
 * The owner file is in a directory of its own, which is prepared and then renamed into place. A rename
 * succeeds only onto an empty directory, so exactly one process wins. The file of a dead owner is
 * removed by its unique name, so that the file of a new owner is never removed.
 * @returns the end of the ownership, or the running owner
 */
export async function acquire(
  { dataDirectory, socketDirectory }: Cluster,
  role: Role,
): Promise<Release | Owner> {
  const directory = join(dataDirectory, 'owner');
  // The same for every path of a directory, and different for a copy or snapshot.
  const { dev, ino } = await stat(dataDirectory);
  const directoryId = `${dev}:${ino}`;
  for (;;) {
    for (const name of await readdir(directory).catch(unlessMissing([]))) {
      const path = join(directory, name);
      const text = await readFile(path, 'utf8').catch(unlessMissing(''));
      // An incomplete file has no owner: it was cut short by a power failure, which no process survived.
      const owner = jsonOf(text) as Owner | undefined;
      const isHere = owner && (owner.directoryId ?? directoryId) === directoryId;
      if (isHere && (await isAlive(owner))) return owner;
      await rm(path, { recursive: true, force: true });
    }
    const claim = { role, socketDirectory, directoryId };
    const file = await moveIntoPlace(dataDirectory, directory, claim);
    if (file === undefined) continue;
    return async () => {
      await rm(file, { force: true });
      // A directory that contains the file of the next owner stays.
      await rmdir(directory).catch(() => undefined);
    };
  }
}

async function moveIntoPlace(
  dataDirectory: string,
  directory: string,
  claim: Omit<Owner, keyof ProcessIdentity>,
): Promise<string | undefined> {
  const name = `${process.pid}-${randomUUID()}.json`;
  const prepared = join(dataDirectory, `owner.claim-${name}`);
  const started = (await findProcess(process.pid))?.started;
  await mkdir(prepared);
  try {
    await writeFile(join(prepared, name), JSON.stringify({ pid: process.pid, started, ...claim }));
    // If a command run with sudo is killed, the user must be able to remove its file.
    if (process.getuid?.() === 0) await changeOwner(await stat(dataDirectory), prepared);
    await rename(prepared, directory);
    return join(directory, name);
  } catch (error) {
    await rm(prepared, { recursive: true, force: true });
    // The new owner removes what others have prepared.
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}
