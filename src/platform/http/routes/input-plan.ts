import type { Type } from '@nestjs/common';
import type { DeclaredHandler } from '../../discovery/declared-handlers.js';
import { fieldsOf, isList, scopesOfValues } from '../../fields/field.js';
import { hasPlainProperties, isReadable } from '../../fields/validation/properties.js';
import {
  type HandlerParameter,
  parametersOf,
  type ParameterSource,
} from '../../discovery/nest-internals.js';
import { declarationsOf } from './route-declarations.js';

/**
 * How `InputGuard` reads the query or the body: into a DTO, as named parameters, or, without `dto` and `names`, as any JSON
 * value.
 */
export interface SourcePlan {
  /** The type of the parameter that takes the whole source, such as `@Body() lead: CreateLeadDto`. */
  readonly type: Type<object> | undefined;
  /** This type, if its properties are fields such as `@Text()`: the source is read into it. Otherwise it is only parsed. */
  readonly dto: Type<object> | undefined;
  /** The names of the parameters if each decorator has one, such as `@Query('page')`. */
  readonly names: readonly string[] | undefined;
  /** Whether a query can have a parameter several times. */
  readonly mayRepeat: (name: string) => boolean;
  /** The most bytes of a parameter as it is sent. */
  readonly maxBytesOf: ((name: string) => number) | undefined;
  /** The scopes that the values of an input need, beside that of the route. Undefined if they need none. */
  readonly scopesOf: ((input: object) => readonly string[]) | undefined;
}

/** How the input of a handler is read. A source without a plan has no parameter. */
export interface InputPlan {
  /** Whether inputs that the handler does not declare are problems. */
  readonly isStrict: boolean;
  /** Whether a POST takes no fields (`@NoBody()`). Without it, the body of a handler that declares none is not checked. */
  readonly takesNoBody: boolean;
  readonly query: SourcePlan | undefined;
  readonly body: SourcePlan | undefined;
  /** Whether an interceptor of a team can parse the body as a form with files. */
  readonly mayBeForm?: boolean;
}

/**
 * Plans how the input of a handler is read. A handler that is not strict and declares no input has no plan.
 * @param isStrict whether inputs that the handler does not declare are problems
 */
export function planInput(
  { controller, name: method, handler }: DeclaredHandler,
  isStrict: boolean,
): InputPlan | undefined {
  const parameters = parametersOf(controller, method);
  if (!isStrict && parameters.length === 0) return undefined;
  const planOf = (wanted: ParameterSource) =>
    planSource(parameters.filter(({ source }) => source === wanted));
  return {
    query: planOf('query'),
    body: planOf('body'),
    isStrict,
    takesNoBody: declarationsOf(handler).takesNoBody,
  };
}

function planSource(parameters: readonly HandlerParameter[]): SourcePlan | undefined {
  const [whole, ...others] = parameters.filter(({ name }) => name === undefined);
  if (whole) {
    const { type, pipes } = whole;
    const isOne = others.every((other) => other.type === type);
    const hasClass = isDescriptive(type);
    return {
      type,
      dto: hasClass && isOne && isReadable(type) && !hasPlainProperties(type) ? type : undefined,
      names: undefined,
      mayRepeat: hasClass ? (name) => isRepeatable(type, name) : () => pipes.length > 0,
      maxBytesOf: hasClass ? maxBytesOf(type) : undefined,
      scopesOf: hasClass ? scopesOfValues(type) : undefined,
    };
  }
  if (parameters.length === 0) return undefined;
  const repeatable = parameters.filter(
    ({ type, pipes }) => type === (Array as unknown) || pipes.length > 0,
  );
  return {
    type: undefined,
    dto: undefined,
    names: parameters.map(({ name = '' }) => name),
    mayRepeat: (name) => repeatable.some((one) => one.name === name),
    maxBytesOf: undefined,
    scopesOf: undefined,
  };
}

/** Whether a parameter can be given several times: a list, or a property that is no field. */
function isRepeatable(dto: Type<object>, name: string): boolean {
  const field = fieldsOf(dto).find((candidate) => candidate.name === name);
  return field === undefined || isList(field);
}

/** @returns undefined if no field has such a limit */
function maxBytesOf(dto: Type<object>): SourcePlan['maxBytesOf'] {
  const limited = fieldsOf(dto).flatMap(({ name, maxSentBytes }) =>
    maxSentBytes === undefined ? [] : [[name, maxSentBytes] as const],
  );
  if (limited.length === 0) return undefined;
  const limits = new Map(limited);
  return (name) => limits.get(name) ?? Infinity;
}

/** Whether a type describes a value: the compiler records `Object` for interfaces, unions and `any`. */
export function isDescriptive(type: Type<object> | undefined): type is Type<object> {
  return type !== undefined && type !== (Object as unknown);
}
