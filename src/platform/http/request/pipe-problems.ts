import type { FieldProblem } from '../../errors/field-problem.js';
import { isObject } from '../../fields/kinds/json-object.js';

/** The message of a pipe such as `ParseUUIDPipe`: `Validation failed (uuid is expected)`. */
const EXPECTATION = /^Validation failed \((.+)\)$/;

/**
 * A message of `ValidationPipe`, such as `items.0.price must be a number`, `items.0.property color should not exist` or
 * `each value in tags must be a string`. Those of `ParseArrayPipe` begin with the index: `[2] item must be a number`.
 */
const OF_PROPERTY =
  /^(?:\[(?<index>\d+)\] )?(?<path>(?:[\w$-]+\.)*)(?:(?<each>each value )in )?(?:nested )?(?:property )?(?!(?:must|is|should|cannot|has)\b)(?<name>[\w$.-]+) (?<rule>.+)$/s;

/**
 * Finds the fields that the exception of a pipe is about.
 * @param message `message` of the body of the exception
 * @param parameters the names of the parameters that have pipes, `body` or `query` for a whole source
 */
export function pipeProblems(message: unknown, parameters: readonly string[]): FieldProblem[] {
  // Of several parameters, no message says which one it is about.
  const parameter = parameters.length === 1 ? parameters[0] : undefined;
  if (Array.isArray(message)) return message.map((text) => problemOf(String(text), parameter));
  if (isObject(message)) return Object.entries(message).map(groupedProblem);
  const [, expectation] = EXPECTATION.exec(String(message)) ?? [];
  if (expectation === undefined || parameter === undefined) return [];
  return [{ field: parameter, message: `is not valid: ${expectation}` }];
}

/** A property and its messages, in the error format `grouped` of `ValidationPipe`. */
function groupedProblem([field, messages]: [string, unknown]): FieldProblem {
  return { field, message: [messages].flat().join(' and ') };
}

function problemOf(text: string, parameter = 'body'): FieldProblem {
  const { groups } = OF_PROPERTY.exec(text) ?? {};
  if (!groups) return { field: parameter, message: text };
  const { index, path = '', each = '', name = '', rule = '' } = groups;
  // The message about an item of an array has the name of the array twice.
  const property = path.endsWith(`${name}.`) ? path.slice(0, -1) : path + name;
  const item = property === 'item' ? index : [index, property].filter(Boolean).join('.');
  const isOfPart = index !== undefined && !['body', 'query'].includes(parameter);
  return { field: isOfPart ? `${parameter}.${item}` : String(item), message: each + rule };
}
