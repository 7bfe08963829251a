/** One problem of one field. */
export interface FieldProblem {
  /** Name of the field or parameter; `body` or `query` for a problem of the whole. */
  field: string;
  /** A predicate that follows the field's name, such as `must be a UUID`, without the input. */
  message: string;
}

/** An item of `error.details`: a problem, and the records that it is about. */
export interface ProblemDetail extends FieldProblem {
  existing_id?: string;
  merged_into?: string;
  /** How many leads there are, and some of them. */
  count?: number;
  lead_ids?: readonly string[];
  /** The next free times (docs/contract/booking.md#conflicts). */
  free?: readonly object[];
}

/** Maximum number of problems in one response. */
export const MAX_PROBLEMS = 100;

const MAX_LABEL_LENGTH = 100;
const NOT_PRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/**
 * Makes a field's name from a request short and printable.
 * @param fallback returned if nothing printable is left
 */
export function fieldLabel(name: string, fallback: string): string {
  return name.slice(0, MAX_LABEL_LENGTH).replace(NOT_PRINTABLE, '') || fallback;
}

/** The field and its problem. Rules of class-validator can have messages that are not predicates. */
export function describeProblem({ field, message }: FieldProblem): string {
  return /^(\p{Lu}|each )/u.test(message) ? `${field}: ${message}` : `${field} ${message}`;
}
