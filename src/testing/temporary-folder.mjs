import { accessSync, constants, statfsSync } from 'node:fs';
import os from 'node:os';

/** A file system in memory, which Linux has. */
const IN_MEMORY = '/dev/shm';

/** More than the databases of a run need. */
const NEEDED_BYTES = 4 * 1024 ** 3;

/**
 * Returns a folder for databases of tests: in memory if there is room, otherwise that of the system. Creating
 * and removing the files of a database on a disk takes more time than many suites.
 */
export function temporaryFolder() {
  if (process.env.TMPDIR) return process.env.TMPDIR;
  try {
    accessSync(IN_MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    const available = Math.min(bavail * bsize, process.availableMemory?.() ?? os.freemem());
    return available >= NEEDED_BYTES ? IN_MEMORY : os.tmpdir();
  } catch {
    return os.tmpdir();
  }
}
