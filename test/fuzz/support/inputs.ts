import type { Type } from '@nestjs/common';
import fc, { type Arbitrary } from 'fast-check';
import { fieldLabel } from '../../../src/platform/errors/field-problem.js';
import { type Field, fieldsOf, isUpdate } from '../../../src/platform/fields/field.js';
import { type Json, jsonValues } from './json.js';
import { texts } from './texts.js';
import { invalidValues, type SentValue, validValues } from './values.js';

/** An input and the expected values of its fields. For an update, only the changed fields. */
export interface ValidInput {
  readonly sent: Json;
  readonly stored: Json;
}

/** An input and its invalid fields. */
export interface InvalidInput {
  readonly sent: Json;
  readonly fields: readonly string[];
}

type SentValues = Readonly<Record<string, SentValue | undefined>>;

const NULL: SentValue = { sent: null, stored: null };

/** Filters, which have a language and random tests of their own, and what a record does not store. */
const WITHOUT_PLAIN_VALUES: readonly string[] = ['filter', 'within_hours'];

/** The fields with values of their kind. */
export function plainFieldsOf(dto: Type<object>): Field[] {
  return fieldsOf(dto).filter(({ name }) => !WITHOUT_PLAIN_VALUES.includes(name));
}

/** The fields that an input can have together. */
export function singleFieldsOf(dto: Type<object>): Field[] {
  return plainFieldsOf(dto).filter(({ isAlternative }) => !isAlternative);
}

/** Valid bodies of a DTO. */
export function validInputs(dto: Type<object>, lead: string): Arbitrary<ValidInput> {
  const valueOf = (field: Field): Arbitrary<SentValue | undefined> => {
    const values = validValues(field, lead).filter(
      ({ stored }) => stored !== null || acceptsNull(dto, field),
    );
    if (field.presence.required && !isUpdate(dto)) return values;
    const nothing = fc.constantFrom(undefined, ...(acceptsNull(dto, field) ? [NULL] : []));
    return fc.oneof({ weight: 2, arbitrary: values }, { weight: 1, arbitrary: nothing });
  };
  const values = singleFieldsOf(dto).map((field) => [field.name, valueOf(field)] as const);
  return fc
    .record<SentValues>(Object.fromEntries(values))
    .filter((given) => fieldWithInvalidTime(dto, storedOf(dto, given)) === undefined)
    .map((given) => ({ sent: sentOf(given), stored: storedOf(dto, given) }));
}

/**
 * Bodies with at least one invalid field.
 * @param nullInUpdates what null means in an update: a value, which some fields refuse, or nothing
 */
export function invalidInputs(
  dto: Type<object>,
  lead: string,
  nullInUpdates: 'value' | 'not given' = 'value',
): Arbitrary<InvalidInput> {
  const takesNull = isUpdate(dto) && nullInUpdates === 'not given';
  const fields = singleFieldsOf(dto);
  const faults = fc.oneof(
    fc.subarray([...fields], { minLength: 1, maxLength: 1 }),
    fc.subarray([...fields], { minLength: 1 }),
  );
  const wrong = faults.chain((chosen) =>
    fc.record<Json>(
      Object.fromEntries(chosen.map((field) => [field.name, invalidValue(dto, field, takesNull)])),
    ),
  );
  const mix = fc.tuple(validInputs(dto, lead), wrong, unknownFields(fields));
  return mix.map(([{ sent }, bad, unknown]) => ({
    sent: { ...unknown, ...sent, ...bad },
    fields: [
      ...Object.keys(bad),
      ...Object.keys(unknown).map((name) => fieldLabel(name, 'body')),
    ].sort(),
  }));
}

/**
 * The field that is refused if an input or record has two times in the wrong order, by the declarations of
 * the fields: the later one, unless only the earlier one was sent.
 */
export function fieldWithInvalidTime(dto: Type<object>, record: Json, sent = record) {
  for (const { name, schema } of singleFieldsOf(dto)) {
    const [, earlier = ''] = /must be after (\w+)/.exec(schema.description ?? '') ?? [];
    const [start, end] = [record[earlier], record[name]];
    if (typeof start !== 'string' || typeof end !== 'string' || end > start) continue;
    return sent[name] === undefined ? earlier : name;
  }
  return undefined;
}

/** Null is an omitted field in a create. In an update it clears a field without a default. */
export function acceptsNull(dto: Type<object>, { presence }: Field): boolean {
  return !presence.required && (!isUpdate(dto) || presence.default === undefined);
}

function isContainer(type: unknown): boolean {
  return type === 'array' || type === 'object';
}

function invalidValue(dto: Type<object>, field: Field, takesNull: boolean): Arbitrary<unknown> {
  const values = invalidValues(field);
  if (acceptsNull(dto, field)) return values;
  const missing = isUpdate(dto) ? [] : [undefined];
  const blanks = isContainer(field.schema.type) ? [] : ['', ' \n'];
  const nothing = [...(takesNull ? [] : [null]), ...missing, ...blanks];
  if (nothing.length === 0) return values;
  return fc.oneof(
    { weight: 3, arbitrary: values },
    { weight: 1, arbitrary: fc.constantFrom(...nothing) },
  );
}

/** Unknown fields; in most cases none. */
function unknownFields(fields: readonly Field[]): Arbitrary<Json> {
  const names = ['id', ...fields.map(({ name }) => name)];
  const name = fc
    .oneof(texts(120), fc.constantFrom('__proto__', 'constructor', 'created_at', 'ID', 'id '))
    .filter((text) => !names.includes(text));
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.dictionary(name, jsonValues(), { maxKeys: 3 }) },
  );
}

function sentOf(values: SentValues): Json {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, value?.sent]));
}

function storedOf(dto: Type<object>, values: SentValues): Json {
  const fields = singleFieldsOf(dto).filter(
    ({ name }) => !isUpdate(dto) || values[name] !== undefined,
  );
  return Object.fromEntries(
    fields.map(({ name, presence }) => [name, values[name]?.stored ?? presence.default ?? null]),
  );
}
