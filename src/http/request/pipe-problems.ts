import { describeProblem, type FieldProblem } from '../../errors/field-problem.js';

const PATH = String.raw`[\w$-]+(?:\.[\w$-]+)*`;

/** Messages of `ValidationPipe` and `ParseArrayPipe`, such as `items.0.price must be a number`. */
const UNKNOWN =
  /^(?:\[(?<index>\d+)\] )?(?<path>(?:[\w$-]+\.)*)property (?<name>\S+) should not exist$/;
const BROKEN = new RegExp(
  String.raw`^(?:\[(?<index>\d+)\] )?(?<path>(?:[\w$-]+\.)*)(?<each>each value in )?(?:nested property )?(?!(?:must|is|should|cannot|has)\b)(?<name>${PATH}) (?<rest>.+)$`,
  's',
);

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
  if (typeof messages === 'string') return describeExpectation(messages, parameters);
  if (Array.isArray(messages)) return withDetails(messages.flatMap(problemOf), messages.length);
  // The error format `grouped` of ValidationPipe.
  if (typeof messages !== 'object' || messages === null) return {};
  const details = Object.entries(messages).map(([field, found]) => {
    const texts = ([found].flat() as unknown[]).map((text) => withoutField(String(text), field));
    return { field, message: texts.join(' and ') };
  });
  return withDetails(details, details.length);
}

function describeExpectation(message: string, parameters: readonly string[]): PipeProblems {
  const expectation = EXPECTATION.exec(message)?.groups?.expectation;
  if (expectation === undefined || parameters.length === 0) return {};
  const problem = `is not valid: ${expectation}`;
  const [field = '', ...others] = parameters;
  if (others.length > 0) return { message: `One of ${parameters.join(', ')} ${problem}.` };
  return { message: `${field} ${problem}.`, details: [{ field, message: problem }] };
}

function problemOf(text: unknown): FieldProblem[] {
  if (typeof text !== 'string') return [];
  const unknown = UNKNOWN.exec(text)?.groups;
  if (unknown) return [{ field: fieldOf(unknown), message: 'is unknown or cannot be set' }];
  const broken = BROKEN.exec(text)?.groups;
  if (!broken) return [];
  const { each, rest = '' } = broken;
  return [{ field: fieldOf(broken), message: each === undefined ? rest : `each value ${rest}` }];
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
