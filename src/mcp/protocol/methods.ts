import {
  type JSONRPCRequest,
  ProtocolErrorCode,
  type SpecTypeName,
  specTypeSchemas,
  type StandardSchemaV1Sync,
} from '@modelcontextprotocol/server';
import { ApiError } from '../../errors/api-error.js';
import { fieldLabel, type FieldProblem } from '../../errors/field-problem.js';
import type {
  CompletionResult,
  CompletionReference,
  CompletionArgument,
} from '../prompts/completion.service.js';
import type { PromptDefinition, PromptResult } from '../prompts/prompt-registry.js';
import {
  canonicalUriOf,
  contentsOf,
  type ReadResource,
  type ResourceTemplate,
} from '../resources/resource-registry.js';
import type { Session } from '../sessions/session.js';
import { MAX_SUBSCRIPTIONS } from '../subscriptions/subscriptions.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import type { ToolResult } from '../tools/tool-result.js';

/** What a caller can do, whichever revision of the protocol it speaks. */
export interface McpOperations {
  listTools(): ToolDefinition[];
  /** @returns undefined where there is no such tool */
  callTool(name: string, args: Record<string, unknown>): Promise<ToolResult | undefined>;
  listResourceTemplates(): ResourceTemplate[];
  /** @throws ApiError */
  readResource(uri: string): Promise<ReadResource>;
  /** Of the session; without one, the revision has no method that asks for it. */
  readonly subscriptions?: Pick<Session, 'subscribe' | 'unsubscribe'>;
  listPrompts(): PromptDefinition[];
  /**
   * @returns undefined where there is no such prompt
   * @throws ApiError
   */
  getPrompt(name: string, args: object): Promise<PromptResult | undefined>;
  /**
   * @returns undefined where there is nothing of that name to complete
   * @throws ApiError
   */
  complete(
    of: CompletionReference,
    argument: CompletionArgument,
  ): Promise<CompletionResult | undefined>;
}

/** What a JSON-RPC request is refused with; those of the SDKs repeat the code in their messages. */
export class RpcError extends Error {
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
  /** What the protocol calls its request, and knows it by. */
  readonly type: SpecTypeName;
  readonly answer: (params: Params, abilities: McpOperations) => Result | Promise<Result>;
}

/** The methods of all revisions; where one has one of them no more, its SDK knows. */
const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['tools/list', { type: 'ListToolsRequest', answer: listTools }],
  ['tools/call', { type: 'CallToolRequest', answer: callTool }],
  // Records are too many to list here: tools find them, templates tell their addresses.
  ['resources/list', { type: 'ListResourcesRequest', answer: () => ({ resources: [] }) }],
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
 * Answers a request.
 * @param codeOf the code by which the caller's revision tells an error of the API
 * @throws RpcError
 */
export async function handleRequest(
  request: Pick<JSONRPCRequest, 'method' | 'params'>,
  abilities: McpOperations,
  codeOf: (error: ApiError) => number,
): Promise<Result> {
  const method = METHODS.get(request.method);
  if (!method) throw new RpcError(ProtocolErrorCode.MethodNotFound, 'Method not found');
  const problems = schemaProblemsOf(request, method.type);
  if (problems.length > 0) {
    const told = problems.map(({ field, message }) => `${field} ${message}`);
    throw new RpcError(ProtocolErrorCode.InvalidParams, told.join('; '));
  }
  const { params = {} } = request;
  try {
    return await method.answer(params, abilities);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message, retryable, details, headers } = error;
    const wait = headers['Retry-After'];
    const data = {
      ...{ uri: params.uri, code, message, retryable, details },
      ...(wait !== undefined && { retry_after_seconds: Number(wait) }),
    };
    const isOfParameters = code === 'validation_error';
    const rpcCode = isOfParameters ? ProtocolErrorCode.InvalidParams : codeOf(error);
    throw new RpcError(rpcCode, `${code}: ${message}`, data);
  }
}

function listTools(_: Params, abilities: McpOperations): Result {
  return { tools: abilities.listTools() };
}

async function callTool(params: Params, abilities: McpOperations): Promise<Result> {
  const { name, arguments: args = {} } = params as { name: string; arguments?: Result };
  const result = await abilities.callTool(name, args);
  return result ?? unknown('tool', name);
}

function listTemplates(_: Params, abilities: McpOperations): Result {
  return { resourceTemplates: abilities.listResourceTemplates() };
}

async function readResource({ uri }: Params, abilities: McpOperations): Promise<Result> {
  return { contents: [{ ...contentsOf(await abilities.readResource(uri as string)) }] };
}

async function subscribe({ uri }: Params, abilities: McpOperations): Promise<Result> {
  const found = await abilities.readResource(uri as string);
  // From here on every change is told; who reads when this is answered has seen all before.
  if (abilities.subscriptions?.subscribe(found)) return {};
  const message = `There may be ${MAX_SUBSCRIPTIONS} subscriptions: unsubscribe from one first`;
  throw new RpcError(ProtocolErrorCode.InvalidParams, message);
}

function unsubscribe({ uri }: Params, abilities: McpOperations): Result {
  abilities.subscriptions?.unsubscribe(canonicalUriOf(uri as string));
  return {};
}

function listPrompts(_: Params, abilities: McpOperations): Result {
  return { prompts: abilities.listPrompts() };
}

async function getPrompt(params: Params, abilities: McpOperations): Promise<Result> {
  const { name, arguments: args = {} } = params as { name: string; arguments?: object };
  return { ...((await abilities.getPrompt(name, args)) ?? unknown('prompt', name)) };
}

async function complete(params: Params, abilities: McpOperations): Promise<Result> {
  const { ref, argument } = params as { ref: CompletionReference; argument: CompletionArgument };
  const completion = await abilities.complete(ref, argument);
  return { completion: completion ?? unknown('argument or reference', argument.name) };
}

function unknown(kind: string, name: string): never {
  const message = `Unknown ${kind}: ${fieldLabel(name, '')}`;
  throw new RpcError(ProtocolErrorCode.InvalidParams, message);
}

/** What is wrong with the parameters of a request, if it is one of this type. */
export function schemaProblemsOf(request: object, type: SpecTypeName): FieldProblem[] {
  const schema: StandardSchemaV1Sync = specTypeSchemas[type];
  const { issues = [] } = schema['~standard'].validate(request);
  return issues.map(({ path = [], message }) => {
    const field = fieldLabel((path as PropertyKey[]).join('.'), 'params');
    return { field, message: `is not valid: ${message}` };
  });
}
