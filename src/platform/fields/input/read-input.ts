import type { Type } from '@nestjs/common';
import { type FieldProblem, fieldLabel } from '../../errors/field-problem.js';
import { type Field, fieldsOf, fixedFieldsOf, isUpdate } from '../field.js';
import { trimText } from '../kinds/text.js';
import { type Validator, validatorOf } from '../validation/validator.js';

type Values = Readonly<Record<string, unknown>>;

/** The result of reading an input: its DTO and its problems. */
export interface Input<T> {
  readonly value: T;
  readonly problems: readonly FieldProblem[];
}

/** The encoding of values: JSON, or strings as in queries and arguments of prompts. */
export type Encoding = 'json' | 'text';

/** The rules by which inputs of a DTO are read, made once for each class. */
export interface Reader {
  /** The fields by name. The last of several declarations wins. */
  readonly fields: ReadonlyMap<string, Field>;
  /** Fields that an update may not change. */
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
  /** Lists the known names in a sentence. */
  readonly listKnown: (names: readonly string[]) => string;
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

/** The wording of problems of a JSON body. */
export const BODY: ProblemWording = {
  whole: 'body',
  unknown: 'is unknown or cannot be set',
  listKnown: (names) =>
    names.length > 0 ? `the fields are ${names.join(', ')}` : 'there are none here',
};

/** The wording of problems of query parameters. */
export const QUERY: ProblemWording = {
  whole: 'query',
  unknown: 'is unknown',
  listKnown: (names) =>
    names.length > 0 ? `the parameters are ${names.join(', ')}` : 'there are none here',
};

/** How the parameters of a query are read. */
export const QUERY_PARAMETERS = { encoding: 'text', wording: QUERY, ignoresEmpty: true } as const;

const READERS = new WeakMap<Type<object>, Reader>();

/**
 * Reads a plain object into a DTO of fields: rejects unknown names, normalizes and validates values, and sets defaults.
 * Use `value` only if there are no problems.
 * @param unread problems of fields that could not be read; they replace other problems of these fields
 */
export function readInput<T extends object>(
  dto: Type<T>,
  plain: object,
  unread: readonly FieldProblem[] = [],
  options: ReadOptions = {},
): Input<T> {
  const begun = beginReading(dto, new dto(), plain, unread, options);
  const { reader, value, values } = begun;
  const { wording = BODY } = options;
  const unknown = unknownNames(values, reader.fields, wording, reader.fixed);
  return finishReading(begun, [...unknown, ...reader.validate(value)]);
}

/** An input whose values are not validated yet. */
interface BegunInput<T> {
  readonly reader: Reader;
  /** The object with the normalized values of its fields. */
  readonly value: T;
  /** The values that are read. */
  readonly values: Values;
  readonly unread: readonly FieldProblem[];
}

/**
 * Sets the normalized values of the fields on an object, and ignores everything else.
 * @param value an instance of the DTO
 */
export function beginReading<T extends object>(
  dto: Type<T>,
  value: T,
  plain: object,
  unread: readonly FieldProblem[],
  { encoding = 'json', ignoresEmpty = false }: ReadOptions,
): BegunInput<T> {
  const reader = readerOf(dto);
  const { values, empty } = givenValues(plain, reader, ignoresEmpty);
  const target = value as Record<string, unknown>;
  for (const [name, { normalize, fromText }] of reader.fields) {
    if (!Object.hasOwn(values, name)) continue;
    const given = values[name];
    const isText = encoding === 'text' && typeof given === 'string';
    const read = isText && fromText ? fromText(given) : given;
    target[name] = normalize ? normalize(read) : read;
  }
  return { reader, value, values, unread: empty.length > 0 ? [...unread, ...empty] : unread };
}

/** @param found the problems of the object and of unknown names */
export function finishReading<T extends object>(
  { reader, value, unread }: BegunInput<T>,
  found: FieldProblem[],
): Input<T> {
  const problems = mergeProblems(unread, found);
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
      validate: validatorOf(dto),
    };
    READERS.set(dto, reader);
  }
  return reader;
}

const NO_PROBLEMS: readonly FieldProblem[] = [];

/**
 * Leaves out the empty texts of fields if they are ignored.
 * @returns the other values, and a problem for each field that must not be empty
 */
function givenValues(plain: object, { fields }: Reader, ignoresEmpty: boolean) {
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
    const message = isFirst ? `${unknown}; ${wording.listKnown(known)}` : unknown;
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
function setDefaults(value: object, { fields, isUpdate: hasNoDefaults }: Reader): void {
  if (hasNoDefaults) return;
  const target = value as Record<string, unknown>;
  for (const { name, presence, isChange } of fields.values()) {
    // A field of a change keeps null, which clears the stored value.
    if (isChange === true || (target[name] !== undefined && target[name] !== null)) continue;
    if (presence.default !== undefined) target[name] = presence.default;
    // `deleteProperty` is slow even if the property is missing.
    else if (Object.hasOwn(target, name)) Reflect.deleteProperty(target, name);
  }
}
