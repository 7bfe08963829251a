import {
  type JSONRPCRequest,
  ProtocolErrorCode,
  type SpecTypeName,
  specTypeSchemas,
  type StandardSchemaV1Sync,
} from '@modelcontextprotocol/server';
import { ApiError } from '../../../platform/errors/api-error.js';
import { fieldLabel, type FieldProblem } from '../../../platform/errors/field-problem.js';
import type { CompletionReference, CompletionArgument } from '../prompts/completion.service.js';
import { canonicalUriOf, contentsOf } from '../resources/resource-registry.js';
import { MAX_SUBSCRIPTIONS } from '../sessions/subscriptions.js';
import { IDEMPOTENCY_KEY_META } from '../tools/idempotent-calls.js';
import type { McpOperations } from './request-operations.js';

/** A JSON-RPC error. The error classes of the SDKs cannot be used: they repeat the code in the message. */
class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: object,
  ) {
    super(message);
  }
}

type Params = Readonly<Record<string, unknown>>;
type Result = Record<string, unknown>;

interface Method {
  /** The name of the SDK schema for the request. */
  readonly type: SpecTypeName;
  readonly answer: (params: Params, operations: McpOperations) => Result | Promise<Result>;
}

/** The methods of all protocol versions. The SDKs reject methods that a version does not have. */
const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['tools/list', { type: 'ListToolsRequest', answer: listTools }],
  ['tools/call', { type: 'CallToolRequest', answer: callTool }],
  ['resources/list', { type: 'ListResourcesRequest', answer: listResources }],
  ['resources/templates/list', { type: 'ListResourceTemplatesRequest', answer: listTemplates }],
  ['resources/read', { type: 'ReadResourceRequest', answer: readResource }],
  ['resources/subscribe', { type: 'SubscribeRequest', answer: subscribe }],
  ['resources/unsubscribe', { type: 'UnsubscribeRequest', answer: unsubscribe }],
  ['prompts/list', { type: 'ListPromptsRequest', answer: listPrompts }],
  ['prompts/get', { type: 'GetPromptRequest', answer: getPrompt }],
  ['completion/complete', { type: 'CompleteRequest', answer: complete }],
]);

export function isSupportedMethod(method: string): boolean {
  return METHODS.has(method);
}

/**
 * Validates a request and runs its method.
 * @param rpcCodeOf maps an API error to the JSON-RPC code of the protocol version
 * @returns the result of the method
 * @throws RpcError
 */
export async function handleRequest(
  request: Pick<JSONRPCRequest, 'method' | 'params'>,
  operations: McpOperations,
  rpcCodeOf: (error: ApiError) => number,
): Promise<Result> {
  const method = METHODS.get(request.method);
  if (!method) throw new RpcError(ProtocolErrorCode.MethodNotFound, 'Method not found');
  const problems = schemaProblemsOf(request, method.type);
  if (problems.length > 0) {
    const messages = problems.map(({ field, message }) => `${field} ${message}`);
    throw new RpcError(ProtocolErrorCode.InvalidParams, messages.join('; '));
  }
  const { params = {} } = request;
  try {
    return await method.answer(params, operations);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message, retryable, details, headers } = error;
    const retryAfter = headers['Retry-After'];
    const data = {
      ...{ uri: params.uri, code, message, retryable, details },
      ...(retryAfter !== undefined && { retry_after_seconds: Number(retryAfter) }),
    };
    const isInvalid = code === 'validation_error';
    const rpcCode = isInvalid ? ProtocolErrorCode.InvalidParams : rpcCodeOf(error);
    throw new RpcError(rpcCode, `${code}: ${message}`, data);
  }
}

function listTools(_: Params, operations: McpOperations): Result {
  return { tools: operations.listTools() };
}

interface ToolCallParams {
  readonly name: string;
  readonly arguments?: Result;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

async function callTool(params: Params, operations: McpOperations): Promise<Result> {
  const { name, arguments: args = {}, _meta } = params as unknown as ToolCallParams;
  const result = await operations.callTool(name, args, _meta?.[IDEMPOTENCY_KEY_META]);
  return result ?? throwUnknown('tool', name);
}

/** Single records are too many to list. Tools find them, and templates describe their URIs. */
function listResources(_: Params, operations: McpOperations): Result {
  return { resources: operations.listResources() };
}

function listTemplates(_: Params, operations: McpOperations): Result {
  return { resourceTemplates: operations.listResourceTemplates() };
}

async function readResource({ uri }: Params, operations: McpOperations): Promise<Result> {
  return { contents: [{ ...contentsOf(await operations.readResource(uri as string)) }] };
}

async function subscribe({ uri }: Params, operations: McpOperations): Promise<Result> {
  const subscriptions = subscriptionsOf(operations);
  const resource = await operations.readResource(uri as string);
  // Every later change is notified. A read after this response includes every earlier change.
  if (await subscriptions.subscribe(resource)) return {};
  const message = `The limit of ${MAX_SUBSCRIPTIONS} subscriptions is reached: unsubscribe from one first`;
  throw new RpcError(ProtocolErrorCode.InvalidParams, message);
}

async function unsubscribe({ uri }: Params, operations: McpOperations): Promise<Result> {
  await subscriptionsOf(operations).unsubscribe(canonicalUriOf(uri as string));
  return {};
}

function subscriptionsOf({ subscriptions }: McpOperations) {
  if (subscriptions) return subscriptions;
  throw new RpcError(ProtocolErrorCode.MethodNotFound, 'Subscriptions need a session');
}

function listPrompts(_: Params, operations: McpOperations): Result {
  return { prompts: operations.listPrompts() };
}

async function getPrompt(params: Params, operations: McpOperations): Promise<Result> {
  const { name, arguments: args = {} } = params as { name: string; arguments?: object };
  return { ...((await operations.getPrompt(name, args)) ?? throwUnknown('prompt', name)) };
}

async function complete(params: Params, operations: McpOperations): Promise<Result> {
  const { ref, argument } = params as { ref: CompletionReference; argument: CompletionArgument };
  const completion = await operations.complete(ref, argument);
  return { completion: completion ?? throwUnknown('argument or reference', argument.name) };
}

function throwUnknown(kind: string, name: string): never {
  const message = `Unknown ${kind}: ${fieldLabel(name, '')}`;
  throw new RpcError(ProtocolErrorCode.InvalidParams, message);
}

/** Validates a request against an SDK schema. */
export function schemaProblemsOf(request: object, type: SpecTypeName): FieldProblem[] {
  const schema: StandardSchemaV1Sync = specTypeSchemas[type];
  const { issues = [] } = schema['~standard'].validate(request);
  return issues.map(({ path = [], message }) => {
    const field = fieldLabel((path as PropertyKey[]).join('.'), 'params');
    return { field, message: `is not valid: ${message}` };
  });
}
