import { inspect } from 'node:util';
import type { Settings } from './settings.js';

const MAX_CAUSES = 5;

/** A line of a stack trace. */
const FRAME = /^ {4}at .+:\d+:\d+\)?$/;

let logsMessages = false;

/** Sets what is logged of errors. Their messages can contain personal data. */
export function setLogErrors(errors: Settings['logErrors']): void {
  logsMessages = errors === 'full';
}

/** The message of an error, if messages are logged. */
export function loggedMessageOf({ message }: Error): { readonly message?: string } {
  return logsMessages ? { message } : {};
}

/** Serializes an error for the log, by default without its message. */
export function serializeError(error: unknown, causes = MAX_CAUSES): object {
  if (!(error instanceof Error)) {
    const type = error === null ? 'null' : typeof error;
    return { type, ...(logsMessages && { message: inspect(error) }) };
  }
  const { code, driverError } = error as { code?: unknown; driverError?: unknown };
  const cause = error.cause ?? driverError;
  return {
    type: error.name,
    ...loggedMessageOf(error),
    ...(typeof code === 'string' && { code }),
    stack: framesOf(error),
    ...(cause !== undefined && causes > 0 && { cause: serializeError(cause, causes - 1) }),
  };
}

function framesOf({ stack = '', message }: Error): string {
  const lines = stack.replace(message, '').split('\n');
  return lines.filter((line) => FRAME.test(line)).join('\n');
}
