import type { FieldProblem } from '../../../platform/errors/field-problem.js';
import { fieldLabel } from '../../../platform/errors/field-problem.js';
import type { JsonSchema } from '../../../platform/fields/schema/json-schema.js';

/** The argument of an update tool that names the fields to empty. */
export const CLEAR = 'clear';

type Values = Readonly<Record<string, unknown>>;

/** @param clearable the fields that the update can empty */
export function clearSchemaOf(clearable: readonly string[]): JsonSchema {
  return {
    type: 'array',
    items: { type: 'string', enum: clearable },
    description: 'Fields to empty. Null leaves a field as it is.',
  };
}

/**
 * Replaces `clear` with null for each field that it names, because updates empty a field by null.
 * @returns the values without `clear`, and the problems in it
 */
export function applyClear(
  { [CLEAR]: clear, ...values }: Values,
  clearable: readonly string[],
): { readonly values: Values; readonly problems: readonly FieldProblem[] } {
  if (clear === undefined) return { values, problems: [] };
  const message = problemOfNames(clear, clearable);
  if (message !== undefined) return { values, problems: [{ field: CLEAR, message }] };
  const names = [...new Set(clear as readonly string[])];
  const problems = names
    .filter((name) => Object.hasOwn(values, name))
    .map((field) => ({ field, message: `must not be both given and named in ${CLEAR}` }));
  const nulls = Object.fromEntries(names.map((name) => [name, null]));
  return { values: { ...nulls, ...values }, problems };
}

/** @returns the problem of a value that must be an array of known names */
export function problemOfNames(value: unknown, known: readonly string[]): string | undefined {
  if (!Array.isArray(value)) return 'must be an array of names of fields';
  const unknownName: unknown = value.find((name) => !known.includes(name as string));
  if (unknownName === undefined) return undefined;
  const label = typeof unknownName === 'string' ? fieldLabel(unknownName, '') : '';
  const hint = `it takes ${known.join(', ')}`;
  return label ? `must not name ${label}: ${hint}` : `must be an array of names: ${hint}`;
}
