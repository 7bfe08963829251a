import { type ArgumentMetadata, type PipeTransform, type Type, UsePipes } from '@nestjs/common';
import { enhancersOf, type HandlerParameter, parametersOf } from '../discovery/nest-internals.js';
import { ApiError, validationError } from '../errors/api-error.js';
import { BODY, QUERY, type ReadOptions } from '../fields/input/read-input.js';
import { isObject } from '../fields/kinds/json-object.js';
import { readClass } from './read-class.js';
import { isDescriptive } from '../http/routes/input-plan.js';
import type { RoutePlan } from '../http/routes/route-plan.js';
import { isOutOfRange } from '../fields/input/json-number.js';

/**
 * Reads the parameters of a team's handler by their types: classes with rules of class-validator, and strings, numbers,
 * booleans and arrays, such as `@Query('page') page: number`. `InputGuard` has only parsed them.
 */
export class ParameterPipe implements PipeTransform {
  /**
   * @param parameters those that it reads; the others stay as they are
   * @param takesForms whether the body can be a form, whose values are text
   */
  constructor(
    private readonly parameters: readonly HandlerParameter[],
    private readonly takesForms: boolean,
  ) {}

  /** @throws ApiError `validation_error`; `unsupported_media_type` if no interceptor has parsed a form */
  transform(value: unknown, { type: source, data: name, metatype }: ArgumentMetadata): unknown {
    const isOwn = this.parameters.some((one) => one.source === source && one.name === name);
    if (!isOwn || !metatype) return value;
    const isText = source !== 'body' || this.takesForms;
    const whole = source === 'param' ? 'path' : source;
    const rule = RULES.get(metatype);
    if (rule === undefined) {
      const wording = { ...(source === 'body' ? BODY : QUERY), whole };
      const dto = metatype as Type<object>;
      const encoding = isText ? 'text' : 'json';
      const ignoresEmpty = source === 'query' && name === undefined;
      return readObject(dto, value, name, { encoding, wording, ignoresEmpty });
    }
    if (value === undefined || value === null) return value;
    const read = isText ? fromText(metatype, value) : value;
    // `Object()` turns a primitive value into an instance of its class, such as `String`.
    if (Object(read) instanceof metatype && !Number.isNaN(read)) return read;
    throw validationError([{ field: name ?? whole, message: rule }]);
  }
}

/** What a value must be, by the type of the parameter. Other types are classes. */
const RULES: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [String, 'must be a string'],
  [Number, 'must be a number'],
  [Boolean, 'must be true or false'],
  [Array, 'must be an array'],
]);

const NUMBER = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Converts a text to a type. Returns other values, and text that is not of the type, unchanged. */
function fromText(type: unknown, value: unknown): unknown {
  if (type === Array) return [value].flat();
  if (typeof value !== 'string') return value;
  if (type === Boolean && ['true', 'false'].includes(value)) return value === 'true';
  const isNumber = type === Number && NUMBER.test(value) && !isOutOfRange(value.replace(/^-/, ''));
  return isNumber ? Number(value) : value;
}

/** Reads an object into its class. Like `ValidationPipe`, it validates a missing part as an empty object. */
async function readObject(
  dto: Type<object>,
  value: unknown,
  name: string | undefined,
  options: Required<ReadOptions>,
): Promise<unknown> {
  // `InputGuard` or a `ValidationPipe` of the team has read it.
  if (value instanceof dto) return value;
  if (name === undefined && value === undefined) throw new ApiError('unsupported_media_type');
  const object = value ?? {};
  const { whole } = options.wording;
  if (!isObject(object)) {
    throw validationError([{ field: name ?? whole, message: 'must be an object' }]);
  }
  const { value: instance, problems } = await readClass(dto, object, [], options);
  if (problems.length === 0) return value === object ? instance : value;
  const error = validationError(problems);
  throw name === undefined ? error : error.within(name);
}

/**
 * Binds the pipe to a handler with parameters that it reads. Must be called before Nest registers the routes.
 * @param parsesForms whether an interceptor can set a form as the body
 */
export function bindParameterPipe(plan: RoutePlan, parsesForms: boolean): void {
  const { controller, name, handler, input } = plan;
  const parameters = parametersOf(controller, name).filter(
    ({ type, pipes }) => isDescriptive(type) && pipes.length === 0,
  );
  const isBound = enhancersOf('pipes', handler).some((pipe) => pipe instanceof ParameterPipe);
  if (!input || parameters.length === 0 || isBound) return;
  const pipe = new ParameterPipe(parameters, parsesForms);
  UsePipes(pipe)(controller.prototype as object, name, { value: handler });
}
