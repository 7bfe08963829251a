import pg from 'pg';
import { TimeoutError, withTimeout } from '../../config/timeout.js';
import {
  INSUFFICIENT_PRIVILEGE,
  POOL_TIMEOUT,
  TOO_MANY_CONNECTIONS,
} from '../connection/driver-error.js';

/** Timeout of a part of a check. Many load balancers wait for one second only. */
const CHECK_MS = 900;

/** A problem only after a standstill. */
export const NO_CONNECTION =
  'No connection to the database has become free, and no statement has completed, for 5 seconds.';

/** The role of requests may read the tables but not write to all of them, or not use them at all. */
export const MISSING_GRANTS =
  'The role that requests use lacks grants on tables or may not be used.';

/**
 * Runs a part of a check with a timeout.
 * @param work returns a problem, as a message for operators
 * @param late returns the problem after the timeout
 */
export async function runCheck(
  work: Promise<string | undefined>,
  late: () => string,
): Promise<string | undefined> {
  try {
    return await withTimeout(work, CHECK_MS);
  } catch (error) {
    return error instanceof TimeoutError ? late() : problemOf(error);
  }
}

function problemOf(thrown: unknown): string {
  const error = (thrown as Error).cause ?? thrown;
  const code = error instanceof pg.DatabaseError ? error.code : undefined;
  if (code === TOO_MANY_CONNECTIONS || (error as Error).message === POOL_TIMEOUT) {
    return NO_CONNECTION;
  }
  if (code === INSUFFICIENT_PRIVILEGE) return MISSING_GRANTS;
  if (code !== undefined) return `The database refuses statements (SQLSTATE ${code}).`;
  return 'The database cannot be reached.';
}
