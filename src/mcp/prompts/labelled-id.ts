import { Matches } from 'class-validator';
import { fieldLabel } from '../../errors/field-problem.js';
import { type Declaration, declareField } from '../../fields/field.js';
import { IS_TEXT } from '../../fields/rules.js';
import { ANY_UUID, UUID, UUID_SCHEMA } from '../../fields/uuid.js';
import type { CompletionMatch } from './completion.decorator.js';

const KIND = Symbol('kind');

/**
 * The id of a record, as an argument of a prompt: alone, or at the end of a text, as completions
 * offer it. People choose among bare texts, in which an id alone says nothing.
 * @param kind the name of its resource
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
      rules: [IS_TEXT, Matches(UUID, { message: 'must be an id, or end with one' })],
      normalize: (value) => (typeof value === 'string' ? extractId(value) : value),
    },
  );
  return (target, property) => {
    field(target, property);
    Reflect.defineMetadata(KIND, kind, target, property);
  };
}

/** The kind of the record that a field names, if it is such a field. */
export function recordKindOf(
  dto: { readonly prototype: object },
  field: string,
): string | undefined {
  return Reflect.getMetadata(KIND, dto.prototype, field) as string | undefined;
}

/** What a person can choose and a prompt can read. */
export function formatLabelledId({ id, label }: CompletionMatch): string {
  return `${fieldLabel(label, '')} ${id}`.trim();
}

/** The id that a text is, or ends with; the text where there is none. */
export function extractId(text: string): string {
  const trimmed = text.trim();
  const last = trimmed.match(ANY_UUID)?.at(-1);
  return last !== undefined && trimmed.endsWith(last) ? last.toLowerCase() : trimmed;
}
