import { type Type, ValidationPipe } from '@nestjs/common';
import type { DeclaredHandler } from '../../discovery/declared-handlers.js';
import { fieldsOf, holdsObjects } from '../../fields/field.js';
import { hasPlainProperties, isReadable } from '../../fields/input/read-into-class.js';
import {
  type HandlerParameter,
  parametersOf,
  type ParameterSource,
} from '../../discovery/nest-internals.js';
import { NO_BODY } from './handler-declarations.js';

/**
 * How a source of input is read:
 * - `fields`: into a DTO whose properties are all fields.
 * - `class`: into a DTO with rules of class-validator.
 * - `unchecked`: as it was parsed, for a parameter without a class or for a `ValidationPipe`. The fields
 *   of `dto` are read.
 * - `named`: only the parameters of decorators with a name, such as `@Query('name')`.
 */
export type SourcePlan =
  | { readonly kind: 'fields' | 'class'; readonly dto: Type<object> }
  | UncheckedPlan
  | { readonly kind: 'named'; readonly parameters: readonly NamedParameter[] };

interface UncheckedPlan {
  readonly kind: 'unchecked';
  readonly dto?: Type<object>;
  readonly isArray: boolean;
  /** Whether a pipe checks the value. */
  readonly isPiped: boolean;
}

/** A parameter of a decorator with a name. */
export interface NamedParameter {
  readonly name: string;
  /** The type of the value; undefined if pipes check it or any value is accepted. */
  readonly type: Type<object> | undefined;
  readonly isPiped: boolean;
}

/** How the inputs of a handler are read. A source without a plan has no parameter. */
export interface InputPlan {
  /** Whether inputs that the handler does not declare are problems. */
  readonly isStrict: boolean;
  /** Whether a method that allows a body takes no fields. */
  readonly takesNoBody: boolean;
  /** Whether there is any parameter. */
  readonly declaresInput: boolean;
  /** Whether query and body are DTOs whose properties are all fields, so that their values have all that was sent. */
  readonly hasOnlyFields: boolean;
  /** The names of the parameters with pipes of their own, `body` or `query` for a whole source. */
  readonly pipedParameters: readonly string[];
  readonly query?: SourcePlan;
  readonly body?: SourcePlan;
  /** Undefined if the values of the path stay as they are. */
  readonly param?: SourcePlan;
}

/** The DTO classes that a handler declares with `@Query()` and `@Body()`. */
export interface InputTypes {
  readonly query?: Type<object>;
  readonly body?: Type<object>;
}

/** Returns the DTO classes of a controller's method. */
export function inputTypesOf(controller: Type<unknown>, method: string): InputTypes {
  const parameters = parametersOf(controller, method);
  const typeOf = (wanted: ParameterSource) =>
    parameters.find(({ source, name }) => source === wanted && name === undefined)?.type;
  return { query: typeOf('query'), body: typeOf('body') };
}

/** The types of interfaces, unions, `any` and arrays. They do not describe the value. */
const UNCHECKED: readonly unknown[] = [Object, Array];
const PRIMITIVES: readonly unknown[] = [String, Number, Boolean];

/**
 * Plans how the inputs of a handler are read.
 * @param isStrict whether inputs that the handler does not declare are problems
 * @param outerPipes the pipes of the method, of its controller and of the application
 * @throws Error with a predicate that follows the name of the route, if a parameter cannot be read
 */
export function planInputs(
  { controller, name, handler }: DeclaredHandler,
  isStrict: boolean,
  outerPipes: readonly unknown[],
): InputPlan {
  const parameters = parametersOf(controller, name);
  if (parameters.some(({ source }) => source === 'raw body')) {
    throw new Error('takes @RawBody(), which is never set. Take the parsed body with @Body().');
  }
  const plans = (['query', 'body', 'param'] as const).flatMap((source) => {
    const own = parameters.filter((parameter) => parameter.source === source);
    return own.length > 0 ? [[source, planSource(source, own, outerPipes)] as const] : [];
  });
  const pipedParameters = parameters
    .filter(({ pipes }) => pipes.length > 0)
    .map(({ source, name }) => name ?? source);
  const { query, body, param }: Partial<Record<ParameterSource, SourcePlan>> =
    Object.fromEntries(plans);
  return {
    isStrict,
    takesNoBody: Reflect.hasMetadata(NO_BODY, handler),
    pipedParameters,
    declaresInput: plans.length > 0,
    hasOnlyFields: hasFields(query) && hasFields(body) && !needsReading(param),
    query,
    body,
    param: needsReading(param) ? param : undefined,
  };
}

function hasFields(plan: SourcePlan | undefined): boolean {
  return plan === undefined || plan.kind === 'fields';
}

/** Whether a path parameter has a type other than `String`, and no pipe that reads it. */
function needsReading(plan: SourcePlan | undefined): boolean {
  if (plan?.kind === 'unchecked') return plan.dto !== undefined;
  if (plan?.kind !== 'named') return plan !== undefined;
  return plan.parameters.some(({ type }) => type !== undefined && type !== String);
}

function planSource(
  source: ParameterSource,
  parameters: readonly HandlerParameter[],
  outerPipes: readonly unknown[],
): SourcePlan {
  const [whole, second] = parameters.filter(({ name }) => name === undefined);
  if (!whole) {
    const named = parameters.map((parameter) => planNamed(parameter, outerPipes));
    return { kind: 'named', parameters: named };
  }
  if (second && second.type !== whole.type) {
    throw new Error(
      `takes the whole ${source} twice, as ${nameOf(whole)} and as ${nameOf(second)}. Combine the classes with IntersectionType.`,
    );
  }
  return planWhole(whole, outerPipes);
}

function planWhole(parameter: HandlerParameter, outerPipes: readonly unknown[]): SourcePlan {
  const { type } = parameter;
  const pipes = [...parameter.pipes, ...outerPipes];
  const isPiped = parameter.pipes.length > 0;
  if (type === undefined || UNCHECKED.includes(type)) {
    return { kind: 'unchecked', isArray: type === Array, isPiped };
  }
  if (!isReadable(type)) {
    if (pipes.length === 0) throw unreadable(parameter);
    return { kind: 'unchecked', isArray: false, isPiped };
  }
  if (parameter.source !== 'body') assertTextual(parameter, type);
  if (!hasPlainProperties(type)) return { kind: 'fields', dto: type };
  if (!pipes.some(isValidationPipe)) return { kind: 'class', dto: type };
  return { kind: 'unchecked', dto: type, isArray: false, isPiped: true };
}

/** @throws Error if a DTO of a query or a path has fields whose values have no text */
function assertTextual(parameter: HandlerParameter, dto: Type<object>): void {
  const names = fieldsOf(dto)
    .filter(holdsObjects)
    .map(({ name }) => name);
  if (names.length === 0) return;
  throw new Error(
    `takes ${decoratorOf(parameter)} as ${dto.name}, whose fields ${names.join(', ')} hold objects, which text cannot express. Declare fields for the properties of the objects instead.`,
  );
}

function planNamed(parameter: HandlerParameter, outerPipes: readonly unknown[]): NamedParameter {
  const { source, name = '', type, pipes } = parameter;
  const isPiped = pipes.length > 0 || outerPipes.some(isValidationPipe);
  if (isPiped) return { name, type: undefined, isPiped };
  if (type && !isSimple(type) && !isReadable(type)) {
    throw unreadable(parameter);
  }
  if (source !== 'body' && type && !isSimple(type)) {
    throw new Error(
      `takes ${decoratorOf(parameter)} as ${type.name}, but its value is a string. Give the parameter a pipe that parses it.`,
    );
  }
  return { name, type: type === (Object as unknown) ? undefined : type, isPiped };
}

/** Whether a type is a primitive type, `Object` or `Array`. */
function isSimple(type: Type<object>): boolean {
  return UNCHECKED.includes(type) || PRIMITIVES.includes(type);
}

function unreadable(parameter: HandlerParameter): Error {
  return new Error(
    `takes ${decoratorOf(parameter)} as ${nameOf(parameter)}, which declares no property to read. Declare its properties with fields such as @Text() or rules such as @IsString(), give the parameter a pipe, or take a Record<string, unknown>.`,
  );
}

/** For example `@Query('name')`. */
function decoratorOf({ source, name }: HandlerParameter): string {
  const decorator = source.charAt(0).toUpperCase() + source.slice(1);
  return `@${decorator}(${name === undefined ? '' : `'${name}'`})`;
}

function nameOf({ type }: HandlerParameter): string {
  return type?.name ?? 'any value';
}

function isValidationPipe(pipe: unknown): boolean {
  if (pipe instanceof ValidationPipe || pipe === ValidationPipe) return true;
  return typeof pipe === 'function' && pipe.prototype instanceof ValidationPipe;
}
