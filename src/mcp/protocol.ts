import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  type InitializeRequest,
  InitializeRequestSchema,
  type JSONRPCMessage,
  type JSONRPCRequest,
  ListToolsRequestSchema,
  type Request as RpcRequest,
  type ServerResult,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { VERSION } from '../config/version.js';
import { fieldLabel, type FieldProblem } from '../errors/field-problem.js';
import type { ToolListing } from './tool-schema.js';
import type { ToolResult } from './tool-result.js';

const SERVER_INFO = { name: 'latitude', title: 'Latitude', version: VERSION };

const OPTIONS = {
  capabilities: { tools: { listChanged: true } },
  // One for all servers: each would make its own.
  jsonSchemaValidator: new AjvJsonSchemaValidator(),
};

/** What a caller can do in a session. */
export interface Tools {
  list(): ToolListing[];
  /** @returns undefined where there is no such tool */
  call(name: string, args: Record<string, unknown>): Promise<ToolResult | undefined>;
}

/** The revisions of the protocol that have sessions, the newest first. */
export const REVISIONS: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS;

/**
 * Answers requests by a server and a transport of their own: nothing of one caller can reach
 * another, and a session costs no more than its record.
 */
export async function answer(
  requests: readonly JSONRPCRequest[],
  tools: Tools,
): Promise<readonly JSONRPCMessage[]> {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the high-level one keeps fifteen times as much
  const server = new Server(SERVER_INFO, OPTIONS);
  // Handlers that are set by schema answer -32603 to parameters that are not valid.
  server.fallbackRequestHandler = (request) => handle(request, tools);
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
    for (const request of this.requests) this.onmessage?.(request);
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

/** What a JSON-RPC request is refused with; the SDK's own repeats the code in its message. */
class RpcError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
  ) {
    super(message);
  }
}

async function handle(request: RpcRequest, tools: Tools): Promise<ServerResult> {
  switch (request.method) {
    case 'tools/list':
      check(ListToolsRequestSchema, request);
      return { tools: tools.list() } as unknown as ServerResult;
    case 'tools/call':
      check(CallToolRequestSchema, request);
      return callTool(request.params as { name: string; arguments?: object }, tools);
    default:
      throw new RpcError(ErrorCode.MethodNotFound, 'Method not found');
  }
}

async function callTool(
  { name, arguments: args = {} }: { name: string; arguments?: object },
  tools: Tools,
): Promise<ServerResult> {
  const result = await tools.call(name, args as Record<string, unknown>);
  if (result) return result;
  throw new RpcError(ErrorCode.InvalidParams, `Unknown tool: ${fieldLabel(name, '')}`);
}

function check(
  schema: typeof ListToolsRequestSchema | typeof CallToolRequestSchema,
  request: RpcRequest,
): void {
  const { error } = schema.safeParse(request);
  if (!error) return;
  const problems = error.issues.map(toProblem).map(({ field, message }) => `${field} ${message}`);
  throw new RpcError(ErrorCode.InvalidParams, problems.join('; '));
}

function toProblem({ path, message }: { path: PropertyKey[]; message: string }): FieldProblem {
  return { field: fieldLabel(path.join('.'), 'params'), message: `is not valid: ${message}` };
}
