import { describeFailure } from './failure.js';
import { flushLog } from './logger.js';
import { writeSynchronously } from './standard-output.js';

/** Prints the message with the key of the first start after the lines of the log. */
export function printFirstKey(message: string): void {
  flushLog();
  try {
    writeSynchronously(message);
  } catch (error) {
    process.stderr.write(
      `latitude: The first key was created, but not printed: ${describeFailure(error)}. Create another one with "latitude keys create".\n`,
    );
  }
}
