/** An item of `error.details`: one problem of one field. */
export interface FieldProblem {
  /** Name of the field or parameter; `body` or `query` for a problem of the whole. */
  field: string;
  /** A predicate that follows the field's name, such as `must be a UUID`, without the input. */
  message: string;
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
