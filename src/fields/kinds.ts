import {
  IsArray,
  IsBoolean,
  IsEmail,
  IsIn,
  IsInt,
  IsObject,
  IsString,
  Matches,
  Max,
  Min,
  ValidateBy,
} from 'class-validator';
import { parseDateTime } from './date-time.js';
import { declareField, type Presence } from './field.js';
import { jsonObjectProblem } from './json-object.js';
import { codePointLength, isWellFormedText } from './text.js';
import { UUID } from './uuid.js';

const TEXT = IsString({ message: 'must be a string' });

/** Plain text of `min` to `max` characters, counted in code points. */
export function Text({
  min = 1,
  max,
  ...presence
}: Presence<string> & { min?: number; max: number }) {
  return declareField(presence, textRules(min, max), presence.required ? trim : trimToNull);
}

/** One of a few words. */
export function OneOf<T extends string>(values: readonly T[], presence: Presence<T> = {}) {
  const message = `must be one of ${values.join(', ')}`;
  return declareField(presence, [IsIn(values, { message })], trimToNull);
}

/** A phone number: returned as given, compared by a form of its own. */
export function Phone(presence: Presence<string> = {}) {
  const message = 'must consist of digits, spaces and +-.()/x#, with at least 3 digits';
  const rules = [...textRules(3, 50), Matches(/^(?=(?:\D*\d){3})[\d +\-.()/x#]*$/, { message })];
  return declareField(presence, rules, trimToNull);
}

/** An e-mail address of at most 254 characters. */
export function Email(presence: Presence<string> = {}) {
  const rules = [...textRules(3, 254), IsEmail({}, { message: 'must be a valid e-mail address' })];
  return declareField(presence, rules, trimToNull);
}

/** A UUID in any case; stored in lower case. */
export function Uuid(presence: Presence<string> = {}) {
  const toLowerCase = (value: unknown) => {
    const text = trimToNull(value);
    return typeof text === 'string' ? text.toLowerCase() : text;
  };
  return declareField(presence, [TEXT, Matches(UUID, { message: 'must be a UUID' })], toLowerCase);
}

/** A boolean. */
export function Flag(presence: Presence<boolean> = {}) {
  return declareField(presence, [IsBoolean({ message: 'must be true or false' })]);
}

/** A whole number; in a query string, its decimal digits. */
export function Integer({
  min,
  max,
  ...presence
}: Presence<number> & { min: number; max: number }) {
  const message = `must be an integer from ${min} to ${max}`;
  return declareField(
    presence,
    [IsInt({ message }), Min(min, { message }), Max(max, { message })],
    (value) => (typeof value === 'string' && /^(0|[1-9]\d*)$/.test(value) ? Number(value) : value),
  );
}

/**
 * An ISO 8601 date or date-time of the years 0001 to 9999; without an offset it is UTC.
 * @param rounding what becomes of a fraction of a millisecond
 * @param after field of the same input that this one must be later than, where both are given
 */
export function DateTime({
  rounding = 'down',
  after,
  ...presence
}: Presence<Date> & { rounding?: 'down' | 'up'; after?: string } = {}) {
  const message = 'must be an ISO 8601 date-time such as 2026-01-31T09:30:00Z';
  const rules = [rule('isDateTime', (value) => value instanceof Date, message)];
  if (after !== undefined) rules.push(isAfter(after));
  return declareField(presence, rules, (value) => {
    const text = trimToNull(value);
    return typeof text === 'string' ? (parseDateTime(text, rounding) ?? text) : text;
  });
}

function isAfter(field: string): PropertyDecorator {
  return ValidateBy({
    name: 'isAfter',
    validator: {
      validate: (value, args) => {
        const start = (args?.object as Record<string, unknown> | undefined)?.[field];
        return !(start instanceof Date && value instanceof Date) || value > start;
      },
      defaultMessage: () => mustBeAfter(field),
    },
  });
}

/** What is wrong with a time that does not come after another. */
export function mustBeAfter(field: string): string {
  return `must be after ${field}`;
}

const MOST_TAGS = 50;
const LONGEST_TAG = 50;
const NO_TAGS: readonly string[] = Object.freeze([]);
const EMPTY_OBJECT: object = Object.freeze({});

/** A list of short texts without repetitions. */
export function Tags() {
  const rules = [
    IsArray({ message: 'must be an array of strings' }),
    rule('isShortList', isArrayOfAtMost(MOST_TAGS), `must have at most ${MOST_TAGS} items`),
    rule('areTags', everyItem(isTag), `must be strings of 1 to ${LONGEST_TAG} characters each`),
  ];
  return declareField({ default: NO_TAGS }, rules, (value) => {
    if (value === null) return NO_TAGS;
    if (!Array.isArray(value) || value.length > MOST_TAGS) return value;
    return [...new Set(value.map(trim))];
  });
}

/** An object of the caller's own keys and JSON values. */
export function JsonObject() {
  const rules = [
    IsObject({ message: 'must be an object' }),
    ValidateBy({
      name: 'isJsonObject',
      validator: {
        validate: (value) => jsonObjectProblem(value) === undefined,
        defaultMessage: (args) => jsonObjectProblem(args?.value) ?? '',
      },
    }),
  ];
  return declareField({ default: EMPTY_OBJECT }, rules, (value) => value ?? EMPTY_OBJECT);
}

function textRules(min: number, max: number): PropertyDecorator[] {
  return [
    TEXT,
    rule('isNotEmpty', (value) => value !== '', 'must not be empty'),
    rule(
      'isWellFormed',
      (value) => typeof value === 'string' && isWellFormedText(value),
      'must not contain NUL or unpaired surrogates',
    ),
    rule('hasLength', hasLength(min, max), lengthMessage(min, max)),
  ];
}

function lengthMessage(min: number, max: number): string {
  return min > 1 ? `must be ${min} to ${max} characters` : `must be at most ${max} characters`;
}

function hasLength(min: number, max: number) {
  return (value: unknown) => {
    if (typeof value !== 'string') return false;
    const length = codePointLength(value);
    return length >= min && length <= max;
  };
}

function isTag(value: unknown): boolean {
  return hasLength(1, LONGEST_TAG)(value) && isWellFormedText(value as string);
}

function everyItem(test: (item: unknown) => boolean) {
  return (value: unknown) => Array.isArray(value) && value.every(test);
}

function isArrayOfAtMost(max: number) {
  return (value: unknown) => Array.isArray(value) && value.length <= max;
}

function rule(name: string, validate: (value: unknown) => boolean, message: string) {
  return ValidateBy({ name, validator: { validate, defaultMessage: () => message } });
}

function trim(value: unknown): unknown {
  return typeof value === 'string' ? value.trim() : value;
}

/** An optional text that is empty means null. */
function trimToNull(value: unknown): unknown {
  const trimmed = trim(value);
  return trimmed === '' ? null : trimmed;
}
