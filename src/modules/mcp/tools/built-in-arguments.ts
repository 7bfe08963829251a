import type { Type } from '@nestjs/common';
import { fieldLabel } from '../../../platform/errors/field-problem.js';
import { clearableFieldsOf, declareField, namesOf } from '../../../platform/fields/field.js';
import { Flag, Uuid } from '../../../platform/fields/kinds/kinds.js';
import { problemRule } from '../../../platform/fields/kinds/rules.js';
import { takesDryRun, type ToolDeclaration } from './tool.decorator.js';

/** The argument that checks everything and changes nothing. */
export const DRY_RUN = 'dry_run';

/** The argument of an update tool that names the fields to empty. */
export const CLEAR = 'clear';

/** The argument of a list tool that names fields beyond the summary. */
const FIELDS = 'fields';

/** The arguments that a tool takes beside those of its `input`. */
export interface BuiltInArguments {
  readonly id?: string;
  readonly dry_run?: boolean;
  readonly clear?: readonly string[];
  readonly fields?: readonly string[];
}

/** The DTO of the built-in arguments, as far as the tool takes them. */
export function builtInArgumentsOf(tool: ToolDeclaration): Type<BuiltInArguments> {
  const { id, input, output, record = output } = tool;
  const { summary = namesOf(record) } = tool;
  class DeclaredArguments {}
  const { prototype } = DeclaredArguments;
  if (id !== undefined) Uuid({ required: true, description: id })(prototype, 'id');
  if (takesDryRun(tool)) {
    const description = 'Only check, and change nothing.';
    Flag({ default: false, description })(prototype, DRY_RUN);
  }
  const clearable = input ? clearableFieldsOf(input) : [];
  if (clearable.length > 0) ClearedFields(clearable)(prototype, CLEAR);
  const further = namesOf(record).filter((name) => !summary.includes(name));
  if (further.length > 0) {
    FieldNames('Further fields to return.', further, summary)(prototype, FIELDS);
  }
  return DeclaredArguments;
}

/** The fields that an update empties. */
export function ClearedFields(clearable: readonly string[]): PropertyDecorator {
  return FieldNames('Fields to empty; null does not.', clearable);
}

/**
 * An array of names of fields.
 * @param listed the names in the schema
 * @param others names that are accepted as well
 */
function FieldNames(
  description: string,
  listed: readonly string[],
  others: readonly string[] = [],
): PropertyDecorator {
  const schema = { type: 'array', items: { type: 'string', enum: listed } };
  const known = [...others, ...listed];
  const areNames = problemRule('areNamesOfFields', (value) => problemOfNames(value, known));
  return declareField({ description }, { schema, rules: [areNames] });
}

function problemOfNames(value: unknown, known: readonly string[]): string | undefined {
  if (!Array.isArray(value)) return 'must be an array of names of fields';
  const unknownName: unknown = value.find((name) => !known.includes(name as string));
  if (unknownName === undefined) return undefined;
  const label = typeof unknownName === 'string' ? fieldLabel(unknownName, '') : '';
  const hint = `it takes ${known.join(', ')}`;
  return label ? `must not name ${label}: ${hint}` : `must be an array of names: ${hint}`;
}
