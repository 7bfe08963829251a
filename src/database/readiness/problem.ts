import { setTimeout as after } from 'node:timers/promises';
import pg from 'pg';
import { ReadOnlyDatabase } from './write-probe.js';

/** A part of a check takes less than a second: most load balancers wait no longer for an answer. */
const CHECK_MS = 900;

const TOO_MANY_CONNECTIONS = '53300';
const INSUFFICIENT_PRIVILEGE = '42501';

/** What pg-pool throws when no connection became free in time. */
const POOL_TIMEOUT = 'timeout exceeded when trying to connect';

/** One way in which the database fails requests; the detail is a sentence for operators. */
export type Problem = 'no connection' | { readonly detail: string };

/** The role of requests may read a table but not write to it. */
export class MissingGrants extends Error {}

/**
 * Waits for a part of a check.
 * @param late tells the problem where the part takes too long
 */
export async function withTimeout(
  work: Promise<void>,
  late: () => Problem,
): Promise<Problem | undefined> {
  const done = new AbortController();
  const tooLate = after(CHECK_MS, undefined, { signal: done.signal }).then(late, () => undefined);
  try {
    return await Promise.race([work.then(() => undefined, problemOf), tooLate]);
  } finally {
    done.abort();
  }
}

function problemOf(thrown: unknown): Problem {
  const error = (thrown as Error).cause ?? thrown;
  if (error instanceof ReadOnlyDatabase) {
    return { detail: 'The database is read-only or a standby.' };
  }
  const code = error instanceof pg.DatabaseError ? error.code : undefined;
  if (code === TOO_MANY_CONNECTIONS || (error as Error).message === POOL_TIMEOUT) {
    return 'no connection';
  }
  if (error instanceof MissingGrants || code === INSUFFICIENT_PRIVILEGE) {
    return { detail: 'The role that requests use lacks grants on tables or may not be used.' };
  }
  if (code !== undefined) return { detail: `The database refuses statements (SQLSTATE ${code}).` };
  return { detail: 'The database cannot be reached.' };
}
