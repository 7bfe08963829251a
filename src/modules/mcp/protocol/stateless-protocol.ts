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
import type { ApiError } from '../../../platform/errors/api-error.js';
import { CAPABILITIES, FULL_SERVER_INFO, INSTRUCTIONS, SERVER_INFO } from './server-info.js';
import { isSupportedMethod, handleRequest } from './methods.js';
import type { McpCall } from './mcp-call.js';

/** The protocol version without sessions. */
const STATELESS_PROTOCOL_VERSION = '2026-07-28';

/** The SDK requires a URL and ignores it. */
const REQUEST_URL = 'http://localhost/mcp';

/** Headers that must repeat fields of the message. */
const MIRRORED_HEADERS = ['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'];

/** The lists that a key gets change only with a release. */
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
  // Shared, because otherwise every server creates its own.
  jsonSchemaValidator: new AjvJsonSchemaValidator(),
};

/**
 * Whether a message belongs to the stateless protocol version, by its `_meta` or by the header alone.
 * @param declared the protocol version in the header of a request without a session
 */
export function isStateless(body: unknown, declared: string | undefined): boolean {
  const header = declared === STATELESS_PROTOCOL_VERSION ? { protocolVersionHeader: declared } : {};
  return classifyInboundRequest({ httpMethod: 'POST', body, ...header }).kind !== 'legacy';
}

/** Whether a message opens a stream of notifications. */
export function isListenRequest(message: unknown): message is JSONRPCRequest {
  return isJSONRPCRequest(message) && message.method === 'subscriptions/listen';
}

/** Handles a message with a new server, after the SDK has compared it with its headers. */
export function handleMessage(
  body: unknown,
  headerOf: (name: string) => string | undefined,
  call: McpCall,
): Promise<Response> {
  const handler = createMcpHandler(() => serverFor(body, call), { legacy: 'reject' });
  return dispatch(handler, body, headerOf);
}

/** Creates a handler that answers `subscriptions/listen` with a stream and sends notifications to it. */
export function createListenHandler(): McpHttpHandler {
  // EventStream sends the heartbeats.
  const options = { legacy: 'reject', keepAliveMs: 0 } as const;
  // oxlint-disable-next-line typescript/no-deprecated -- see serverFor
  return createMcpHandler(() => new Server(SERVER_INFO, OPTIONS), options);
}

/** Passes a message and its mirrored headers to a handler of the SDK. */
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

function serverFor(message: unknown, call: McpCall) {
  const isDiscovery = isJSONRPCRequest(message) && message.method === 'server/discover';
  // oxlint-disable-next-line typescript/no-deprecated -- McpServer keeps validators for every tool
  const server = new Server(isDiscovery ? FULL_SERVER_INFO : SERVER_INFO, OPTIONS);
  // Without any handler the SDK answers 404, as the protocol requires.
  if (isJSONRPCRequest(message) && isSupportedMethod(message.method)) {
    // Handlers registered by method copy their values and answer invalid parameters with -32603.
    server.fallbackRequestHandler = async (request) => {
      const hint = CACHE_HINTS[request.method as keyof typeof CACHE_HINTS];
      return { ...(await handleRequest(request, call, rpcCodeOf)), ...hint };
    };
  }
  return server;
}

/** The protocol has no code for other errors, so servers use codes outside the range that JSON-RPC reserves. */
function rpcCodeOf({ code, status }: ApiError): number {
  return code === 'not_found' ? ProtocolErrorCode.InvalidParams : status;
}
