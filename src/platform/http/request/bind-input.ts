import { ApiError, validationError } from '../../errors/api-error.js';
import type { FieldProblem } from '../../errors/field-problem.js';
import { isObject } from '../../fields/kinds/json-object.js';
import {
  BODY,
  type Input,
  mergeProblems,
  type ProblemWording,
  QUERY,
  QUERY_PARAMETERS,
  readInput,
  unknownNames,
} from '../../fields/input/read-input.js';
import { parseJson } from '../../fields/input/strict-json.js';
import { giveWay } from '../../give-way.js';
import { type MaybePromise, mapMaybePromise } from '../../maybe-promise.js';
import type { ApiRequest } from './api-request.js';
import {
  isJsonContentType,
  allowsBody,
  checkUnexpectedBody,
  LARGE_BYTES,
  mayHaveBody,
  queryStringOf,
  readBytes,
  readJsonBytes,
} from './request-reader.js';
import type { InputPlan, SourcePlan } from '../routes/input-plan.js';
import { parseQueryString } from './query-string.js';

/**
 * Parses the query and the body strictly and sets them on the request: as instances of DTOs whose properties are all
 * fields, otherwise as they were parsed. It returns no promise if there is no body.
 * @param bodyLimit maximum size of the body in bytes
 * @throws ApiError `payload_too_large`, `unsupported_media_type`, or `validation_error` that names
 *   every failing field of both
 */
export function bindInput(
  request: ApiRequest,
  plan: InputPlan,
  bodyLimit: number,
): MaybePromise<void> {
  const turn = queryStringOf(request).length >= LARGE_BYTES ? giveWay() : undefined;
  return mapMaybePromise(turn, () => bind(request, plan, bodyLimit));
}

function bind(request: ApiRequest, plan: InputPlan, bodyLimit: number): MaybePromise<void> {
  const query = readQuery(request, plan);
  request.query = query.value as ApiRequest['query'];
  const { body: source, isStrict } = plan;
  if (!source) {
    return mapMaybePromise(problemsOfNoBody(request, plan, bodyLimit), (ofBody) => {
      throwIfAny([...query.problems, ...ofBody]);
    });
  }
  return readJsonBytes(request, bodyLimit).then((bytes) => {
    const body = readBody(bytes, source, isStrict);
    throwIfAny([...query.problems, ...body.problems]);
    request.body = body.value;
  });
}

/** A source of which the handler takes nothing. */
const NOTHING = { dto: undefined, names: [], mayRepeat: undefined, maxBytesOf: undefined } as const;

const NO_PROBLEMS: readonly FieldProblem[] = [];

/** Checks the body of a handler that declares none. */
function problemsOfNoBody(
  request: ApiRequest,
  { isStrict, takesNoBody }: InputPlan,
  bodyLimit: number,
): MaybePromise<readonly FieldProblem[]> {
  // Without `@NoBody()`, the handler of a POST that declares no body may read it itself, such as a file.
  const mayBeAnything = !isStrict || (allowsBody(request) && !takesNoBody);
  if (mayBeAnything || !mayHaveBody(request)) return NO_PROBLEMS;
  return allowsBody(request)
    ? findUnexpectedFields(request, bodyLimit)
    : checkUnexpectedBody(request, bodyLimit);
}

/** Returns a problem for each field of a body that has none. */
async function findUnexpectedFields(
  request: ApiRequest,
  limit: number,
): Promise<readonly FieldProblem[]> {
  // Zero bytes are no body, with any content type.
  const bytes = await readBytes(request, limit);
  if (bytes.length === 0) return NO_PROBLEMS;
  if (!isJsonContentType(request.headers['content-type'])) {
    throw new ApiError('unsupported_media_type');
  }
  return readBody(bytes, NOTHING, true).problems;
}

/** Shared by all requests of which the handler gets no query, therefore frozen. */
const EMPTY_QUERY: Input<object> = { value: Object.freeze({}), problems: NO_PROBLEMS };

/** Returns a problem for each query parameter of a route that has none. */
export function findUnexpectedParameters(request: ApiRequest): readonly FieldProblem[] {
  return readQuery(request, { query: undefined, isStrict: true }).problems;
}

function readQuery(
  request: ApiRequest,
  { query, isStrict }: Pick<InputPlan, 'query' | 'isStrict'>,
): Input<object> {
  const text = queryStringOf(request);
  if (!query && (text === '' || !isStrict)) return EMPTY_QUERY;
  const { dto, names, mayRepeat, maxBytesOf } = query ?? NOTHING;
  const { values, problems } = parseQueryString(text, mayRepeat, maxBytesOf);
  if (dto) return readInput(dto, values, problems, QUERY_PARAMETERS);
  return {
    value: { ...values },
    problems: withUnknown(problems, values, isStrict && names, QUERY),
  };
}

function readBody(
  bytes: Buffer,
  { dto, names }: Pick<SourcePlan, 'dto' | 'names'>,
  isStrict: boolean,
): Input<unknown> {
  if (bytes.length === 0 && names) return { value: {}, problems: [] };
  const { value, problems } = parseJson(bytes);
  if (isObject(value)) {
    if (dto) return readInput(dto, value, problems);
    return { value, problems: withUnknown(problems, value, isStrict && names, BODY) };
  }
  if (!dto && !names && Array.isArray(value)) return { value, problems };
  const notObject = { field: 'body', message: 'must be a JSON object' };
  return { value, problems: problems.length > 0 ? problems : [notObject] };
}

/** @param names the names that the handler declares; others are problems */
function withUnknown(
  problems: readonly FieldProblem[],
  values: object,
  names: readonly string[] | false | undefined,
  wording: ProblemWording,
): readonly FieldProblem[] {
  return names ? mergeProblems(problems, unknownNames(values, new Set(names), wording)) : problems;
}

/** @throws ApiError `validation_error` if there are problems */
export function throwIfAny(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw validationError(problems);
}
