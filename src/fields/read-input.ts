import type { Type } from '@nestjs/common';
import { type FieldProblem, fieldLabel } from '../errors/field-problem.js';
import { type Field, fieldsOf, fixedFieldsOf, isUpdate } from './field.js';
import { compileValidator, type Validator } from './validator.js';

/** What became of an input: its DTO, and everything that is wrong with it. */
export interface Input<T> {
  readonly value: T;
  readonly problems: readonly FieldProblem[];
}

/** How values come: as JSON, or as the texts of a query string or of the arguments of a prompt. */
export type Encoding = 'json' | 'text';

/** What there is to know of a DTO to read inputs into it. */
interface Reader {
  readonly fields: readonly Field[];
  /** The fields by their names; of two declarations of one, the value is read by the last. */
  readonly known: ReadonlyMap<string, Field>;
  readonly fixed: ReadonlySet<string>;
  readonly isUpdate: boolean;
  readonly validate: Validator;
}

/** How problems refer to an input. */
export interface ProblemWording {
  /** What a problem names where it has no name of its own. */
  readonly whole: string;
  /** What is wrong with a name that does not exist. */
  readonly unknown: string;
  /** What the names are that exist. */
  readonly known: (names: readonly string[]) => string;
}

/** How an input was written, and how problems refer to it; a JSON body unless something else is said. */
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
 * Reads a plain object into a DTO: refuses what the DTO does not know, brings values into their
 * stored form, checks them, and fills in defaults. `value` may be used only without problems.
 * @param unread what is wrong with the input already; a field in it is named for that alone
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

/** Made at the first input, when the decorators of the class have long run. */
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

/** The first of several unknown names is told together with those that exist. */
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

/** On create, null means the same as left out; what is left out takes its default. */
function applyDefaults(value: object, { fields }: Reader): void {
  const target = value as Record<string, unknown>;
  for (const { name, presence } of fields) {
    if (target[name] !== undefined && target[name] !== null) continue;
    if (presence.default !== undefined) target[name] = presence.default;
    // To delete takes its time even where there is nothing.
    else if (Object.hasOwn(target, name)) Reflect.deleteProperty(target, name);
  }
}
