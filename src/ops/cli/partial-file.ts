import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { link, open, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { errorCode } from '../embedded-postgres/errors.js';
import { onStopSignal } from '../../platform/config/stop-signals.js';

/** Only the owner may read a backup, because it contains personal data and the hashes of keys. */
const PRIVATE = 0o600;

const PARTIAL = /\.\d+-[0-9a-f]{8}\.partial$/;

/** Errors of file systems without hard links, such as FAT and some network file systems. */
const NO_LINKS: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'ENOSYS']);

/**
 * Writes a file that gets its name when it is complete. If that fails, or on a stop signal, the file is removed.
 * @param replace whether an existing file is replaced
 * @throws Error whose message is meant for the user if the file exists and is not replaced
 */
export async function writeFileAtOnce<T>(
  file: string,
  replace: boolean,
  write: (sink: Writable) => Promise<T>,
): Promise<T> {
  const partial = `${file}.${process.pid}-${randomBytes(4).toString('hex')}.partial`;
  const removeListeners = onStopSignal((signal) => {
    rmSync(partial, { force: true });
    // Without a listener, the signal ends the process.
    removeListeners();
    process.kill(process.pid, signal);
  });
  try {
    const result = await writeSynced(partial, write);
    await (replace ? rename(partial, file) : giveFreeName(partial, file));
    return result;
  } finally {
    await rm(partial, { force: true });
    removeListeners();
  }
}

/** Writes a new file that only its owner may read, and waits until it is on disk. */
export async function writeSynced<T>(
  file: string,
  write: (sink: Writable) => Promise<T>,
): Promise<T> {
  // The stream owns the handle, and closes it also after a failure.
  const sink = (await open(file, 'wx', PRIVATE)).createWriteStream();
  try {
    const result = await write(sink);
    await sync(file);
    return result;
  } finally {
    sink.destroy();
  }
}

/** Waits until a file, or the names in a directory, are on disk. */
export async function sync(file: string): Promise<void> {
  const handle = await open(file);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Gives a file a name that no other file has. */
async function giveFreeName(partial: string, file: string): Promise<void> {
  try {
    await link(partial, file).catch(async (error: unknown) => {
      if (!NO_LINKS.has(errorCode(error))) throw error;
      // An empty file reserves the name.
      await (await open(file, 'wx', PRIVATE)).close();
      await rename(partial, file);
    });
  } catch (error) {
    throw errorCode(error) === 'EEXIST' ? fileExists(file, error) : error;
  }
}

export function fileExists(file: string, cause?: unknown): Error {
  return new Error(`${file} exists: name another file, or replace it with --force.`, { cause });
}

/** The incomplete files in the folder of a file. Their processes still run, or were killed. */
export async function partialFilesBeside(file: string): Promise<string[]> {
  const folder = path.dirname(file);
  const names = await readdir(folder);
  return names.filter((name) => PARTIAL.test(name)).map((name) => path.join(folder, name));
}
