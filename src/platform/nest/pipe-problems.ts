import type { HttpException } from '@nestjs/common';
import { parametersOf } from '../discovery/nest-internals.js';
import { type FieldProblem, fieldLabel } from '../errors/field-problem.js';
import { isObject } from '../fields/kinds/json-object.js';
import { messageOf } from '../http/http-exception.js';
import type { RoutePlan } from '../http/routes/route-plan.js';

/** The message of a pipe such as `ParseUUIDPipe`: `Validation failed (uuid is expected)`. */
const EXPECTATION = /^Validation failed \((.+)\)$/;

/** A message about an unknown property, which can have any name: `items.0.property color should not exist`. */
const UNKNOWN =
  /^(?:\[(?<index>\d+)\] )?(?<path>(?:[\w$-]+\.)*)property (?<name>.+) (?<rule>should not exist)$/s;

/**
 * A message of `ValidationPipe`, such as `items.0.price must be a number` or `each value in tags must be a string`. Those of
 * `ParseArrayPipe` begin with the index: `[2] item must be a number`. A name has no dot, so that each text matches in one way
 * at most, and a long one takes no longer than its length.
 */
const OF_PROPERTY =
  /^(?:\[(?<index>\d+)\] )?(?<path>(?:[\w$-]+\.)*)(?:(?<each>each value )in )?(?:nested property )?(?!(?:must|is|should|cannot|has)\b)(?<name>[\w$-]+) (?<rule>.+)$/s;

/** The names of the parameters of a handler that have pipes, `body` or `query` for a whole source. */
export function pipedParametersOf({ controller, name }: RoutePlan): string[] {
  return parametersOf(controller, name).flatMap((parameter) =>
    parameter.pipes.length > 0 ? [parameter.name ?? parameter.source] : [],
  );
}

/**
 * Finds the fields that the exception of a pipe is about.
 * @param parameters those of `pipedParametersOf()`
 */
export function pipeProblems(
  exception: HttpException,
  parameters: readonly string[],
): FieldProblem[] {
  const message = messageOf(exception);
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
  const { groups } = UNKNOWN.exec(text) ?? OF_PROPERTY.exec(text) ?? {};
  if (!groups) return { field: parameter, message: text };
  const { index, path = '', each = '', name = '', rule = '' } = groups;
  // The message about an item of an array has the name of the array twice.
  const property = path.endsWith(`${name}.`) ? path.slice(0, -1) : path + name;
  const message = each + rule;
  if (index === undefined) return { field: fieldLabel(property, parameter), message };
  const item = property === 'item' ? index : `${index}.${property}`;
  const isOfPart = !['body', 'query'].includes(parameter);
  return { field: fieldLabel(isOfPart ? `${parameter}.${item}` : item, parameter), message };
}
