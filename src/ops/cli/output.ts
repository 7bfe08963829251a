import { instanceToPlain } from 'class-transformer';
import type { Command } from 'commander';
import { writeSynchronously } from '../../platform/config/standard-output.js';
import { isObject } from '../../platform/fields/kinds/json-object.js';
import { formatRows, formatValue, type Json } from './rows.js';

/** Standard output is full or closed. */
export class OutputError extends Error {
  constructor(cause: Error) {
    super(`Standard output cannot be written: ${cause.message}`, { cause });
  }
}

/**
 * Writes text to standard output before it returns.
 * @throws OutputError
 */
export function writeOutput(text: string): void {
  try {
    writeSynchronously(text);
  } catch (error) {
    throw new OutputError(error as Error);
  }
}

/** Whether the option `--json` is set. */
export function isJson(program: Command): boolean {
  return program.opts<{ json?: boolean }>().json === true;
}

/** Columns of a terminal that does not tell its width. */
const DEFAULT_WIDTH = 80;

/** Prints the result of a command: as one JSON value, or for people. */
export function writeResult(result: unknown, asJson: boolean): void {
  const plain: unknown = instanceToPlain(result);
  const text = JSON.stringify(plain ?? null);
  writeOutput(asJson ? `${text}\n` : formatResult(JSON.parse(text) as Json));
}

function formatResult(result: Json): string {
  if (Array.isArray(result)) return formatList(result as readonly Json[]);
  if (!isObject(result)) return `${formatValue(result)}\n`;
  const parts = Object.entries(result).map(([name, value]) => {
    if (isRows(value)) return `${name}:\n${formatList(value)}`;
    return `${`${name}: ${formatValue(value)}`.trimEnd()}\n`;
  });
  return parts.join('');
}

function isRows(value: Json): value is readonly Json[] {
  return Array.isArray(value) && value.length > 0 && value.every(isObject);
}

function formatList(rows: readonly Json[]): string {
  const { isTTY, columns } = process.stdout;
  return formatRows(rows, isTTY ? columns || DEFAULT_WIDTH : undefined);
}
