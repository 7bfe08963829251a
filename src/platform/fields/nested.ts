import type { Type } from '@nestjs/common';
import { describeProblem } from '../errors/field-problem.js';
import { nullsForMissing } from './changes.js';
import { type Declaration, declareField, type Field, type Kind } from './field.js';
import { isObject } from './kinds/json-object.js';
import { outputField } from './kinds/output-kinds.js';
import { problemRule } from './kinds/rules.js';
import { readInput } from './input/read-input.js';
import { type Direction, exampleOf, jsonSchemaOf } from './schema/schema-of.js';
import { valueParserOf } from './value-parser.js';

type ProblemsOf = NonNullable<Field['nested']>;

/** Objects that were read without problems, so that they need not be read again. */
const READ = new WeakSet<object>();

const NO_ITEMS: readonly object[] = Object.freeze([]);

/** An object with the fields of another DTO, for a column `jsonb`. An update replaces the whole object. */
export function Nested<T extends object>(
  dto: Type<T>,
  declaration: Omit<Declaration<T, object>, 'default'> = {},
): PropertyDecorator {
  return nestedObject(dto, declaration, 'output', (read) => nullsForMissing(dto, read));
}

/**
 * An object with the fields of another input. Fields that are left out stay undefined, so that a service can tell
 * them from null. Problems have the path of the field, such as `data.email`.
 */
export function NestedInput<T extends object>(
  dto: Type<T>,
  declaration: Omit<Declaration<T, object>, 'default'>,
): PropertyDecorator {
  return nestedObject(dto, declaration, 'input', (read) => read);
}

function nestedObject<T extends object>(
  dto: Type<T>,
  declaration: Declaration<unknown>,
  direction: Direction,
  complete: (read: object) => object,
): PropertyDecorator {
  const parse = valueParserOf(dto);
  return declareNested(
    { example: exampleOf(dto, direction), ...declaration },
    {
      schema: jsonSchemaOf(dto, direction),
      inputSchema: jsonSchemaOf(dto, 'input'),
      normalize: (value) => readObject(dto, value, complete),
      parse: (json) => (isObject(json) ? parse(json as T) : json),
    },
    problemsOfObject(dto),
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
  const problemsOfItem = problemsOfObject(dto);
  const parse = valueParserOf(dto);
  const complete = (read: object) => nullsForMissing(dto, read);
  const problemsOf: ProblemsOf = (value, path) => {
    if (!Array.isArray(value)) return [{ field: path, message: 'must be an array of objects' }];
    if (value.length > max) return [{ field: path, message: `must have at most ${max} items` }];
    return value.flatMap((item, index) => problemsOfItem(item, joined(path, String(index))));
  };
  const example = exampleOf(dto, 'output');
  return declareNested(
    {
      ...(example && { example: [example] }),
      ...declaration,
      ...(declaration.required !== true && { default: NO_ITEMS }),
    },
    {
      schema: { type: 'array', maxItems: max, items: jsonSchemaOf(dto, 'output') },
      inputSchema: { type: 'array', maxItems: max, items: jsonSchemaOf(dto, 'input') },
      normalize: (value) => {
        if (!Array.isArray(value) || value.length > max) return value;
        return value.map((item: unknown) => readObject(dto, item, complete));
      },
      parse: (json) => (Array.isArray(json) ? json.map((item) => parse(item as T)) : json),
    },
    problemsOf,
  );
}

function declareNested(
  declaration: Declaration<unknown>,
  kind: Omit<Kind, 'rules'>,
  problemsOf: ProblemsOf,
): PropertyDecorator {
  // The rule of class-validator has the message of the first problem.
  const isNested = problemRule('isNested', (value) => {
    const [problem] = problemsOf(value, '');
    return problem && (problem.field === '' ? problem.message : describeProblem(problem));
  });
  return declareField(declaration, { ...kind, nested: problemsOf, rules: [isNested] });
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

/**
 * Returns the object that was read, or the value itself if it has problems.
 * @param complete returns the object with the fields that a value lacks
 */
function readObject(
  dto: Type<object>,
  value: unknown,
  complete: (read: object) => object,
): unknown {
  if (!isObject(value)) return value;
  const { value: read, problems } = readInput(dto, value);
  if (problems.length > 0) return value;
  const completed = complete(read);
  READ.add(completed);
  return completed;
}

function problemsOfObject(dto: Type<object>): ProblemsOf {
  return (value, path) => {
    if (!isObject(value)) return [{ field: path, message: 'must be an object' }];
    if (READ.has(value)) return [];
    return readInput(dto, value).problems.map(({ field, message }) => ({
      field: joined(path, field),
      message,
    }));
  };
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
