import { writeSync } from 'node:fs';

const STANDARD_OUTPUT = 1;

/** Pause before the next attempt to write to a pipe that is full. */
const RETRY_MS = 10;

/**
 * Writes text to standard output before it returns.
 * @throws Error of the system if standard output is full or a closed pipe
 */
export function writeSynchronously(text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(STANDARD_OUTPUT, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}
