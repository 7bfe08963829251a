import type { Type } from '@nestjs/common';
import { describeProblem, type FieldProblem } from '../errors/field-problem.js';
import { nullsForMissing } from './changes.js';
import { type Declaration, declareField } from './field.js';
import { isObject } from './kinds/json-object.js';
import { problemRule } from './kinds/rules.js';
import { readInput } from './input/read-input.js';
import { exampleOf, jsonSchemaOf } from './schema/schema-of.js';
import { valueParserOf } from './value-parser.js';

type ProblemsOf = (value: unknown, path: string) => FieldProblem[];

/** Objects that were read without problems, so that they need not be read again. */
const READ = new WeakSet<object>();

const NO_ITEMS: readonly object[] = Object.freeze([]);

/** An object with the fields of another DTO, for a column `jsonb`. An update replaces the whole object. */
export function Nested<T extends object>(
  dto: Type<T>,
  declaration: Omit<Declaration<T, object>, 'default'> = {},
): PropertyDecorator {
  const problemsOf = problemsOfObject(dto);
  const parse = valueParserOf(dto);
  const example = exampleOf(dto, 'output');
  return declareField(
    { example, ...declaration },
    {
      schema: jsonSchemaOf(dto, 'output'),
      inputSchema: jsonSchemaOf(dto, 'input'),
      rules: [hasNoProblems(problemsOf)],
      normalize: (value) => readObject(dto, value),
      nested: { problemsOf, parse: (json) => (isObject(json) ? parse(json as T) : json) },
    },
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
  const problemsOf = problemsOfObject(dto);
  const schema = jsonSchemaOf(dto, 'input');
  const example = exampleOf(dto, 'input');
  return declareField(
    { example, ...declaration },
    {
      schema,
      rules: [hasNoProblems(problemsOf)],
      normalize: (value) => readObject(dto, value, (read) => read),
      nested: { problemsOf, parse: (json) => json },
    },
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
  const problemsOf: ProblemsOf = (value, path) => {
    if (!Array.isArray(value)) return [{ field: path, message: 'must be an array of objects' }];
    if (value.length > max) return [{ field: path, message: `must have at most ${max} items` }];
    return value.flatMap((item, index) => problemsOfItem(item, joined(path, String(index))));
  };
  const example = exampleOf(dto, 'output');
  return declareField(
    {
      ...(example && { example: [example] }),
      ...declaration,
      ...(declaration.required !== true && { default: NO_ITEMS }),
    },
    {
      schema: { type: 'array', maxItems: max, items: jsonSchemaOf(dto, 'output') },
      inputSchema: { type: 'array', maxItems: max, items: jsonSchemaOf(dto, 'input') },
      rules: [hasNoProblems(problemsOf)],
      normalize: (value) => {
        if (!Array.isArray(value) || value.length > max) return value;
        return value.map((item: unknown) => readObject(dto, item));
      },
      nested: {
        problemsOf,
        parse: (json) => (Array.isArray(json) ? json.map((item) => parse(item as T)) : json),
      },
    },
  );
}

/** An array of records of a DTO, for responses. */
export function NestedRecords(
  dto: Type<object>,
  declaration: Omit<Declaration<object>, 'required' | 'default'> = {},
): PropertyDecorator {
  const example = exampleOf(dto, 'output');
  return declareField(
    { ...(example && { example: [example] }), ...declaration, required: true },
    { schema: { type: 'array', items: jsonSchemaOf(dto, 'output') }, rules: [] },
  );
}

/**
 * Returns the object that was read, by default with all fields, or the value itself if it has problems.
 * @param complete returns the object with the fields that a value lacks
 */
function readObject(
  dto: Type<object>,
  value: unknown,
  complete: (read: object) => object = (read) => nullsForMissing(dto, read),
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

/** The rule of class-validator, whose message has the first problem. */
function hasNoProblems(problemsOf: ProblemsOf): PropertyDecorator {
  return problemRule('isNested', (value) => {
    const [problem] = problemsOf(value, '');
    return problem && (problem.field === '' ? problem.message : describeProblem(problem));
  });
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
