import { type Declaration, declareField } from '../field.js';
import { rule } from './rules.js';

/** Rules of fields that exist in responses only. */
const OUTPUT_ONLY = [rule('isNeverTaken', () => false, 'cannot be set')];

/** A list of distinct values out of an enumeration. */
export function EnumArray<T extends string>(
  values: readonly T[],
  declaration: Omit<Declaration<readonly T[]>, 'required' | 'default'> = {},
): PropertyDecorator {
  const items = { type: 'string', enum: values };
  return declareField(
    { ...declaration, required: true },
    { schema: { type: 'array', items, uniqueItems: true }, rules: OUTPUT_ONLY },
  );
}

/** A list of names, such as those of fields. */
export function Names(
  declaration: Omit<Declaration<readonly string[]>, 'required' | 'default'> = {},
): PropertyDecorator {
  return declareField(
    { ...declaration, required: true },
    { schema: { type: 'array', items: { type: 'string' } }, rules: OUTPUT_ONLY },
  );
}

/** A record of any kind. */
export function AnyRecord(
  declaration: Omit<Declaration<object>, 'required' | 'default'> = {},
): PropertyDecorator {
  const properties = { id: { type: 'string', format: 'uuid' } };
  return declareField(
    { ...declaration, required: true },
    {
      schema: { type: 'object', properties, required: ['id'], additionalProperties: true },
      rules: OUTPUT_ONLY,
    },
  );
}

/** Numbers by name. A number that is not known is null. */
export function Counts(
  declaration: Omit<Declaration<object>, 'required' | 'default'> = {},
): PropertyDecorator {
  const additionalProperties = { type: ['integer', 'null'], minimum: 0 } as const;
  return declareField(
    { ...declaration, required: true },
    { schema: { type: 'object', additionalProperties }, rules: OUTPUT_ONLY },
  );
}
