import { instanceToPlain } from 'class-transformer';
import type { Command } from 'commander';
import { formatRows, formatValue, type Json } from './rows.js';

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
      if (error) return;
      stdout.off('error', fail);
      resolve();
    });
  });
}

/** Whether the option `--json` is set. */
export function isJson(program: Command): boolean {
  return program.opts<{ json?: boolean }>().json === true;
}

/** Columns of a terminal that does not tell its width. */
const DEFAULT_WIDTH = 80;

/** Prints the result of a command: as one JSON value, or for people. */
export async function writeResult(result: unknown, asJson: boolean): Promise<void> {
  const plain: unknown = instanceToPlain(result);
  const text = JSON.stringify(plain ?? null);
  await writeOutput(asJson ? `${text}\n` : formatResult(JSON.parse(text) as Json));
}

function formatResult(result: Json): string {
  const { isTTY, columns } = process.stdout;
  if (Array.isArray(result)) {
    return formatRows(result as readonly Json[], isTTY ? columns || DEFAULT_WIDTH : undefined);
  }
  if (typeof result !== 'object' || result === null) return `${formatValue(result)}\n`;
  const lines = Object.entries(result).map(([name, value]) => `${name}: ${formatValue(value)}`);
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}
