/** Errors that the runtime throws. Their messages were not written for the user of a program. */
const UNEXPECTED = [TypeError, ReferenceError, RangeError, SyntaxError, URIError, EvalError];

/**
 * Describes the error that ended a program: its message, the messages of an `AggregateError`, or the stack of an
 * error that only shows where it was thrown.
 */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError) {
    const messages = [error.message, ...error.errors.map(describeFailure)];
    return messages.filter((message) => message !== '').join('\n');
  }
  const isUnexpected = error.message === '' || UNEXPECTED.some((type) => error instanceof type);
  return isUnexpected ? (error.stack ?? String(error)) : error.message;
}
