import { DATE_TIME_INPUT_SCHEMA, parseDateTime } from './date-time.js';
import { type Declaration, declareField } from '../field.js';
import {
  isObject,
  JSON_OBJECT_INPUT_SCHEMA,
  JSON_OBJECT_SCHEMA,
  jsonObjectProblem,
} from './json-object.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { emailProblem, phoneProblem } from './email-and-phone.js';
import {
  IS_TEXT,
  isAfter,
  isDateTime,
  matches,
  mustBeAfter,
  problemRule,
  rule,
  textListRules,
  textRule,
  textRules,
} from './rules.js';
import { spaceOrInvisibleProblem, trimInvisible, trimText } from './text.js';
import { UUID, UUID_SCHEMA } from './uuid.js';

/** A character that is not white space: schemas cannot express more of this rule. */
const NOT_BLANK = String.raw`\S`;

/** Plain text of `min` to `max` characters, counted in code points. */
export function Text({
  min = 1,
  max,
  ...declaration
}: Declaration<string> & { min?: number; max: number }) {
  const { required } = declaration;
  return declareField(declaration, {
    schema: { ...textSchema(min, max), ...(required && { pattern: NOT_BLANK }) },
    rules: textRules(min, max),
    normalize: required ? trim : trimToNull,
  });
}

/** A value of an enumeration. */
export function OneOf<T extends string>(values: readonly T[], declaration: Declaration<T> = {}) {
  const message = `must be one of ${values.join(', ')}`;
  return declareField(declaration, {
    schema: { type: 'string', enum: values },
    rules: [rule('isIn', (value) => (values as readonly unknown[]).includes(value), message)],
    normalize: trimToNull,
  });
}

/** At least one of the values of an enumeration. Repeated ones are removed. In a string, commas separate them. */
export function SomeOf<T extends string>(
  values: readonly T[],
  declaration: Omit<Declaration<readonly T[]>, 'default'>,
) {
  const isSome = (value: unknown) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((each) => (values as readonly unknown[]).includes(each));
  const problemOf = (value: unknown) =>
    isSome(value) ? undefined : `must be an array of at least one of ${values.join(', ')}`;
  return declareField(declaration, {
    schema: { type: 'array', minItems: 1, items: { type: 'string', enum: values } },
    rules: [problemRule('isSome', problemOf)],
    fromText: (text) => text.split(','),
    normalize: (value) => (Array.isArray(value) ? [...new Set(value)] : value),
  });
}

/** ASCII characters that no phone number has. JSON Schema cannot express the digits of other scripts portably. */
const PHONE_PATTERN = String.raw`^[^!"$%&*<>?@[\\\]^_{|}~]*$`;

/** A phone number. It is returned as given and compared in a normalized form. */
export function Phone(declaration: Declaration<string> = {}) {
  return declareField(declaration, {
    schema: { ...textSchema(3, 50), pattern: PHONE_PATTERN },
    rules: [...textRules(3, 50), textRule('isPhone', phoneProblem)],
    normalize: trimInvisibleToNull,
    comparedAs: 'phone',
  });
}

/** `format: email` would reject addresses with other characters than ASCII, which are accepted. */
const EMAIL_PATTERN = String.raw`\S@\S`;

/** An e-mail address of at most 254 characters, without spaces and invisible characters. */
export function Email(declaration: Declaration<string> = {}) {
  return declareField(declaration, {
    schema: { ...textSchema(3, 254), pattern: EMAIL_PATTERN },
    rules: [...textRules(3, 254), textRule('isEmail', emailProblem)],
    // `IsEmail` accepts some invisible characters, and stored records can have them.
    newTextProblem: spaceOrInvisibleProblem,
    normalize: trimInvisibleToNull,
    comparedAs: 'email',
  });
}

/** A UUID in any case; stored in lower case. */
export function Uuid(declaration: Declaration<string> = {}) {
  return declareField(declaration, {
    schema: UUID_SCHEMA,
    rules: [IS_TEXT, matches(UUID, 'must be a UUID')],
    normalize: (value) => {
      const text = trimToNull(value);
      return typeof text === 'string' ? text.toLowerCase() : text;
    },
  });
}

/** 1 to `max` UUIDs, each once. In a string, commas separate them. */
export function Uuids({
  max,
  ...declaration
}: Omit<Declaration<readonly string[]>, 'default'> & { max: number }) {
  const areUuids = (value: unknown) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= max &&
    value.every((each) => typeof each === 'string' && UUID.test(each));
  return declareField(declaration, {
    schema: { type: 'array', minItems: 1, maxItems: max, items: UUID_SCHEMA },
    rules: [rule('areUuids', areUuids, `must be an array of 1 to ${max} UUIDs`)],
    fromText: (text) => text.split(','),
    normalize: (value) => {
      if (!Array.isArray(value)) return value;
      const ids: unknown[] = value.map(trim);
      return [...new Set(ids.map((id) => (typeof id === 'string' ? id.toLowerCase() : id)))];
    },
  });
}

/** A boolean. In a string it is `true` or `false`. */
export function Flag(declaration: Declaration<boolean> = {}) {
  return declareField(declaration, {
    schema: { type: 'boolean' },
    rules: [rule('isBoolean', (value) => typeof value === 'boolean', 'must be true or false')],
    fromText: (text) => (['true', 'false'].includes(text) ? text === 'true' : text),
  });
}

/** An integer. In a string it consists of decimal digits, after a minus sign if it is negative. */
export function Integer({
  min,
  max,
  ...declaration
}: Declaration<number> & { min: number; max: number }) {
  const message = `must be an integer from ${min} to ${max}`;
  const isWithin = (value: unknown) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
  return declareField(declaration, {
    schema: { type: 'integer', minimum: min, maximum: max },
    rules: [rule('isInt', isWithin, message)],
    fromText: (text) => (/^(0|-?[1-9]\d*)$/.test(text) ? Number(text) : text),
  });
}

/** At most `maxItems` integers. Repeated ones are removed. */
export function Integers({
  min,
  max,
  maxItems,
  ...declaration
}: Declaration<readonly number[]> & { min: number; max: number; maxItems: number }) {
  const isWithin = (value: unknown) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
  const isList = (value: unknown) =>
    Array.isArray(value) && value.length <= maxItems && value.every(isWithin);
  const message = `must be an array of at most ${maxItems} integers from ${min} to ${max}`;
  return declareField(declaration, {
    schema: { type: 'array', maxItems, items: { type: 'integer', minimum: min, maximum: max } },
    rules: [rule('areIntegers', isList, message)],
    normalize: (value) => (Array.isArray(value) ? [...new Set(value)] : value),
  });
}

/**
 * An ISO 8601 date or date-time of the years 0001 to 9999. Without an offset it is UTC.
 * @param rounding how fractions of a millisecond are rounded
 * @param after field of the same input that must be earlier, if both are given
 */
export function DateTime({
  rounding = 'down',
  after,
  ...declaration
}: Declaration<Date, string> & { rounding?: 'down' | 'up'; after?: string } = {}) {
  const order = after === undefined ? undefined : `It ${mustBeAfter(after)}.`;
  const { description: form } = DATE_TIME_INPUT_SCHEMA;
  const inputDescription = order === undefined ? form : `${order} ${form}`;
  return declareField(declaration, {
    schema: { type: 'string', format: 'date-time', ...(order && { description: order }) },
    inputSchema: { ...DATE_TIME_INPUT_SCHEMA, description: inputDescription },
    rules: after === undefined ? [isDateTime()] : [isDateTime(), isAfter(after)],
    parse: (json) => (typeof json === 'string' ? new Date(json) : json),
    normalize: (value) => {
      const text = trimToNull(value);
      return typeof text === 'string' ? (parseDateTime(text, rounding) ?? text) : text;
    },
  });
}

/** The maximum number of tags of a record. */
export const MAX_TAGS = 50;
const MAX_TAG_LENGTH = 50;
const NO_TAGS: readonly string[] = Object.freeze([]);
const EMPTY_OBJECT: object = Object.freeze({});

/** A list of distinct short strings, by default empty. */
export function Tags(declaration: Omit<Declaration<readonly string[]>, 'default'> = {}) {
  return OptionalTags({ ...declaration, default: NO_TAGS });
}

/** Like `Tags`, without a default. In a query, the parameter can be given several times. */
export function OptionalTags(declaration: Declaration<readonly string[]>) {
  const items = { ...textSchema(1, MAX_TAG_LENGTH), pattern: NOT_BLANK };
  return declareField(declaration, {
    schema: { type: 'array', maxItems: MAX_TAGS, items },
    rules: textListRules(MAX_TAGS, MAX_TAG_LENGTH),
    fromText: (text) => [text],
    normalize: (value) => {
      if (!Array.isArray(value) || value.length > MAX_TAGS) return value;
      return [...new Set(value.map(trim))];
    },
  });
}

/** An object with arbitrary keys and JSON values. */
export function JsonObject(declaration: Omit<Declaration<object>, 'default'> = {}) {
  const withDefault = { ...declaration, default: EMPTY_OBJECT };
  return declareField(withDefault, {
    schema: JSON_OBJECT_SCHEMA,
    inputSchema: JSON_OBJECT_INPUT_SCHEMA,
    rules: [
      rule('isObject', isObject, 'must be an object'),
      problemRule('isJsonObject', jsonObjectProblem),
    ],
  });
}

function textSchema(minLength: number, maxLength: number): JsonSchema {
  return { type: 'string', minLength, maxLength };
}

function trim(value: unknown): unknown {
  return typeof value === 'string' ? trimText(value) : value;
}

/** An empty optional string becomes null. */
function trimToNull(value: unknown): unknown {
  const trimmed = trim(value);
  return trimmed === '' ? null : trimmed;
}

function trimInvisibleToNull(value: unknown): unknown {
  return trimToNull(typeof value === 'string' ? trimInvisible(value) : value);
}
