/** A rule of a field. */
export interface Rule {
  /** The name of the rule in class-validator. */
  readonly name: string;
  /** @returns the message for a value that breaks the rule in its object */
  readonly problemOf: (
    value: unknown,
    object: Readonly<Record<string, unknown>>,
  ) => string | undefined;
}

/** Whether an input has a value. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
