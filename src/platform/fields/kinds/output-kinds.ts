import { type Declaration, declareField } from '../field.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { rule } from './rules.js';

type OutputDeclaration<T> = Omit<Declaration<T>, 'required' | 'default'>;

/** Declares a field that exists in responses only. */
export function outputField(
  schema: JsonSchema,
  declaration: OutputDeclaration<unknown>,
): PropertyDecorator {
  const rules = [rule('isNeverTaken', () => false, 'cannot be set')];
  return declareField({ ...declaration, required: true }, { schema, rules });
}

/** A list of distinct values out of an enumeration. */
export function EnumArray<T extends string>(
  values: readonly T[],
  declaration: Omit<Declaration<readonly T[]>, 'required' | 'default'> = {},
): PropertyDecorator {
  const items = { type: 'string', enum: values };
  return outputField({ type: 'array', items, uniqueItems: true }, declaration);
}

/** A list of names, such as those of fields. */
export function Names(declaration: OutputDeclaration<readonly string[]> = {}): PropertyDecorator {
  return outputField({ type: 'array', items: { type: 'string' } }, declaration);
}

/** A record of any kind. */
export function AnyRecord(declaration: OutputDeclaration<object> = {}): PropertyDecorator {
  const properties = { id: { type: 'string', format: 'uuid' } };
  return outputField(
    { type: 'object', properties, required: ['id'], additionalProperties: true },
    declaration,
  );
}

/** Numbers by name. A number that is not known is null. */
export function Counts(declaration: OutputDeclaration<object> = {}): PropertyDecorator {
  const additionalProperties = { type: ['integer', 'null'], minimum: 0 };
  return outputField({ type: 'object', additionalProperties }, declaration);
}
