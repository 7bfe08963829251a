import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  type InitializeRequest,
  InitializeRequestSchema,
  type JSONRPCMessage,
  type JSONRPCRequest,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  type Request as RpcRequest,
  type ServerResult,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { VERSION } from '../config/version.js';
import { ApiError } from '../errors/api-error.js';
import { fieldLabel, type FieldProblem } from '../errors/field-problem.js';
import type { ResourceContents, ResourceTemplate } from './resources.js';
import type { ToolListing } from './tool-schema.js';
import type { ToolResult } from './tool-result.js';

const SERVER_INFO = { name: 'latitude', title: 'Latitude', version: VERSION };

const OPTIONS = {
  capabilities: { tools: { listChanged: true }, resources: {} },
  // One for all servers: each would make its own.
  jsonSchemaValidator: new AjvJsonSchemaValidator(),
};

/** The revisions of the protocol that have sessions, the newest first. */
export const REVISIONS: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS;

/** JSON-RPC codes that the protocol gives, and leaves, to servers. */
const RESOURCE_NOT_FOUND = -32002;
const SERVER_ERROR = -32000;

/** What a caller can do in a session. */
export interface Abilities {
  tools(): ToolListing[];
  /** @returns undefined where there is no such tool */
  call(name: string, args: Record<string, unknown>): Promise<ToolResult | undefined>;
  templates(): ResourceTemplate[];
  /** @throws ApiError */
  read(uri: string): Promise<ResourceContents>;
}

/**
 * Answers requests by a server and a transport of their own: nothing of one caller can reach
 * another, and a session costs no more than its record.
 */
export async function answer(
  requests: readonly JSONRPCRequest[],
  abilities: Abilities,
): Promise<readonly JSONRPCMessage[]> {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the high-level one keeps fifteen times as much
  const server = new Server(SERVER_INFO, OPTIONS);
  // Handlers that are set by schema answer -32603 to parameters that are not valid.
  server.fallbackRequestHandler = (request) => handle(request, abilities);
  const exchange = new Exchange(requests);
  await server.connect(exchange);
  const answers = await exchange.answers;
  await server.close();
  return answers;
}

/** What is wrong with the parameters of `initialize`, if it is one. */
export function initializeProblems(request: JSONRPCRequest): FieldProblem[] {
  const { error } = InitializeRequestSchema.safeParse(request);
  return (error?.issues ?? []).map(toProblem);
}

/** The revision that an answer to `initialize` agrees on. */
export function agreedRevision(answer: JSONRPCMessage | undefined): string | undefined {
  const result = answer && 'result' in answer ? answer.result : {};
  return (result as Partial<InitializeRequest['params']>).protocolVersion;
}

/** A connection that brings some requests and takes their answers. */
class Exchange implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  readonly answers: Promise<readonly JSONRPCMessage[]>;
  private readonly taken: JSONRPCMessage[] = [];
  private finish: (answers: readonly JSONRPCMessage[]) => void = () => undefined;

  constructor(private readonly requests: readonly JSONRPCRequest[]) {
    this.answers = new Promise((resolve) => (this.finish = resolve));
  }

  start(): Promise<void> {
    for (const request of this.requests) this.onmessage?.(withoutTask(request));
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.taken.push(message);
    if (this.taken.length === this.requests.length) this.finish(this.taken);
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.onclose?.();
    return Promise.resolve();
  }
}

/** Tasks are not offered, so that a request to make one is an ordinary one. */
function withoutTask(request: JSONRPCRequest): JSONRPCRequest {
  if (request.params?.task === undefined) return request;
  const { task, ...params } = request.params;
  return { ...request, params };
}

/** What a JSON-RPC request is refused with; the SDK's own repeats the code in its message. */
class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: object,
  ) {
    super(message);
  }
}

async function handle(request: RpcRequest, abilities: Abilities): Promise<ServerResult> {
  switch (request.method) {
    case 'tools/list':
      check(ListToolsRequestSchema, request);
      return { tools: abilities.tools() } as unknown as ServerResult;
    case 'tools/call':
      check(CallToolRequestSchema, request);
      return callTool(request.params as { name: string; arguments?: object }, abilities);
    case 'resources/list':
      // Records are too many to list here: tools find them, templates tell their addresses.
      check(ListResourcesRequestSchema, request);
      return { resources: [] };
    case 'resources/templates/list':
      check(ListResourceTemplatesRequestSchema, request);
      return { resourceTemplates: abilities.templates() };
    case 'resources/read':
      check(ReadResourceRequestSchema, request);
      return readResource(request.params as { uri: string }, abilities);
    default:
      throw new RpcError(ErrorCode.MethodNotFound, 'Method not found');
  }
}

async function callTool(
  { name, arguments: args = {} }: { name: string; arguments?: object },
  abilities: Abilities,
): Promise<ServerResult> {
  const result = await abilities.call(name, args as Record<string, unknown>);
  if (result) return result;
  throw new RpcError(ErrorCode.InvalidParams, `Unknown tool: ${fieldLabel(name, '')}`);
}

async function readResource({ uri }: { uri: string }, abilities: Abilities): Promise<ServerResult> {
  try {
    return { contents: [{ ...(await abilities.read(uri)) }] };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message, retryable } = error;
    const rpcCode = code === 'not_found' ? RESOURCE_NOT_FOUND : SERVER_ERROR;
    throw new RpcError(rpcCode, `${code}: ${message}`, { uri, code, message, retryable });
  }
}

function check(schema: ZodLike, request: RpcRequest): void {
  const { error } = schema.safeParse(request);
  if (!error) return;
  const problems = error.issues.map(toProblem).map(({ field, message }) => `${field} ${message}`);
  throw new RpcError(ErrorCode.InvalidParams, problems.join('; '));
}

/** As much of a schema as is needed to check by it. */
interface ZodLike {
  safeParse(value: unknown): { error?: { issues: { path: PropertyKey[]; message: string }[] } };
}

function toProblem({ path, message }: { path: PropertyKey[]; message: string }): FieldProblem {
  return { field: fieldLabel(path.join('.'), 'params'), message: `is not valid: ${message}` };
}
