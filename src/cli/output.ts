import { Console } from 'node:console';
import { Writable } from 'node:stream';

/** Standard output is full or closed. */
export class OutputError extends Error {
  constructor(cause: Error) {
    super(`Standard output cannot be written: ${cause.message}`, { cause });
  }
}

/**
 * Writes text to standard output. `console.log` ignores errors.
 * @throws OutputError
 */
export function writeOutput(text: string): Promise<void> {
  const { stdout } = process;
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      reject(new OutputError(error));
    };
    // The stream also emits the error, which would end the process without a listener.
    stdout.once('error', fail);
    stdout.write(text, (error) => {
      if (error) {
        fail(error);
        return;
      }
      stdout.off('error', fail);
      resolve();
    });
  });
}

/** Formats rows as `console.table` does. */
export function formatTable(rows: readonly unknown[]): string {
  const { stdout } = process;
  let table = '';
  const target = new Writable({
    write(chunk, _, done) {
      table += String(chunk);
      done();
    },
  });
  const colorMode = stdout.isTTY && stdout.hasColors();
  new Console({ stdout: target, colorMode }).table(rows);
  return table;
}
