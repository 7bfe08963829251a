import { describeProblem, type FieldProblem } from '../../errors/field-problem.js';

const PATH = String.raw`[\w$-]+(?:\.[\w$-]+)*`;

/** Messages of `ValidationPipe` and `ParseArrayPipe`, such as `items.0.price must be a number`. */
const UNKNOWN =
  /^(?:\[(?<index>\d+)\] )?(?<path>(?:[\w$-]+\.)*)property (?<name>\S+) should not exist$/;
const BROKEN = new RegExp(
  String.raw`^(?:\[(?<index>\d+)\] )?(?<path>(?:[\w$-]+\.)*)(?<each>each value in )?(?:nested property )?(?!(?:must|is|should|cannot|has)\b)(?<name>${PATH}) (?<rest>.+)$`,
  's',
);

/** The message of `ParseArrayPipe` for an item of a primitive type. */
const ITEM = /^\[(?<index>\d+)\] item (?<problem>.+)$/;

/** The names of parameters that take a whole source. Paths in them have no name of a parameter. */
const WHOLE_SOURCES: readonly string[] = ['body', 'query', 'param'];

/** Messages of Nest's own pipes, such as `Validation failed (uuid is expected)`. */
const EXPECTATION = /^Validation failed \((?<expectation>.+)\)$/;

/** What a pipe has found wrong with the input. */
export interface PipeProblems {
  readonly message?: string;
  readonly details?: readonly FieldProblem[];
}

/**
 * Finds the fields that the messages of Nest's pipes are about.
 * @param messages `message` of the body of the exception
 * @param parameters the names of the parameters that have pipes
 */
export function describePipeProblems(
  messages: unknown,
  parameters: readonly string[],
): PipeProblems {
  if (typeof messages === 'string') return describeText(messages, parameters);
  if (Array.isArray(messages)) {
    const details = messages.flatMap((message) => problemOf(message, parameters));
    return withDetails(details, messages.length);
  }
  // The error format `grouped` of ValidationPipe.
  if (typeof messages !== 'object' || messages === null) return {};
  const details = Object.entries(messages).map(([field, found]) => {
    const texts = ([found].flat() as unknown[]).map((text) => withoutField(String(text), field));
    return { field, message: texts.join(' and ') };
  });
  return withDetails(details, details.length);
}

function describeText(message: string, parameters: readonly string[]): PipeProblems {
  const item = ITEM.exec(message)?.groups;
  if (item && parameters.length === 1) return withDetails(problemOf(message, parameters), 1);
  const expectation = item
    ? `item ${item.index} ${item.problem}`
    : EXPECTATION.exec(message)?.groups?.expectation;
  if (expectation === undefined || parameters.length === 0) return {};
  const problem = `is not valid: ${expectation}`;
  const [field = '', ...others] = parameters;
  if (others.length > 0) return { message: `One of ${parameters.join(', ')} ${problem}.` };
  return { message: `${field} ${problem}.`, details: [{ field, message: problem }] };
}

function problemOf(text: unknown, parameters: readonly string[]): FieldProblem[] {
  if (typeof text !== 'string') return [];
  const unknown = UNKNOWN.exec(text)?.groups;
  if (unknown) {
    return [{ field: pathOf(unknown, parameters), message: 'is unknown or cannot be set' }];
  }
  const broken = BROKEN.exec(text)?.groups;
  if (!broken) return [];
  const { each, rest = '' } = broken;
  return [
    {
      field: pathOf(broken, parameters),
      message: each === undefined ? rest : `each value ${rest}`,
    },
  ];
}

/** The field of a message. An item of an array belongs to the parameter, if only one has a pipe. */
function pathOf(
  groups: Partial<Record<string, string>>,
  [parameter = 'body', ...others]: readonly string[],
): string {
  const field = fieldOf(groups);
  const isWhole = WHOLE_SOURCES.includes(parameter) || others.length > 0;
  return groups.index === undefined || isWhole ? field : `${parameter}.${field}`;
}

function fieldOf({ index, path = '', name = '' }: Partial<Record<string, string>>): string {
  if (index !== undefined && name === 'item') return index;
  const item = index === undefined ? '' : `${index}.`;
  // The problem of an item of a nested array has the name of the array.
  return `${item}${path}`.endsWith(`${name}.`)
    ? `${item}${path}`.slice(0, -1)
    : `${item}${path}${name}`;
}

function withoutField(text: string, field: string): string {
  const name = field.slice(field.lastIndexOf('.') + 1);
  return text.startsWith(`${name} `) ? text.slice(name.length + 1) : text;
}

/** @param messages number of messages; if all of them name a field, the result has a message */
function withDetails(details: readonly FieldProblem[], messages: number): PipeProblems {
  if (details.length === 0) return {};
  if (details.length < messages) return { details };
  return { message: details.map(describeProblem).join('; '), details };
}
