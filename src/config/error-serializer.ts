const MAX_CAUSES = 5;

/** A line of a stack trace. */
const FRAME = /^ {4}at .+:\d+:\d+\)?$/;

/** Serializes an error for the log, without its message, which can contain personal data. */
export function serializeError(error: unknown, causes = MAX_CAUSES): object {
  if (!(error instanceof Error)) return { type: error === null ? 'null' : typeof error };
  const { code, driverError } = error as { code?: unknown; driverError?: unknown };
  const cause = error.cause ?? driverError;
  return {
    type: error.name,
    ...(typeof code === 'string' && { code }),
    stack: framesOf(error),
    ...(cause !== undefined && causes > 0 && { cause: serializeError(cause, causes - 1) }),
  };
}

function framesOf({ stack = '', message }: Error): string {
  const lines = stack.replace(message, '').split('\n');
  return lines.filter((line) => FRAME.test(line)).join('\n');
}
