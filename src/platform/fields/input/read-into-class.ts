import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validate, type ValidationError } from 'class-validator';
import { logger } from '../../config/logger.js';
import { type FieldProblem, fieldLabel } from '../../errors/field-problem.js';
import { rulesOf } from '../validation/rule-metadata.js';
import { isUpdate, namesOf } from '../field.js';
import {
  BODY,
  givenValues,
  type Input,
  mergeProblems,
  type ProblemWording,
  readerOf,
  type ReadOptions,
  setDefaults,
  setNormalized,
  unknownMessage,
  withPaths,
} from './read-input.js';

/** As `ValidationPipe` with `whitelist`, `forbidNonWhitelisted` and `transform`. */
const OPTIONS = { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false };

type Values = Readonly<Record<string, unknown>>;

/** The names of all properties of a DTO that have a field or a rule of class-validator. */
export function propertiesOf(dto: Type<object>): string[] {
  return [...new Set([...namesOf(dto), ...rulesOf(dto).map(({ propertyName }) => propertyName)])];
}

/** Whether a DTO declares properties, so that an input can be checked against it. */
export function isReadable(dto: Type<object>): boolean {
  return isUpdate(dto) || propertiesOf(dto).length > 0;
}

/** Whether a DTO has properties that are not fields, so that `readIntoClass` must read it. */
export function hasPlainProperties(dto: Type<object>): boolean {
  return propertiesOf(dto).length > namesOf(dto).length;
}

/**
 * Checks that all properties of a DTO are fields, from which schemas are derived.
 * @param subject the declaration that has the DTO, such as `The tool send_message`
 * @throws Error that names the other properties
 */
export function assertOnlyFields(subject: string, dto: Type<object>): void {
  const fields = new Set(namesOf(dto));
  const others = propertiesOf(dto).filter((name) => !fields.has(name));
  if (others.length === 0) return;
  throw new Error(
    `${subject} takes ${dto.name}, whose properties ${others.join(', ')} have no schema. Declare them with fields such as @Text().`,
  );
}

/**
 * Reads a plain object into a DTO whose properties have rules of class-validator and class-transformer,
 * as Nest's `ValidationPipe` does. Properties that are fields are read as by `readInput`. Use `value`
 * only if there are no problems.
 * @param unread problems of properties that could not be read; they replace other problems of these
 */
export async function readIntoClass<T extends object>(
  dto: Type<T>,
  plain: Values,
  unread: readonly FieldProblem[] = [],
  { encoding = 'json', wording = BODY, ignoresEmpty = false }: ReadOptions = {},
): Promise<Input<T>> {
  const reader = readerOf(dto);
  const { values, empty } = givenValues(plain, reader, ignoresEmpty);
  const unreadable = [...unread, ...empty];
  const others = Object.entries(values).filter(([name]) => !reader.fields.has(name));
  const reserved = reservedNames(Object.fromEntries(others), wording);
  if (reserved.length > 0) return { value: new dto(), problems: [...unreadable, ...reserved] };
  const value = instanceOf(dto, Object.fromEntries(others));
  if (!value) {
    const problem = { field: wording.whole, message: 'has a value of a wrong type' };
    return { value: new dto(), problems: [...unreadable, problem] };
  }
  setNormalized(value, values, reader, encoding);
  const errors = await validate(value, OPTIONS);
  const found = withPaths(describeErrors(errors, dto, wording), value, reader);
  const problems = mergeProblems(unreadable, found);
  if (problems.length === 0) setDefaults(value, reader);
  return { value, problems };
}

/** @returns undefined if class-transformer or a `@Transform()` fails on a value */
function instanceOf<T extends object>(dto: Type<T>, plain: Values): T | undefined {
  try {
    return plainToInstance(dto, plain);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
    logger.warn({ err: error, dto: dto.name }, 'an input could not be transformed');
    return undefined;
  }
}

/** The keys that class-transformer drops or mistakes for a method, at any depth. */
function reservedNames(value: unknown, wording: ProblemWording, path = ''): FieldProblem[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const field = `${path}${name}`;
    if (!Array.isArray(value) && name in Object.prototype) {
      return [{ field: fieldLabel(field, wording.whole), message: wording.unknown }];
    }
    return reservedNames(inner, wording, `${field}.`);
  });
}

/** One problem for each property that breaks rules; the path of a nested one is joined by dots. */
function describeErrors(
  errors: readonly ValidationError[],
  dto: Type<object>,
  wording: ProblemWording,
): FieldProblem[] {
  const { fields, fixed } = readerOf(dto);
  const messageOfUnknown = unknownMessage(propertiesOf(dto), wording, fixed);
  const describe = (error: ValidationError, path: string): FieldProblem[] => {
    const { property, constraints = {}, children = [] } = error;
    const field = `${path}${property}`;
    const messages = Object.entries(constraints).map(([rule, message]) => {
      if (rule !== 'whitelistValidation') return withoutName(message, property);
      return path === '' ? messageOfUnknown(property) : wording.unknown;
    });
    // Of a field, the first broken rule is reported.
    const reported = fields.has(field) ? messages.slice(0, 1) : [...new Set(messages)];
    const label = fieldLabel(field, wording.whole);
    return [
      ...(reported.length > 0 ? [{ field: label, message: reported.join(' and ') }] : []),
      ...children.flatMap((child) => describe(child, `${field}.`)),
    ];
  };
  return errors.flatMap((error) => describe(error, ''));
}

/** The subject of a message of class-validator, before its predicate. */
const SUBJECT = /^(each value in )?(nested property )?(\S+) /;

/**
 * Removes the name of the property from a message: `each value in tags must be a string` becomes
 * `each value must be a string`.
 */
function withoutName(message: string, property: string): string {
  const [subject = '', each, nested, name] = SUBJECT.exec(message) ?? [];
  // The problem of an item of a nested array has the name of the array.
  if (nested === undefined && name !== property) return message;
  const predicate = message.slice(subject.length).replace(/\.$/, '');
  return each === undefined || nested !== undefined ? predicate : `each value ${predicate}`;
}
