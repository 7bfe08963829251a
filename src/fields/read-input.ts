import type { Type } from '@nestjs/common';
import { type FieldProblem, fieldLabel } from '../errors/field-problem.js';
import { type Field, fieldsOf, fixedFieldsOf, isUpdate } from './field.js';
import { compileValidator, type Validator } from './validator.js';

/** The result of reading an input: its DTO and its problems. */
export interface Input<T> {
  readonly value: T;
  readonly problems: readonly FieldProblem[];
}

/** The encoding of values: JSON, or text as in query strings and arguments of prompts. */
export type Encoding = 'json' | 'text';

/** Cached metadata of a DTO. */
interface Reader {
  readonly fields: readonly Field[];
  /** The fields by name. The last of several declarations wins. */
  readonly known: ReadonlyMap<string, Field>;
  readonly fixed: ReadonlySet<string>;
  readonly isUpdate: boolean;
  readonly validate: Validator;
}

/** The wording of problems. */
export interface ProblemWording {
  /** The name of the whole input, for problems without a field. */
  readonly whole: string;
  /** The message for an unknown name. */
  readonly unknown: string;
  /** The list of the known names as text. */
  readonly known: (names: readonly string[]) => string;
}

/** Encoding and wording of an input. By default it is a JSON body. */
export interface ReadOptions {
  readonly encoding?: Encoding;
  readonly wording?: ProblemWording;
}

const BODY: ProblemWording = {
  whole: 'body',
  unknown: 'is unknown or cannot be set',
  known: (names) =>
    names.length > 0 ? `the fields are ${names.join(', ')}` : 'there are none here',
};

const READERS = new WeakMap<Type<object>, Reader>();
const NOTHING_UNREAD: readonly FieldProblem[] = [];

/**
 * Reads a plain object into a DTO: rejects unknown fields, normalizes and validates values, and sets
 * defaults. Use `value` only if there are no problems.
 * @param unread problems of fields that could not be read; they replace other problems of these fields
 */
export function readInput<T extends object>(
  dto: Type<T>,
  plain: object,
  unread: readonly FieldProblem[] = NOTHING_UNREAD,
  { encoding = 'json', wording = BODY }: ReadOptions = {},
): Input<T> {
  const reader = readerOf(dto);
  const value = normalized(dto, plain, reader, encoding);
  const found = [...unknownFields(plain, reader, wording), ...reader.validate(value)];
  const problems = unread.length === 0 ? found : mergeProblems(unread, found);
  if (problems.length === 0 && !reader.isUpdate) applyDefaults(value, reader);
  return { value, problems };
}

/** Created at the first input, after all decorators of the class have run. */
function readerOf(dto: Type<object>): Reader {
  let reader = READERS.get(dto);
  if (!reader) {
    const fields = fieldsOf(dto);
    reader = {
      fields,
      known: new Map(fields.map((field) => [field.name, field])),
      fixed: new Set(fixedFieldsOf(dto)),
      isUpdate: isUpdate(dto),
      validate: compileValidator(dto),
    };
    READERS.set(dto, reader);
  }
  return reader;
}

function normalized<T extends object>(
  dto: Type<T>,
  plain: object,
  { known }: Reader,
  encoding: Encoding,
): T {
  const raw = plain as Readonly<Record<string, unknown>>;
  const value = new dto();
  const target = value as Record<string, unknown>;
  for (const [name, { normalize, fromText }] of known) {
    if (!Object.hasOwn(plain, name)) continue;
    const given = raw[name];
    target[name] = normalize(
      encoding === 'text' && typeof given === 'string' ? fromText(given) : given,
    );
  }
  return value;
}

/** The first unknown name is reported together with the known names. */
function unknownFields(
  plain: object,
  { known, fixed }: Reader,
  wording: ProblemWording,
): FieldProblem[] {
  const { whole, unknown } = wording;
  const strays = Object.keys(plain).filter((name) => !known.has(name));
  const first = strays.find((name) => !fixed.has(name));
  const messageOf = (name: string) => {
    if (fixed.has(name)) return 'cannot be changed';
    return name === first ? `${unknown}; ${wording.known([...known.keys()])}` : unknown;
  };
  return strays.map((name) => ({ field: fieldLabel(name, whole), message: messageOf(name) }));
}

function mergeProblems(unread: readonly FieldProblem[], found: FieldProblem[]): FieldProblem[] {
  const named = new Set(unread.map(({ field }) => field));
  return [...unread, ...found.filter(({ field }) => !named.has(field))];
}

/** Sets the defaults of a create. Null means omitted. */
function applyDefaults(value: object, { fields }: Reader): void {
  const target = value as Record<string, unknown>;
  for (const { name, presence } of fields) {
    if (target[name] !== undefined && target[name] !== null) continue;
    if (presence.default !== undefined) target[name] = presence.default;
    // Deleting a missing property would be slow, too.
    else if (Object.hasOwn(target, name)) Reflect.deleteProperty(target, name);
  }
}
