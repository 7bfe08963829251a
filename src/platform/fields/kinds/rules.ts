import type { Rule } from '../validation/rule.js';
import { dateTimeProblem } from './date-time.js';
import { codePointLength, isWellFormedText, NOT_WELL_FORMED } from './text.js';

/** @param problemOf returns the message for a value that breaks the rule in its object */
export function problemRule(name: string, problemOf: Rule['problemOf']): Rule {
  return { name, problemOf };
}

/** A rule that checks one value. */
export function rule(name: string, isValid: (value: unknown) => boolean, message: string): Rule {
  return problemRule(name, (value) => (isValid(value) ? undefined : message));
}

/** A rule of a string. @param problemOf returns the message for an invalid string */
export function textRule(name: string, problemOf: (text: string) => string | undefined): Rule {
  return problemRule(name, (value) => problemOf(typeof value === 'string' ? value : ''));
}

export const IS_TEXT = rule('isString', (value) => typeof value === 'string', 'must be a string');

/** A rule that a string matches a pattern. */
export function matches(pattern: RegExp, message: string): Rule {
  return textRule('matches', (text) => (pattern.test(text) ? undefined : message));
}

/** Rules of a string of `min` to `max` code points that can be stored. */
export function textRules(min: number, max: number): Rule[] {
  return [
    IS_TEXT,
    rule('isNotEmpty', (value) => value !== '', 'must not be empty'),
    rule(
      'isWellFormed',
      (value) => typeof value === 'string' && isWellFormedText(value),
      NOT_WELL_FORMED,
    ),
    rule('hasLength', hasLength(min, max), lengthMessage(min, max)),
  ];
}

/** Rules of an array of at most `maxItems` strings with 1 to `maxLength` characters. */
export function textListRules(maxItems: number, maxLength: number): Rule[] {
  const isShortList = (value: unknown) => Array.isArray(value) && value.length <= maxItems;
  const isItem = (item: unknown) =>
    hasLength(1, maxLength)(item) && isWellFormedText(item as string);
  const areItems = (value: unknown) => Array.isArray(value) && value.every(isItem);
  return [
    rule('isArray', Array.isArray, 'must be an array of strings'),
    rule('isShortList', isShortList, `must have at most ${maxItems} items`),
    rule('areTexts', areItems, `must be strings of 1 to ${maxLength} characters each`),
  ];
}

/** A rule that a time is after another one of the same input, if both are given. */
export function isAfter(field: string): Rule {
  return problemRule('isAfter', (value, { [field]: start }) => {
    const isEarlier = start instanceof Date && value instanceof Date && value <= start;
    return isEarlier ? mustBeAfter(field) : undefined;
  });
}

/** A rule that the value was parsed as a time. */
export function isDateTime(): Rule {
  return problemRule('isDateTime', (value) =>
    value instanceof Date ? undefined : dateTimeProblem(value),
  );
}

/** The message for a time that is not after another one. */
export function mustBeAfter(field: string): string {
  return `must be after ${field}`;
}

/** The message for a time that is not before another one. */
export function mustBeBefore(field: string): string {
  return `must be before ${field}`;
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
