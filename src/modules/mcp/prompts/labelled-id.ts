import { applyDecorators } from '@nestjs/common';
import { fieldLabel } from '../../../platform/errors/field-problem.js';
import { type Declaration, declareField } from '../../../platform/fields/field.js';
import { IS_TEXT, matches } from '../../../platform/fields/kinds/rules.js';
import { ANY_UUID, UUID, UUID_SCHEMA } from '../../../platform/fields/kinds/uuid.js';
import type { CompletionMatch } from './completion.decorator.js';

const KIND = Symbol('kind');

/**
 * An argument of a prompt that takes the id of a record, alone or at the end of a string. Completions
 * offer a label followed by the id, because people cannot recognize a record by its id alone.
 * @param kind the name of the resource
 */
export function LabelledId(
  kind: string,
  { description = '', ...declaration }: Declaration<string>,
): PropertyDecorator {
  const field = declareField(
    {
      ...declaration,
      description: `${description} Its id, alone or at the end of any text.`.trim(),
    },
    {
      schema: UUID_SCHEMA,
      rules: [IS_TEXT, matches(UUID, 'must be an id, or end with one')],
      normalize: (value) => (typeof value === 'string' ? extractId(value) : value),
    },
  );
  return applyDecorators(field, Reflect.metadata(KIND, kind));
}

/** @returns the kind of the record; undefined when the field is not a `LabelledId` */
export function recordKindOf(
  dto: { readonly prototype: object },
  field: string,
): string | undefined {
  return Reflect.getMetadata(KIND, dto.prototype, field) as string | undefined;
}

/** @returns the label and the id, as completions offer them */
export function formatLabelledId({ id, label }: CompletionMatch): string {
  return `${fieldLabel(label, '')} ${id}`.trim();
}

/** @returns the id at the end of a string; the trimmed string when there is none */
export function extractId(text: string): string {
  const trimmed = text.trim();
  const last = trimmed.match(ANY_UUID)?.at(-1);
  return last !== undefined && trimmed.endsWith(last) ? last.toLowerCase() : trimmed;
}
