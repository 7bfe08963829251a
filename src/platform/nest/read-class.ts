import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validate, type ValidationError } from 'class-validator';
import { logger } from '../config/logger.js';
import { type FieldProblem, fieldLabel } from '../errors/field-problem.js';
import { namesOf } from '../fields/field.js';
import {
  beginReading,
  BODY,
  finishReading,
  type Input,
  type ProblemWording,
  readerOf,
  readInput,
  type ReadOptions,
  unknownMessage,
} from '../fields/input/read-input.js';
import { hasPlainProperties, propertiesOf } from '../fields/validation/properties.js';
import { withParts } from '../fields/validation/validator.js';

/** As `ValidationPipe` with `whitelist`, `forbidNonWhitelisted` and `transform`. */
const OPTIONS = { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false };

type Values = Readonly<Record<string, unknown>>;

/**
 * Reads a plain object into a class whose properties have rules of class-validator and class-transformer, as Nest's
 * `ValidationPipe` does. Properties that are fields are read as by `readInput`. Use `value` only if there are no problems.
 * @param unread problems of properties that could not be read; they replace other problems of these
 */
export async function readClass<T extends object>(
  dto: Type<T>,
  plain: Values,
  unread: readonly FieldProblem[] = [],
  options: ReadOptions = {},
): Promise<Input<T>> {
  if (!hasPlainProperties(dto)) return readInput(dto, plain, unread, options);
  const { wording = BODY } = options;
  const fields = new Set(namesOf(dto));
  const others = Object.fromEntries(Object.entries(plain).filter(([name]) => !fields.has(name)));
  const reserved = reservedNames(others, wording);
  const value = reserved.length > 0 ? undefined : instanceOf(dto, others);
  const begun = beginReading(dto, value ?? new dto(), plain, unread, options);
  if (!value) {
    const wrongType = { field: wording.whole, message: 'has a value of a wrong type' };
    return finishReading(begun, reserved.length > 0 ? reserved : [wrongType]);
  }
  const problems = describeErrors(await validate(value, OPTIONS), dto, wording);
  return finishReading(begun, withParts(problems, value, begun.reader.fields));
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
