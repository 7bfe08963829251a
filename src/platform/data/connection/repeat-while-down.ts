import { setTimeout as after } from 'node:timers/promises';

/** How long work is repeated while the database is down. */
const MAX_WAIT_MS = 10_000;
const PAUSE_MS = 200;

/** The codes of errors with which a server that starts, restarts or stops refuses or closes a connection. */
const DOWN_CODES: readonly unknown[] = [
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE'],
  // SQLSTATEs: admin_shutdown, crash_shutdown, cannot_connect_now
  ...['57P01', '57P02', '57P03'],
];

/** The message with which pg reports a closed connection. That error has no code. */
const CLOSED = 'Connection terminated unexpectedly';

/**
 * Repeats work that fails because the database, or a proxy before it, refuses or closes the connection.
 * @param signal ends the repetition
 * @throws any other error, and the last error if the database is down for too long
 */
export async function repeatWhileDown<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const end = performance.now() + MAX_WAIT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isDown(error) || performance.now() >= end) throw error;
      await after(PAUSE_MS, undefined, { signal });
    }
  }
}

/** Whether an error, or one of its causes, shows that the database is down. */
function isDown(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.message === CLOSED || DOWN_CODES.includes((error as NodeJS.ErrnoException).code)) {
    return true;
  }
  return isDown(error.cause);
}
