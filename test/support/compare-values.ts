/** Sends many values of many fields through REST and MCP, and compares the results. */

export type Json = Record<string, unknown>;

/** The result of one side: the stored or found records, or the error. */
export type Outcome =
  | { readonly succeeds: true; readonly value: unknown }
  | {
      readonly succeeds: false;
      readonly code: string;
      readonly details: readonly { readonly field: string; readonly message: string }[] | undefined;
    };

/** Sends the same fields to both sides. */
export type Send = (fields: Json) => Promise<[rest: Outcome, mcp: Outcome]>;

/** One value of one field, sent through REST and MCP. */
export interface Comparison {
  readonly value: unknown;
  /** Undefined if only the other side has an error for the field. */
  readonly rest: Outcome | undefined;
  readonly mcp: Outcome | undefined;
}

const UNKNOWN_FIELD = 'nonsense';

/**
 * Sends every value of every field. One request has a value of each field, because each field has errors
 * of its own.
 * @param values the values of each field
 * @param combinesValid whether one request may also have valid values of several fields. If a side refuses
 * them together, each is sent alone.
 */
export async function compareValues(
  values: Record<string, readonly unknown[]>,
  send: Send,
  { combinesValid }: { combinesValid: boolean },
): Promise<Record<string, Comparison[]>> {
  const names = Object.keys(values);
  const comparisons = Object.fromEntries(names.map((name) => [name, [] as Comparison[]]));
  const valid = Object.fromEntries(names.map((name) => [name, [] as unknown[]]));
  for (const round of roundsOf(values)) {
    // With an unknown field, neither side stores anything.
    const [rest, mcp] = await send({ ...round, [UNKNOWN_FIELD]: 'x' });
    for (const [name, value] of Object.entries(round)) {
      const errors = { rest: errorOfField(rest, name), mcp: errorOfField(mcp, name) };
      if (errors.rest ?? errors.mcp) comparisons[name]!.push({ value, ...errors });
      else valid[name]!.push(value);
    }
  }
  for (const round of roundsOf(valid)) {
    const together = combinesValid ? await send(round) : undefined;
    const succeeds = together?.every((outcome) => outcome.succeeds);
    for (const [name, value] of Object.entries(round)) {
      const [rest, mcp] = together && succeeds ? together : await send({ [name]: value });
      comparisons[name]!.push({ value, rest, mcp });
    }
  }
  return comparisons;
}

/** @returns objects with one value of each field, until every value is in one of them */
function roundsOf(values: Record<string, readonly unknown[]>): Json[] {
  const count = Math.max(...Object.values(values).map(({ length }) => length));
  return Array.from({ length: count }, (_, round) =>
    Object.fromEntries(
      Object.entries(values)
        .filter(([, { length }]) => round < length)
        .map(([name, all]) => [name, all[round]]),
    ),
  );
}

/** @returns the part of a validation_error about one field */
function errorOfField(outcome: Outcome, name: string): Outcome | undefined {
  if (outcome.succeeds) throw new Error(`The unknown field ${UNKNOWN_FIELD} was accepted.`);
  const details = outcome.details?.filter(({ field }) => field === name) ?? [];
  return details.length > 0 ? { ...outcome, details } : undefined;
}
