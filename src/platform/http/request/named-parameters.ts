import type { Type } from '@nestjs/common';
import { type FieldProblem, fieldLabel } from '../../errors/field-problem.js';
import { isObject } from '../../fields/kinds/json-object.js';
import { readIntoClass } from '../../fields/input/read-into-class.js';
import type { Encoding, Input, ProblemWording } from '../../fields/input/read-input.js';
import { BIG_NUMBER, isOutOfRange } from './json-number.js';
import type { NamedParameter } from '../routes/input-plan.js';

export type Values = Readonly<Record<string, unknown>>;

/** How the values of a source are encoded, and how its problems are worded. */
export interface Source {
  readonly encoding: Encoding;
  readonly wording: ProblemWording;
}

/** A value, or the problem of a value that does not have the declared type. */
type Reading = { readonly value: unknown } | { readonly problem: string };

const NUMBER = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const REPEATED = 'must be given only once';

/**
 * Reads the parameters of decorators with a name, such as `@Query('name')`, as values of their types.
 * A missing one is undefined, and a value for a pipe stays as it is.
 * @param isStrict whether other names are problems
 */
export async function readNamed(
  parameters: readonly NamedParameter[],
  raw: Values,
  unread: readonly FieldProblem[],
  source: Source,
  isStrict: boolean,
): Promise<Input<object>> {
  const problems = [...unread, ...(isStrict ? unknownNames(parameters, raw, source.wording) : [])];
  const values: Record<string, unknown> = { ...raw };
  for (const parameter of parameters) {
    const { name, type } = parameter;
    const given = Object.hasOwn(raw, name) ? raw[name] : undefined;
    if (type && !READERS.has(type)) {
      const read = await readObject(name, type, given, source);
      values[name] = read.value;
      problems.push(...read.problems);
      continue;
    }
    const reading = readValue(parameter, given, source.encoding);
    if ('problem' in reading) problems.push({ field: name, message: reading.problem });
    else if (given !== undefined) values[name] = reading.value;
  }
  return { value: values, problems };
}

function unknownNames(
  parameters: readonly NamedParameter[],
  raw: Values,
  { whole, unknown, known }: ProblemWording,
): FieldProblem[] {
  const names = new Set(parameters.map(({ name }) => name));
  return Object.keys(raw)
    .filter((name) => !names.has(name))
    .map((name, index) => {
      const message = index === 0 ? `${unknown}; ${known([...names])}` : unknown;
      return { field: fieldLabel(name, whole), message };
    });
}

/** Reads an object into its class. Like `ValidationPipe`, it validates a missing object as an empty one. */
async function readObject(
  name: string,
  type: Type<object>,
  given: unknown,
  { wording }: Source,
): Promise<Input<unknown>> {
  const isMissing = given === undefined || given === null;
  const object = isMissing ? {} : given;
  if (!isObject(object)) {
    return { value: given, problems: [{ field: name, message: 'must be an object' }] };
  }
  const { value, problems } = await readIntoClass(type, object, [], { wording });
  const nested = problems.map(({ field, message }) => ({ field: `${name}.${field}`, message }));
  return { value: isMissing ? given : value, problems: nested };
}

function readValue({ type, isPiped }: NamedParameter, given: unknown, encoding: Encoding): Reading {
  if (isPiped || given === undefined || given === null) return { value: given };
  const read = type && READERS.get(type);
  if (read) return read(given, encoding);
  return encoding === 'text' && Array.isArray(given) ? { problem: REPEATED } : { value: given };
}

type ValueReader = (given: unknown, encoding: Encoding) => Reading;

/** The readers of the types that are not classes with properties. */
const READERS: ReadonlyMap<unknown, ValueReader> = new Map<unknown, ValueReader>([
  [String, readText],
  [Number, readNumber],
  [Boolean, readBoolean],
  [Array, readArray],
]);

function readText(given: unknown): Reading {
  if (typeof given === 'string') return { value: given };
  return { problem: Array.isArray(given) ? REPEATED : 'must be a string' };
}

function readNumber(given: unknown, encoding: Encoding): Reading {
  if (encoding === 'json') {
    return typeof given === 'number' ? { value: given } : { problem: 'must be a number' };
  }
  if (typeof given !== 'string' || !NUMBER.test(given)) return { problem: 'must be a number' };
  return isOutOfRange(given.replace(/^-/, '')) ? { problem: BIG_NUMBER } : { value: Number(given) };
}

function readBoolean(given: unknown, encoding: Encoding): Reading {
  const known = encoding === 'json' ? [true, false] : ['true', 'false'];
  if (!known.includes(given as never)) return { problem: 'must be true or false' };
  return { value: given === true || given === 'true' };
}

function readArray(given: unknown, encoding: Encoding): Reading {
  if (Array.isArray(given)) return { value: given };
  return encoding === 'text' ? { value: [given] } : { problem: 'must be an array' };
}
