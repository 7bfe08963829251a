import pg from 'pg';
import { TimeoutError, withTimeout } from '../../config/timeout.js';
import {
  INSUFFICIENT_PRIVILEGE,
  POOL_TIMEOUT,
  TOO_MANY_CONNECTIONS,
} from '../connection/driver-error.js';
import { ReadOnlyDatabase } from './write-probe.js';

/** Timeout of a part of a check. Many load balancers wait for one second only. */
const CHECK_MS = 900;

/** A problem of the database. The detail is a message for operators. */
export type Problem = 'no connection' | { readonly detail: string };

/** The role of requests may read the tables but not write to all of them. */
export class MissingGrants extends Error {}

/**
 * Runs a part of a check with a timeout.
 * @param late returns the problem after the timeout
 */
export function runCheck(work: Promise<void>, late: () => Problem): Promise<Problem | undefined> {
  return withTimeout(work, CHECK_MS).then(
    () => undefined,
    (error: unknown) => (error instanceof TimeoutError ? late() : problemOf(error)),
  );
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
