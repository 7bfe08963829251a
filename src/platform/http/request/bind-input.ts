import type { Type } from '@nestjs/common';
import { ApiError, validationError } from '../../errors/api-error.js';
import type { FieldProblem } from '../../errors/field-problem.js';
import { isObject } from '../../fields/kinds/json-object.js';
import { readIntoClass } from '../../fields/input/read-into-class.js';
import {
  BODY,
  type Input,
  mergeProblems,
  readFieldsOnly,
  readInput,
} from '../../fields/input/read-input.js';
import {
  isRepeatable,
  QUERY,
  readClassParameters,
  readParameters,
} from '../../fields/input/read-parameters.js';
import { type MaybePromise } from '../../maybe-promise.js';
import type { ApiRequest } from './api-request.js';
import { isJsonContentType } from './content-type.js';
import type { InputPlan, SourcePlan } from './input-plan.js';
import { readNamed, type Source, type Values } from './named-parameters.js';
import { parseQueryString } from './query-string.js';
import {
  allowsBody,
  checkUnexpectedBody,
  findUnexpectedParameters,
  mayHaveBody,
  queryStringOf,
  readBytes,
  readJsonBytes,
} from './request-reader.js';
import { parseJson } from './strict-json.js';

interface BindOptions {
  /** Maximum size of the body in bytes. */
  readonly bodyLimit: number;
  /** Whether inputs that the handler does not declare are problems. */
  readonly isStrict: boolean;
  /** Whether a method that allows a body takes no fields. */
  readonly takesNoBody: boolean;
}

/** The input of one source, and the value from which it was read. */
interface SourceInput extends Input<unknown> {
  readonly raw: unknown;
}

/**
 * Replaces the inputs of a request by those that the handler declares: instances of DTOs, and values
 * of the declared types.
 * @throws ApiError `payload_too_large`, `unsupported_media_type`, or `validation_error` that names
 *   every failing field of all sources
 */
export function bindInput(
  request: ApiRequest,
  plan: InputPlan,
  options: BindOptions,
): MaybePromise<void> {
  const { fields } = plan;
  return fields && options.isStrict
    ? bindFields(request, fields.query, fields.body, options)
    : bindAll(request, plan, options);
}

/** The fast path: DTOs whose properties are all fields. Without a declared or sent body, it returns no promise. */
function bindFields(
  request: ApiRequest,
  queryDto: Type<object> | undefined,
  bodyDto: Type<object> | undefined,
  options: BindOptions,
): MaybePromise<void> {
  const query = readFieldsOfQuery(request, queryDto);
  request.query = query.value as ApiRequest['query'];
  if (!bodyDto) return bindNoBody(request, query.problems, options);
  return readJsonBytes(request, options.bodyLimit).then((bytes) => {
    const body = readFieldsOfBody(bodyDto, bytes);
    throwIfAny([...query.problems, ...body.problems]);
    request.body = body.value;
  });
}

function bindNoBody(
  request: ApiRequest,
  problems: readonly FieldProblem[],
  { bodyLimit, takesNoBody }: BindOptions,
): MaybePromise<void> {
  const mayBeAnything = allowsBody(request) && !takesNoBody;
  if (mayBeAnything || !mayHaveBody(request)) {
    throwIfAny(problems);
    return;
  }
  const checked = allowsBody(request)
    ? findUnexpectedFields(request, bodyLimit)
    : checkUnexpectedBody(request, bodyLimit);
  return checked.then((ofBody) => {
    throwIfAny([...problems, ...ofBody]);
  });
}

class NoFieldsDto {}

/** Returns a problem for each field of a body that has none. */
async function findUnexpectedFields(
  request: ApiRequest,
  limit: number,
): Promise<readonly FieldProblem[]> {
  // Zero bytes are no body, with any content type.
  const bytes = await readBytes(request, limit);
  if (bytes.length === 0) return [];
  if (!isJsonContentType(request.headers['content-type'])) {
    throw new ApiError('unsupported_media_type');
  }
  return readFieldsOfBody(NoFieldsDto, bytes).problems;
}

function readFieldsOfBody(dto: Type<object>, bytes: Buffer): Input<object> {
  const { value, problems } = parseJson(bytes);
  return isObject(value) ? readInput(dto, value, problems) : notAnObject(problems);
}

/** Shared by all requests without a query, therefore frozen. */
const EMPTY_QUERY: Input<object> = { value: Object.freeze({}), problems: [] };

function readFieldsOfQuery(request: ApiRequest, dto: Type<object> | undefined): Input<object> {
  if (!dto) {
    const problems = findUnexpectedParameters(request);
    return problems.length === 0 ? EMPTY_QUERY : { value: {}, problems };
  }
  const { values, problems } = parseQueryString(queryStringOf(request), (name) =>
    isRepeatable(dto, name),
  );
  return readParameters(dto, values, problems, { encoding: 'text' });
}

/** Reads what the handler declares, of every kind. */
async function bindAll(request: ApiRequest, plan: InputPlan, options: BindOptions): Promise<void> {
  const { bodyLimit, isStrict } = options;
  const query = await readQuery(request, plan.query, isStrict);
  const param = await readPathParameters(request, plan.param);
  const problems = [...query.problems, ...param.problems];
  request.query = query.value as ApiRequest['query'];
  request.params = param.value as ApiRequest['params'];
  if (!plan.body) {
    request.state.rawInput = [query.raw, null];
    if (isStrict) await bindNoBody(request, problems, options);
    else throwIfAny(problems);
    return;
  }
  const body = await readBody(await readJsonBytes(request, bodyLimit), plan.body, isStrict);
  throwIfAny([...problems, ...body.problems]);
  request.body = body.value;
  request.state.rawInput = [query.raw, body.raw];
}

const QUERY_SOURCE: Source = { encoding: 'text', wording: QUERY };
const PATH_SOURCE: Source = { encoding: 'text', wording: { ...QUERY, whole: 'path' } };
const BODY_SOURCE: Source = { encoding: 'json', wording: BODY };

async function readQuery(
  request: ApiRequest,
  plan: SourcePlan | undefined,
  isStrict: boolean,
): Promise<SourceInput> {
  if (!plan)
    return { value: {}, raw: {}, problems: isStrict ? findUnexpectedParameters(request) : [] };
  const parsed = parseQueryString(queryStringOf(request), (name) => mayRepeat(plan, name));
  const raw = { ...parsed.values };
  const input =
    plan.kind === 'class'
      ? await readClassParameters(plan.dto, raw, parsed.problems)
      : plan.kind === 'fields'
        ? readParameters(plan.dto, raw, parsed.problems, { encoding: 'text' })
        : await readValues(plan, raw, parsed.problems, QUERY_SOURCE, isStrict);
  return { ...input, raw };
}

function mayRepeat(plan: SourcePlan, name: string): boolean {
  if (plan.kind === 'named') return true;
  return plan.kind === 'unchecked' ? plan.isPiped : isRepeatable(plan.dto, name);
}

async function readPathParameters(
  { params }: ApiRequest,
  plan: SourcePlan | undefined,
): Promise<Input<unknown>> {
  return plan ? readValues(plan, params, [], PATH_SOURCE, false) : { value: params, problems: [] };
}

async function readBody(bytes: Buffer, plan: SourcePlan, isStrict: boolean): Promise<SourceInput> {
  const isEmpty = bytes.length === 0 && plan.kind === 'named';
  const { value: raw, problems } = isEmpty ? { value: {}, problems: [] } : parseJson(bytes);
  if (plan.kind === 'unchecked' && !plan.dto && Array.isArray(raw))
    return { value: raw, raw, problems };
  if (plan.kind === 'unchecked' && plan.isArray) return { ...notAnObject(problems, 'array'), raw };
  if (!isObject(raw)) return { ...notAnObject(problems), raw };
  return { ...(await readValues(plan, raw, problems, BODY_SOURCE, isStrict)), raw };
}

const FORM_SOURCE: Source = { encoding: 'text', wording: BODY };

/**
 * Replaces the fields of a form, which an interceptor has parsed, by what the handler declares.
 * @throws ApiError `validation_error`; `unsupported_media_type` if no interceptor has parsed the form
 */
export async function bindForm(request: ApiRequest, plan: SourcePlan): Promise<void> {
  const form: unknown = request.body;
  if (!isObject(form)) throw new ApiError('unsupported_media_type');
  const raw = { ...form };
  const isStrict = request.state.hasEnvelope;
  const { value, problems } = await readValues(plan, raw, [], FORM_SOURCE, isStrict);
  throwIfAny(problems);
  request.body = value;
}

function readValues(
  plan: SourcePlan,
  raw: Values,
  unread: readonly FieldProblem[],
  source: Source,
  isStrict: boolean,
): MaybePromise<Input<unknown>> {
  if (plan.kind === 'named') return readNamed(plan.parameters, raw, unread, source, isStrict);
  if (plan.kind !== 'unchecked') return readIntoClass(plan.dto, raw, unread, source);
  if (!plan.dto) return { value: raw, problems: unread };
  const { value, problems } = readFieldsOnly(plan.dto, raw, source.encoding);
  return { value, problems: mergeProblems(unread, [...problems]) };
}

function notAnObject(
  problems: readonly FieldProblem[],
  wanted: 'object' | 'array' = 'object',
): Input<object> {
  const problem = { field: 'body', message: `must be a JSON ${wanted}` };
  return { value: {}, problems: problems.length > 0 ? problems : [problem] };
}

function throwIfAny(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw validationError(problems);
}
