import {
  type JSONRPCRequest,
  ProtocolErrorCode,
  type SpecTypeName,
  specTypeSchemas,
  type StandardSchemaV1Sync,
} from '@modelcontextprotocol/server';
import type { ApiError } from '../../../platform/errors/api-error.js';
import { fieldLabel, type FieldProblem } from '../../../platform/errors/field-problem.js';
import { toLoggedMcpError } from '../mcp-error.js';
import type { CompletionReference, CompletionArgument } from '../prompts/completion.service.js';
import { canonicalUriOf, contentsOf } from '../resources/resource-registry.js';
import type { Session } from '../sessions/session.js';
import { MAX_SUBSCRIPTIONS } from '../sessions/subscriptions.js';
import { IDEMPOTENCY_KEY_META } from '../tools/idempotent-calls.js';
import { needsTextOnly, textOnly, withoutOutputSchema } from '../tools/result-forms.js';
import { type McpCall, recordCall } from './mcp-call.js';

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
  readonly answer: (params: Params, call: McpCall) => Result | Promise<Result>;
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
  call: McpCall,
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
    return await method.answer(params, call);
  } catch (thrown) {
    if (thrown instanceof RpcError) throw thrown;
    const { state } = call.context.request;
    const error = toLoggedMcpError(thrown, state.requestId);
    state.errorCode = error.code;
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

function listTools(_: Params, { services, context, session }: McpCall): Result {
  const tools = services.tools.listFor(context.call.actor.scopes);
  return { tools: needsTextOnly(session?.clientName) ? tools.map(withoutOutputSchema) : tools };
}

interface ToolCallParams {
  readonly name: string;
  readonly arguments?: Result;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** The problem of a batch with the header `Idempotency-Key`, which is the key of a single call. */
const KEY_OF_BATCH = {
  field: 'Idempotency-Key',
  message: `must not be sent with a batch; use _meta["${IDEMPOTENCY_KEY_META}"] of the call`,
};

async function callTool(
  params: Params,
  { services, context, messages, session }: McpCall,
): Promise<Result> {
  const { name, arguments: args = {}, _meta } = params as unknown as ToolCallParams;
  const { call, request } = context;
  const keyOfRequest = request.get('Idempotency-Key');
  const isKeyOfBatch = messages.isBatch && keyOfRequest !== undefined;
  const outcome = await services.runner.call({
    call,
    name,
    args,
    parseProblems: [...messages.argumentProblems, ...(isKeyOfBatch ? [KEY_OF_BATCH] : [])],
    idempotencyKey: _meta?.[IDEMPOTENCY_KEY_META] ?? keyOfRequest,
    onCounted: (window) => {
      recordCall(context, window);
    },
  });
  if (!outcome) return throwUnknown('tool', name);
  request.state.errorCode = outcome.error?.code;
  return needsTextOnly(session?.clientName) ? textOnly(outcome.result) : outcome.result;
}

/** Single records are too many to list. Tools find them, and templates describe their URIs. */
function listResources(_: Params, { services, context }: McpCall): Result {
  return { resources: services.resources.listsFor(context.call.actor.scopes) };
}

function listTemplates(_: Params, { services, context }: McpCall): Result {
  return { resourceTemplates: services.resources.templatesFor(context.call.actor.scopes) };
}

async function readResource({ uri }: Params, { services, context }: McpCall): Promise<Result> {
  return { contents: [{ ...contentsOf(await services.readResource(uri as string, context)) }] };
}

async function subscribe({ uri }: Params, call: McpCall): Promise<Result> {
  const session = sessionOf(call);
  const resource = await call.services.readResource(uri as string, call.context);
  // Every later change is notified. A read after this response includes every earlier change.
  if (await call.services.subscriptions.add(session, resource)) return {};
  const message = `The limit of ${MAX_SUBSCRIPTIONS} subscriptions is reached: unsubscribe from one first`;
  throw new RpcError(ProtocolErrorCode.InvalidParams, message);
}

async function unsubscribe({ uri }: Params, call: McpCall): Promise<Result> {
  await call.services.subscriptions.remove(sessionOf(call), canonicalUriOf(uri as string));
  return {};
}

function sessionOf({ session }: McpCall): Session {
  if (session) return session;
  throw new RpcError(ProtocolErrorCode.MethodNotFound, 'Subscriptions need a session');
}

function listPrompts(_: Params, { services, context }: McpCall): Result {
  return { prompts: services.prompts.listFor(context.call.actor.scopes) };
}

async function getPrompt(params: Params, { services, context }: McpCall): Promise<Result> {
  const { name, arguments: args = {} } = params as { name: string; arguments?: object };
  const prompt = await services.prompts.get(context.call, name, args);
  return { ...(prompt ?? throwUnknown('prompt', name)) };
}

async function complete(params: Params, { services, context }: McpCall): Promise<Result> {
  const { ref, argument } = params as { ref: CompletionReference; argument: CompletionArgument };
  const completion = await services.completions.complete(context.call, ref, argument);
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
