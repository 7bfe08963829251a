import { isSpecType, type JSONRPCMessage, type JSONRPCRequest } from '@modelcontextprotocol/server';
import { ApiError, validationError } from '../../../platform/errors/api-error.js';
import { giveWay } from '../../../platform/give-way.js';
import type { FieldProblem } from '../../../platform/errors/field-problem.js';
import { isObject } from '../../../platform/fields/kinds/json-object.js';
import type { ApiRequest } from '../../../platform/http/request/api-request.js';
import { readJsonBytes } from '../../../platform/http/request/request-reader.js';
import { parseJson } from '../../../platform/fields/input/strict-json.js';

/** The path of the arguments of a tool call, such as `params.arguments.first_name`. */
const ARGUMENTS = 'params.arguments.';

/** The number of keys in such a path. The maximum depth of JSON counts from there, as in REST from a field. */
const ARGUMENT_DEPTH = 3;

const MAX_BATCH_SIZE = 100;

/** The parsed body of a POST. */
export interface Messages {
  /** The JSON value as it was sent, without parameters that are null. */
  readonly body: unknown;
  /** The number of messages, including notifications and responses. */
  readonly count: number;
  readonly isBatch: boolean;
  readonly requests: readonly JSONRPCRequest[];
  /** Problems in the arguments of a tool call, which the result of the call reports. */
  readonly argumentProblems: readonly FieldProblem[];
  /** Why the body could not be read. An unknown session takes precedence over it. */
  readonly error?: ApiError;
}

/** Reads the body of a POST as JSON-RPC 2.0. */
export async function readMessages(request: ApiRequest, maxBytes: number): Promise<Messages> {
  try {
    return await parseMessages(await readJsonBytes(request, maxBytes));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { body: undefined, count: 1, isBatch: false, requests: [], argumentProblems: [], error };
  }
}

async function parseMessages(bytes: Buffer): Promise<Messages> {
  const { value, problems } = parseJson(bytes, ARGUMENT_DEPTH);
  const isToolCall = isObject(value) && value.method === 'tools/call';
  const ofArguments = isToolCall ? problems.filter(({ field }) => field.startsWith(ARGUMENTS)) : [];
  if (problems.length > ofArguments.length) throw validationError(problems);
  const isBatch = Array.isArray(value);
  const values: readonly unknown[] = isBatch ? value : [value];
  values.forEach(omitNulls);
  if (values.length === 0 || values.length > MAX_BATCH_SIZE) {
    throw validationError([
      { field: 'body', message: `must hold 1 to ${MAX_BATCH_SIZE} messages` },
    ]);
  }
  const requests: JSONRPCRequest[] = [];
  for (const each of values) {
    if (isBatch) await giveWay();
    const message = parseMessage(each);
    if ('method' in message && 'id' in message) requests.push(message);
  }
  return {
    body: value,
    count: values.length,
    isBatch,
    requests,
    argumentProblems: ofArguments.map(({ field, message }) => {
      return { field: field.slice(ARGUMENTS.length), message };
    }),
  };
}

/**
 * Removes what is null from the parameters of a message, where it means the same as absent. The arguments of a tool are kept,
 * because the tool decides what null means there.
 */
function omitNulls(message: unknown): void {
  if (!isObject(message)) return;
  if (message.params === null) delete message.params;
  const { method, params } = message;
  removeNulls(params, method === 'tools/call' && isObject(params) ? params.arguments : undefined);
}

/** Changes the value itself, because a copy loses keys such as `__proto__`. */
function removeNulls(value: unknown, kept: unknown): void {
  if (typeof value !== 'object' || value === null || value === kept) return;
  for (const [name, member] of Object.entries(value)) {
    if (member === null && !Array.isArray(value)) Reflect.deleteProperty(value, name);
    else removeNulls(member, kept);
  }
}

/** Returns the value itself and not a parsed copy, because a copy loses keys such as `__proto__`. */
function parseMessage(value: unknown): JSONRPCMessage {
  if (isSpecType.JSONRPCMessage(value)) return value;
  throw validationError(problemsOf(value));
}

function problemsOf(value: unknown): FieldProblem[] {
  const fallback = { field: 'body', message: 'must be a JSON-RPC 2.0 message' };
  if (!isObject(value)) return [fallback];
  const { jsonrpc, id, method, params } = value;
  const isId = typeof id === 'string' || Number.isSafeInteger(id);
  const isAnswer = 'result' in value || 'error' in value;
  const found: readonly (FieldProblem | false)[] = [
    jsonrpc !== '2.0' && { field: 'jsonrpc', message: 'must be "2.0"' },
    'id' in value && !isId && { field: 'id', message: 'must be a string or an integer' },
    !isAnswer && typeof method !== 'string' && { field: 'method', message: 'must be a string' },
    params !== undefined && !isObject(params) && { field: 'params', message: 'must be an object' },
  ];
  const problems = found.filter((problem) => problem !== false);
  return problems.length > 0 ? problems : [fallback];
}
