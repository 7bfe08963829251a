import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the process id of the postmaster of a data directory; 0 if there is none. */
export function postmasterOf(dataDir: string): number {
  try {
    return Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'));
  } catch {
    return 0;
  }
}

/** Adds the process id of the latest postmaster, which changes with a restart. */
export function withPid<T extends object>(
  postgres: T,
  dataDir: string,
): T & { readonly pid: number } {
  let latest = postmasterOf(dataDir);
  return {
    ...postgres,
    get pid() {
      return (latest = postmasterOf(dataDir) || latest);
    },
  };
}
