import { trimText } from '../../../src/platform/fields/kinds/text.js';
import fc, { type Arbitrary } from 'fast-check';
import type { Field } from '../../../src/platform/fields/field.js';
import type { JsonSchema } from '../../../src/platform/fields/schema/json-schema.js';
import { dateTimes, invalidDateTimes } from './date-times.js';
import { invalidJsonObjects, hugeNumbers, jsonObjects, jsonValues } from './json.js';
import { isBlank, padded, texts, tooLong, unstorable } from './texts.js';

/** A value as it is sent, and as it must be returned (docs/contract/resources.md). */
export interface SentValue {
  readonly sent: unknown;
  readonly stored: unknown;
}

/** The properties of a schema that determine the generated values. */
type Kind =
  | ('words' | 'uuid' | 'date-time' | 'email' | 'phone' | 'text')
  | ('integer' | 'boolean' | 'array' | 'object');

const HEX_UUID = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

export function kindOf({ type, enum: words, format, pattern }: JsonSchema): Kind {
  if (words) return 'words';
  if (format !== undefined) return format as Kind;
  if (type !== 'string') return type as Kind;
  // The patterns of e-mail addresses and phone numbers are looser than what is accepted.
  if (pattern?.startsWith('^')) return 'phone';
  return pattern?.includes('@') ? 'email' : 'text';
}

/** Phone numbers without invisible characters at the ends, which are trimmed. */
const PHONE =
  /^(?:[\u202f\u2011\uff08\u200b +.()/#;,xX-]{0,2}[0-9\u0660-\u0669\uff10-\uff19]){3,12}(?: ext\. [0-9]{1,3})?$/;

/** Whether a field refers to a lead, which must exist. */
export function isLeadReference({ name }: Field): boolean {
  return name === 'lead_id' || name === 'contact_id';
}

/** Valid values of a field. */
export function validValues(field: Field, lead: string): Arbitrary<SentValue> {
  const { schema, presence } = field;
  const { minLength = 1, maxLength = 0, minimum, maximum } = schema;
  if (isLeadReference(field)) return uuids(fc.constant(lead));
  switch (kindOf(schema)) {
    case 'words':
      return trimmed(fc.constantFrom(...(schema.enum as string[])));
    case 'uuid':
      return uuids(fc.stringMatching(HEX_UUID));
    case 'date-time':
      return dateTimes();
    case 'email':
      return trimmed(fc.emailAddress().filter((address) => address.length <= maxLength));
    case 'phone': {
      const fits = (text: string) => text.length >= minLength && text.length <= maxLength;
      return trimmed(fc.stringMatching(PHONE).filter((text) => fits(trimText(text))));
    }
    case 'text':
      return trimmed(texts(maxLength)).filter(
        ({ stored }) => !presence.required || stored !== null,
      );
    case 'integer':
      return fc.integer({ min: minimum, max: maximum }).map((stored) => ({ sent: stored, stored }));
    case 'boolean':
      return fc.boolean().map((stored) => ({ sent: stored, stored }));
    case 'array':
      return isOfIntegers(schema) ? integerLists(schema) : lists(schema);
    case 'object':
      return jsonObjects(schema).map((stored) => ({ sent: stored, stored }));
  }
}

/** Invalid strings for a field that are not blank. */
export function invalidTexts({ schema }: Field): Arbitrary<string> {
  const { maxLength = 0, enum: words = [] } = schema;
  const others = texts(200).filter((text) => !isBlank(text));
  switch (kindOf(schema)) {
    case 'words':
      return others.filter((text) => !words.includes(trimText(text)));
    case 'uuid':
      return fc.oneof(
        others.filter((text) => !HEX_UUID.test(trimText(text))),
        fc.uuid().map((id) => id.replaceAll('-', '')),
        fc.uuid().map((id) => `{${id}}`),
      );
    case 'date-time':
      return invalidDateTimes();
    case 'email':
      return fc.oneof(
        others.filter((text) => !text.includes('@')),
        tooLong(maxLength),
        fc.emailAddress().map((address) => `${address}@`),
      );
    case 'phone':
      return fc.oneof(
        fc.stringMatching(/^[0-9]{0,2}[ ()+]*q[ ()+]*[0-9]{3}$/),
        fc.stringMatching(/^[0-9 ]*[0-9]{51}$/),
        fc.stringMatching(/^[0-9][ ()+]{0,10}[0-9]$/),
      );
    case 'text':
      return tooLong(maxLength);
    case 'integer':
      return fc.constantFrom(
        '0',
        '-1',
        '1.5',
        '1e2',
        '0x10',
        '+5',
        ' 5',
        '007',
        '1'.repeat(30),
        'a',
      );
    default:
      return others;
  }
}

/** Invalid values of a field, except null. */
export function invalidValues(field: Field): Arbitrary<unknown> {
  const { schema } = field;
  const kind = kindOf(schema);
  const foreign = jsonValues().filter((value) => value !== null && !isOf(kind, value));
  const own: Arbitrary<unknown>[] = [foreign, hugeNumbers(), unstorable(), invalidTexts(field)];
  if (kind === 'array') {
    own.push(isOfIntegers(schema) ? invalidIntegerLists(schema) : invalidLists(schema));
  }
  if (kind === 'object') own.push(invalidJsonObjects(schema));
  return fc.oneof(...own);
}

/** Whether a value has the JSON type of a kind of field, so that it can be valid. */
function isOf(kind: Kind, value: unknown): boolean {
  if (kind === 'array') return Array.isArray(value);
  if (kind === 'object') return typeof value === 'object' && !Array.isArray(value);
  if (kind === 'boolean') return typeof value === 'boolean';
  if (kind === 'integer') return typeof value === 'number' || typeof value === 'string';
  return typeof value === 'string';
}

/** Strings that are trimmed. The value of an optional field can be blank. */
function trimmed(inner: Arbitrary<string>): Arbitrary<SentValue> {
  return padded(inner).map((sent) => ({ sent, stored: trimText(sent) || null }));
}

function uuids(inner: Arbitrary<string>): Arbitrary<SentValue> {
  return fc.tuple(padded(inner), fc.boolean()).map(([text, isUpper]) => {
    const sent = isUpper ? text.toUpperCase() : text;
    return { sent, stored: trimText(sent).toLowerCase() };
  });
}

/** Lists that are sent with duplicates and stored without them. */
function lists({ maxItems = 0, items = {} }: JsonSchema): Arbitrary<SentValue> {
  const { maxLength = 0 } = items;
  const item = padded(texts(maxLength)).filter((text) => !isBlank(text));
  const numbered = Array.from({ length: maxItems }, (_, i) => `item ${i}`);
  return fc
    .oneof(
      { weight: 8, arbitrary: fc.array(item, { maxLength: maxItems }) },
      { weight: 4, arbitrary: fc.array(item, { maxLength: 10 }).map((all) => [...all, ...all]) },
      { weight: 1, arbitrary: fc.constant(numbered) },
    )
    .map((sent) => ({ sent, stored: [...new Set(sent.map((text) => trimText(text)))] }));
}

function isOfIntegers({ items }: JsonSchema): boolean {
  return items?.type === 'integer';
}

const integers = ({ items: { minimum, maximum } = {} }: JsonSchema) =>
  fc.integer({ min: minimum, max: maximum });

/** Lists of integers that are sent with duplicates and stored without them. */
function integerLists(schema: JsonSchema): Arbitrary<SentValue> {
  return fc
    .array(integers(schema), { maxLength: schema.maxItems })
    .map((sent) => ({ sent, stored: [...new Set(sent)] }));
}

function invalidIntegerLists(schema: JsonSchema): Arbitrary<unknown[]> {
  const { maxItems = 0, items: { minimum = 0, maximum = 0 } = {} } = schema;
  const bad = fc.oneof(
    fc.constantFrom<unknown>(minimum - 1, maximum + 1, minimum + 0.5, String(minimum), null),
    jsonValues().filter((value) => typeof value !== 'number'),
  );
  return fc.oneof(
    fc
      .tuple(fc.array(integers(schema), { maxLength: 3 }), bad)
      .map(([good, one]) => [...good, one]),
    fc.constant(Array<number>(maxItems + 1).fill(minimum)),
  );
}

function invalidLists({ maxItems = 0, items = {} }: JsonSchema): Arbitrary<unknown[]> {
  const { maxLength = 0 } = items;
  const bad = fc.oneof(
    fc.constantFrom('', ' ', '\u00a0\n'),
    tooLong(maxLength),
    unstorable(),
    jsonValues().filter((value) => typeof value !== 'string'),
  );
  return fc.oneof(
    fc
      .tuple(fc.array(texts(maxLength), { maxLength: 5 }), bad)
      .map(([good, one]) => [...good, one]),
    fc.constant(Array<string>(maxItems + 1).fill('same')),
  );
}
