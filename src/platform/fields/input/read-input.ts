import type { Type } from '@nestjs/common';
import { type FieldProblem, fieldLabel } from '../../errors/field-problem.js';
import { type Field, fieldsOf, fixedFieldsOf, isUpdate } from '../field.js';
import { trimText } from '../kinds/text.js';
import { compileValidator, type Validator } from '../validation/validator.js';

type Values = Readonly<Record<string, unknown>>;

/** The result of reading an input: its DTO and its problems. */
export interface Input<T> {
  readonly value: T;
  readonly problems: readonly FieldProblem[];
}

/** The encoding of values: JSON, or strings as in queries and arguments of prompts. */
export type Encoding = 'json' | 'text';

/** What inputs of a DTO are read by. */
export interface Reader {
  /** The fields by name. The last of several declarations wins. */
  readonly fields: ReadonlyMap<string, Field>;
  readonly fixed: readonly string[];
  readonly isUpdate: boolean;
  readonly validate: Validator;
}

/** The wording of problems. */
export interface ProblemWording {
  /** The name of the whole input, for problems without a field. */
  readonly whole: string;
  /** The message for an unknown name. */
  readonly unknown: string;
  /** The list of the known names as one string. */
  readonly known: (names: readonly string[]) => string;
}

/** Encoding and wording of an input. By default it is a JSON body. */
export interface ReadOptions {
  readonly encoding?: Encoding;
  readonly wording?: ProblemWording;
  /**
   * Whether empty texts are ignored, as in the filters of a list: forms and clients send all their filters. A field that
   * is required or has a default must not be empty.
   */
  readonly ignoresEmpty?: boolean;
}

export const BODY: ProblemWording = {
  whole: 'body',
  unknown: 'is unknown or cannot be set',
  known: (names) =>
    names.length > 0 ? `the fields are ${names.join(', ')}` : 'there are none here',
};

/** The wording of problems of query parameters. */
export const QUERY: ProblemWording = {
  whole: 'query',
  unknown: 'is unknown',
  known: (names) =>
    names.length > 0 ? `the parameters are ${names.join(', ')}` : 'there are none here',
};

/** How the parameters of a query are read. */
export const QUERY_PARAMETERS = { encoding: 'text', wording: QUERY, ignoresEmpty: true } as const;

const NO_PROBLEMS: readonly FieldProblem[] = [];

const READERS = new WeakMap<Type<object>, Reader>();

/**
 * Reads a plain object into a DTO: rejects unknown fields, normalizes and validates values, and sets
 * defaults. Use `value` only if there are no problems.
 * @param unread problems of fields that could not be read; they replace other problems of these fields
 */
export function readInput<T extends object>(
  dto: Type<T>,
  plain: object,
  unread: readonly FieldProblem[] = [],
  { encoding = 'json', wording = BODY, ignoresEmpty = false }: ReadOptions = {},
): Input<T> {
  const reader = readerOf(dto);
  const { values, empty } = givenValues(plain, reader, ignoresEmpty);
  const value = new dto();
  setNormalized(value, values, reader, encoding);
  const found = [
    ...unknownNames(values, reader.fields, wording, reader.fixed),
    ...withPaths(reader.validate(value), value, reader),
  ];
  const problems = mergeProblems([...unread, ...empty], found);
  if (problems.length === 0) setDefaults(value, reader);
  return { value, problems };
}

/** Created at the first input, after all decorators of the class have run. */
export function readerOf(dto: Type<object>): Reader {
  let reader = READERS.get(dto);
  if (!reader) {
    reader = {
      fields: new Map(fieldsOf(dto).map((field) => [field.name, field])),
      fixed: fixedFieldsOf(dto),
      isUpdate: isUpdate(dto),
      validate: compileValidator(dto),
    };
    READERS.set(dto, reader);
  }
  return reader;
}

/**
 * Leaves out the empty texts of fields if they are ignored.
 * @returns the other values, and a problem for each field that must not be empty
 */
export function givenValues(plain: object, { fields }: Reader, ignoresEmpty: boolean) {
  const values = plain as Values;
  const isEmpty = ({ name, takesEmpty }: Field) => {
    const value = values[name];
    return !takesEmpty && typeof value === 'string' && trimText(value) === '';
  };
  const ignored = ignoresEmpty ? [...fields.values()].filter(isEmpty) : [];
  if (ignored.length === 0) return { values, empty: NO_PROBLEMS };
  const names = new Set(ignored.map(({ name }) => name));
  const others = Object.entries(values).filter(([name]) => !names.has(name));
  const empty = ignored
    .filter(({ presence }) => presence.required === true || presence.default !== undefined)
    .map(({ name }) => ({ field: name, message: 'must not be empty' }));
  return { values: Object.fromEntries(others), empty };
}

/** Replaces the problem of each field that consists of others by those of its parts. */
export function withPaths(
  problems: readonly FieldProblem[],
  value: object,
  { fields }: Reader,
): FieldProblem[] {
  return problems.flatMap((problem) => {
    const { field: name } = problem;
    const nested = fields.get(name)?.nested;
    const given = (value as Values)[name];
    const parts = given === undefined || given === null ? [] : nested?.(given, name);
    return parts && parts.length > 0 ? parts : [problem];
  });
}

/** Sets the normalized values of the fields on an object, and ignores everything else. */
export function setNormalized(
  value: object,
  plain: object,
  { fields }: Reader,
  encoding: Encoding,
): void {
  const raw = plain as Values;
  const target = value as Record<string, unknown>;
  for (const [name, { normalize, fromText }] of fields) {
    if (!Object.hasOwn(plain, name)) continue;
    const given = raw[name];
    target[name] = normalize(
      encoding === 'text' && typeof given === 'string' ? fromText(given) : given,
    );
  }
}

/** Returns a problem for each name that is not known. */
export function unknownNames(
  values: object,
  known: Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'>,
  wording: ProblemWording,
  fixed?: readonly string[],
): FieldProblem[] {
  const unknown = Object.keys(values).filter((name) => !known.has(name));
  if (unknown.length === 0) return [];
  const message = unknownMessage([...known.keys()], wording, fixed);
  return unknown.map((name) => ({
    field: fieldLabel(name, wording.whole),
    message: message(name),
  }));
}

/**
 * Returns a function that words the problems of unknown names. The first one states the known names.
 * @param fixed the fields that an update may not change
 */
export function unknownMessage(
  known: readonly string[],
  wording: ProblemWording,
  fixed: readonly string[] = [],
): (name: string) => string {
  let isFirst = true;
  return (name) => {
    if (fixed.includes(name)) return 'cannot be changed';
    const { unknown } = wording;
    const message = isFirst ? `${unknown}; ${wording.known(known)}` : unknown;
    isFirst = false;
    return message;
  };
}

/** Adds the found problems of fields that could be read. */
export function mergeProblems(
  unread: readonly FieldProblem[],
  found: FieldProblem[],
): FieldProblem[] {
  if (unread.length === 0) return found;
  const named = new Set(unread.map(({ field }) => field));
  return [...unread, ...found.filter(({ field }) => !named.has(field))];
}

/** Sets the defaults of a create. Null means omitted. An update has no defaults. */
export function setDefaults(value: object, { fields, isUpdate: hasNoDefaults }: Reader): void {
  if (hasNoDefaults) return;
  const target = value as Record<string, unknown>;
  for (const { name, presence, isChange } of fields.values()) {
    if (isChange === true || (target[name] !== undefined && target[name] !== null)) continue;
    if (presence.default !== undefined) target[name] = presence.default;
    // `deleteProperty` is slow even if the property is missing.
    else if (Object.hasOwn(target, name)) Reflect.deleteProperty(target, name);
  }
}
