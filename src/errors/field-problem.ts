/** One thing that is wrong with an input, as it stands in `error.details`. */
export interface FieldProblem {
  /** The field or parameter; `body` or `query` where the whole is meant. */
  field: string;
  /** A short clause that reads well after the field's name; it never repeats the input. */
  message: string;
}

/** No answer lists more problems than this, however many an input has. */
export const MAX_PROBLEMS = 100;

const MAX_LABEL_LENGTH = 100;
const NOT_PRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/**
 * A name from outside as it may be shown: short and printable.
 *
 * @param name - the field's name as it was given
 * @param fallback - what to show if nothing printable is left
 */
export function fieldLabel(name: string, fallback: string): string {
  return name.slice(0, MAX_LABEL_LENGTH).replace(NOT_PRINTABLE, '') || fallback;
}
