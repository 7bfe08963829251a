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
import { type MaybePromise, mapMaybePromise } from '../../maybe-promise.js';
import type { ApiRequest } from './api-request.js';
import { isJsonContentType } from './content-type.js';
import type { InputPlan, SourcePlan } from '../routes/input-plan.js';
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

/** The input of one source, and the value from which it was read. */
interface SourceInput extends Input<unknown> {
  readonly raw: unknown;
}

/**
 * Replaces the inputs of a request by those that the handler declares: instances of DTOs, and values of the declared
 * types. It returns no promise if there is neither a body nor a class with rules of class-validator.
 * @param bodyLimit maximum size of the body in bytes
 * @throws ApiError `payload_too_large`, `unsupported_media_type`, or `validation_error` that names
 *   every failing field of all sources
 */
export function bindInput(
  request: ApiRequest,
  plan: InputPlan,
  bodyLimit: number,
): MaybePromise<void> {
  return mapMaybePromise(readQuery(request, plan.query, plan.isStrict), (query) => {
    request.query = query.value as ApiRequest['query'];
    if (!plan.param) return bindBody(request, plan, bodyLimit, query);
    const { params } = request;
    return mapMaybePromise(readValues(plan.param, params, [], PATH_SOURCE, false), (path) => {
      request.params = path.value as ApiRequest['params'];
      const problems = [...query.problems, ...path.problems];
      return bindBody(request, plan, bodyLimit, { raw: query.raw, problems });
    });
  });
}

function bindBody(
  request: ApiRequest,
  plan: InputPlan,
  bodyLimit: number,
  { raw, problems }: Pick<SourceInput, 'raw' | 'problems'>,
): MaybePromise<void> {
  const { body: source, hasOnlyFields, isStrict } = plan;
  if (!hasOnlyFields) request.state.rawInput = [raw, null];
  if (!source) {
    if (isStrict) return bindNoBody(request, plan, bodyLimit, problems);
    throwIfAny(problems);
    return;
  }
  return readJsonBytes(request, bodyLimit).then(async (bytes) => {
    const body = await readBody(bytes, source, isStrict);
    throwIfAny([...problems, ...body.problems]);
    request.body = body.value;
    if (!hasOnlyFields) request.state.rawInput = [raw, body.raw];
  });
}

function bindNoBody(
  request: ApiRequest,
  { takesNoBody }: InputPlan,
  bodyLimit: number,
  problems: readonly FieldProblem[],
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
  return (await readBody(bytes, { kind: 'fields', dto: NoFieldsDto }, true)).problems;
}

/** Shared by all requests without a query, therefore frozen. */
const EMPTY_QUERY: SourceInput = { value: Object.freeze({}), raw: {}, problems: [] };

const QUERY_SOURCE: Source = { encoding: 'text', wording: QUERY };
const PATH_SOURCE: Source = { encoding: 'text', wording: { ...QUERY, whole: 'path' } };
const BODY_SOURCE: Source = { encoding: 'json', wording: BODY };

function readQuery(
  request: ApiRequest,
  plan: SourcePlan | undefined,
  isStrict: boolean,
): MaybePromise<SourceInput> {
  if (!plan) {
    const problems = isStrict ? findUnexpectedParameters(request) : [];
    return problems.length === 0 ? EMPTY_QUERY : { value: {}, raw: {}, problems };
  }
  const { values, problems } = parseQueryString(queryStringOf(request), (name) =>
    mayRepeat(plan, name),
  );
  if (plan.kind === 'fields') {
    return { ...readParameters(plan.dto, values, problems, { encoding: 'text' }), raw: values };
  }
  const raw = { ...values };
  const input =
    plan.kind === 'class'
      ? readClassParameters(plan.dto, raw, problems)
      : readValues(plan, raw, problems, QUERY_SOURCE, isStrict);
  return mapMaybePromise(input, (read) => ({ ...read, raw }));
}

function mayRepeat(plan: SourcePlan, name: string): boolean {
  if (plan.kind === 'named') return true;
  return plan.kind === 'unchecked' ? plan.isPiped : isRepeatable(plan.dto, name);
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
  const isStrict = request.state.plan?.input?.isStrict ?? false;
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
  if (plan.kind === 'fields') return readInput(plan.dto, raw, unread, source);
  if (plan.kind === 'class') return readIntoClass(plan.dto, raw, unread, source);
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
