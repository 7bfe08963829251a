import type { Type } from '@nestjs/common';
import { describeProblem, type FieldProblem } from '../errors/field-problem.js';
import { nullsForMissing } from './changes.js';
import { type Declaration, declareField, type Field, valueParserOf } from './field.js';
import { isObject } from './kinds/json-object.js';
import { outputField } from './kinds/output-kinds.js';
import { problemRule } from './kinds/rules.js';
import { readInput } from './input/read-input.js';
import { type Direction, exampleOf, jsonSchemaOf } from './schema/schema-of.js';

type ProblemsOf = NonNullable<Field['nested']>;

/** Objects that were read without problems, so that they need not be read again. */
const READ = new WeakSet<object>();

/** The problems of objects that were read with some, which validation asks for several times. */
type Found = WeakMap<object, readonly FieldProblem[]>;

const NO_ITEMS: readonly object[] = Object.freeze([]);

/** An object with the fields of another DTO, for a column `jsonb`. An update replaces the whole object. */
export function Nested<T extends object>(
  dto: Type<T>,
  declaration: Omit<Declaration<T, object>, 'default'> = {},
): PropertyDecorator {
  return declareField(
    { example: exampleOf(dto, 'output'), ...declaration },
    objectKind(dto, 'output'),
  );
}

/**
 * An object with the fields of another input. Fields that are left out stay undefined, so that a service can tell
 * them from null. Problems have the path of the field, such as `data.email`.
 */
export function NestedInput<T extends object>(
  dto: Type<T>,
  declaration: Omit<Declaration<T, object>, 'default'>,
): PropertyDecorator {
  return declareField(
    { example: exampleOf(dto, 'input'), ...declaration },
    objectKind(dto, 'input'),
  );
}

/**
 * An array of at most `max` objects with the fields of another DTO, for a column `jsonb`. An update
 * replaces the whole array. Without a value it is empty.
 */
export function NestedList<T extends object>(
  dto: Type<T>,
  { max, ...declaration }: Omit<Declaration<readonly T[], object>, 'default'> & { max: number },
): PropertyDecorator {
  const item = objectKind(dto, 'output');
  const example = exampleOf(dto, 'output');
  const problemsOf: ProblemsOf = (value, path) => {
    if (!Array.isArray(value)) return [{ field: path, message: 'must be an array of objects' }];
    if (value.length > max) return [{ field: path, message: `must have at most ${max} items` }];
    return value.flatMap((each, index) => item.nested(each, joined(path, String(index))));
  };
  return declareField(
    {
      ...(example && { example: [example] }),
      ...declaration,
      ...(declaration.required !== true && { default: NO_ITEMS }),
    },
    {
      ...nestedKind(problemsOf),
      schema: { type: 'array', maxItems: max, items: item.schema },
      inputSchema: { type: 'array', maxItems: max, items: item.inputSchema },
      normalize: (value) =>
        Array.isArray(value) && value.length <= max ? value.map(item.normalize) : value,
      parse: (json) => (Array.isArray(json) ? json.map(item.parse) : json),
    },
  );
}

/** The kind of an object. In responses, it has every field. */
function objectKind(dto: Type<object>, direction: Direction) {
  const parse = valueParserOf(dto);
  const found: Found = new WeakMap();
  return {
    ...nestedKind(problemsOfObject(dto, found)),
    schema: jsonSchemaOf(dto, direction),
    inputSchema: jsonSchemaOf(dto, 'input'),
    normalize: (value: unknown) => readObject(dto, value, direction, found),
    parse: (json: unknown) => (isObject(json) ? parse(json) : json),
  };
}

/** The part of a kind that finds problems. The rule of class-validator has the message of the first one. */
export function nestedKind(nested: ProblemsOf) {
  const isNested = problemRule('isNested', (value) => {
    const [problem] = nested(value, '');
    return problem && (problem.field === '' ? problem.message : describeProblem(problem));
  });
  return { nested, rules: [isNested] };
}

/** An array of records of a DTO, for responses. */
export function NestedRecords(
  dto: Type<object>,
  declaration: Omit<Declaration<object>, 'required' | 'default'> = {},
): PropertyDecorator {
  const example = exampleOf(dto, 'output');
  return outputField(
    { type: 'array', items: jsonSchemaOf(dto, 'output') },
    { ...(example && { example: [example] }), ...declaration },
  );
}

/** Returns the object that was read, or the value itself if it has problems. */
function readObject(
  dto: Type<object>,
  value: unknown,
  direction: Direction,
  found: Found,
): unknown {
  if (!isObject(value)) return value;
  const { value: read, problems } = readInput(dto, value);
  if (problems.length > 0) {
    found.set(value, problems);
    return value;
  }
  const completed = direction === 'output' ? nullsForMissing(dto, read) : read;
  READ.add(completed);
  return completed;
}

function problemsOfObject(dto: Type<object>, found: Found): ProblemsOf {
  return (value, path) => {
    if (!isObject(value)) return [{ field: path, message: 'must be an object' }];
    if (READ.has(value)) return [];
    return (found.get(value) ?? readInput(dto, value).problems).map(({ field, message }) => ({
      field: joined(path, field),
      message,
    }));
  };
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
