import {
  classifyInboundRequest,
  createMcpHandler,
  isJSONRPCRequest,
  type JSONRPCRequest,
  type McpHttpHandler,
  ProtocolErrorCode,
  Server,
  type ServerOptions,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { ApiError } from '../../errors/api-error.js';
import { CAPABILITIES, FULL_SERVER_INFO, INSTRUCTIONS, SERVER_INFO } from './server-info.js';
import { type McpOperations, isSupportedMethod, handleRequest } from './methods.js';

/** The revision of the protocol in which every request stands for itself. */
const STATELESS_PROTOCOL_VERSION = '2026-07-28';

/** The SDK wants one, and does not look at it. */
const REQUEST_URL = 'http://localhost/mcp';

/** What a message says must stand in these headers too. */
const MIRRORED_HEADERS = ['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'];

/** What a key may list changes with a release, not from one minute to the next. */
const LIST_HINT = { ttlMs: 300_000, cacheScope: 'private' } as const;
const CACHE_HINTS: NonNullable<ServerOptions['cacheHints']> = {
  'server/discover': { ...LIST_HINT, cacheScope: 'public' },
  'tools/list': LIST_HINT,
  'prompts/list': LIST_HINT,
  'resources/list': LIST_HINT,
  'resources/templates/list': LIST_HINT,
};

const OPTIONS: ServerOptions = {
  capabilities: CAPABILITIES,
  instructions: INSTRUCTIONS,
  cacheHints: CACHE_HINTS,
  // One for all servers: each would make its own.
  jsonSchemaValidator: new AjvJsonSchemaValidator(),
};

/**
 * Whether a message is of this revision: it says so itself, or nothing but a header does.
 * @param declared the revision that the header names, where no session has agreed on another
 */
export function isStateless(body: unknown, declared: string | undefined): boolean {
  const header = declared === STATELESS_PROTOCOL_VERSION ? { protocolVersionHeader: declared } : {};
  return classifyInboundRequest({ httpMethod: 'POST', body, ...header }).kind !== 'legacy';
}

/** Whether a message asks for a stream of notifications. */
export function isListenRequest(message: unknown): message is JSONRPCRequest {
  return isJSONRPCRequest(message) && message.method === 'subscriptions/listen';
}

/** Answers a message by a server of its own, if the headers that came with it agree with it. */
export function handleMessage(
  body: unknown,
  headerOf: (name: string) => string | undefined,
  abilities: McpOperations,
): Promise<Response> {
  const handler = createMcpHandler(() => serverFor(body, abilities), { legacy: 'reject' });
  return dispatch(handler, body, headerOf);
}

/** What answers `subscriptions/listen` by a stream, and writes to it from then on. */
export function createListenHandler(): McpHttpHandler {
  // Streams have heartbeats of ours.
  const options = { legacy: 'reject', keepAliveMs: 0 } as const;
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- as below
  return createMcpHandler(() => new Server(SERVER_INFO, OPTIONS), options);
}

/** Gives a handler a message, with the headers in which it is repeated. */
export function dispatch(
  handler: McpHttpHandler,
  body: unknown,
  headerOf: (name: string) => string | undefined,
): Promise<Response> {
  const headers = new Headers({ 'Content-Type': 'application/json' });
  for (const name of MIRRORED_HEADERS) {
    const value = headerOf(name);
    if (value !== undefined) headers.set(name, value);
  }
  const request = new Request(REQUEST_URL, { method: 'POST', headers });
  return handler.fetch(request, { parsedBody: body });
}

function serverFor(message: unknown, abilities: McpOperations) {
  const isIntroduction = isJSONRPCRequest(message) && message.method === 'server/discover';
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the high-level one keeps validators for every tool
  const server = new Server(isIntroduction ? FULL_SERVER_INFO : SERVER_INFO, OPTIONS);
  // Where there is no handler at all, the SDK answers 404, as the revision wants it.
  if (isJSONRPCRequest(message) && isSupportedMethod(message.method)) {
    // Handlers that are set by method get and give copies, and have -32603 for wrong parameters.
    server.fallbackRequestHandler = async (request) => {
      const hint = CACHE_HINTS[request.method as keyof typeof CACHE_HINTS];
      return { ...(await handleRequest(request, abilities, codeOf)), ...hint };
    };
  }
  return server;
}

/** Beside its own codes the revision leaves to servers those that JSON-RPC has not reserved. */
function codeOf({ code, status }: ApiError): number {
  return code === 'not_found' ? ProtocolErrorCode.InvalidParams : status;
}
