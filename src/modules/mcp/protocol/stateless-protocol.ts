import {
  CLIENT_CAPABILITIES_META_KEY,
  classifyInboundRequest,
  createMcpHandler,
  type McpHttpHandler,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type ServerOptions,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { isObject } from '../../../platform/fields/kinds/json-object.js';
import type { ApiError } from '../../../platform/errors/api-error.js';
import { CAPABILITIES, FULL_SERVER_INFO, INSTRUCTIONS, SERVER_INFO } from './server-info.js';
import type { ApiRequest } from '../../../platform/http/request/api-request.js';
import type { McpCall } from '../mcp-call.js';
import type { UserInput } from '../tools/confirmations.js';
import { isSupportedMethod, type McpMethods } from './methods.js';

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

/** Creates the handler of a message, whose `notify` sends notifications to the stream of `subscriptions/listen`. */
export function createHandler(context: McpCall, methods: McpMethods): McpHttpHandler {
  // EventStream sends the heartbeats.
  const options = { legacy: 'reject', keepAliveMs: 0 } as const;
  return createMcpHandler(() => serverFor(context, methods), options);
}

/** Passes a message to a handler of the SDK, which compares it with its headers. */
export function dispatch(
  handler: McpHttpHandler,
  parsedBody: unknown,
  sent: ApiRequest,
): Promise<Response> {
  const headers = new Headers({ 'Content-Type': 'application/json' });
  for (const name of MIRRORED_HEADERS) {
    const value = sent.get(name);
    if (value !== undefined) headers.set(name, value);
  }
  const request = new Request(REQUEST_URL, { method: 'POST', headers });
  return handler.fetch(request, { parsedBody });
}

/** A new server for each message. Callers are isolated from one another. */
function serverFor(context: McpCall, methods: McpMethods) {
  const method = context.messages.requests[0]?.method ?? '';
  const info = method === 'server/discover' ? FULL_SERVER_INFO : SERVER_INFO;
  // oxlint-disable-next-line typescript/no-deprecated -- McpServer keeps validators for every tool
  const server = new Server(info, OPTIONS);
  // Without any handler the SDK answers 404, as the protocol requires.
  if (isSupportedMethod(method)) {
    // Handlers registered by method copy their values and answer invalid parameters with -32603.
    server.fallbackRequestHandler = async (request, { mcpReq }) => {
      context.input = inputOf(mcpReq);
      const hint = CACHE_HINTS[request.method as keyof typeof CACHE_HINTS];
      return { ...(await methods.handle(request, context, rpcCodeOf)), ...hint };
    };
  }
  return server;
}

/** What the client can ask the user, and has asked. The SDK does not check whether it declared forms. */
function inputOf({ envelope, inputResponses, requestState }: ServerContext['mcpReq']): UserInput {
  const values: Readonly<Record<string, unknown>> = { ...envelope };
  const capabilities = values[CLIENT_CAPABILITIES_META_KEY];
  const elicitation = isObject(capabilities) ? capabilities.elicitation : undefined;
  // Without a mode, the client has forms.
  const hasForms =
    isObject(elicitation) && (isObject(elicitation.form) || Object.keys(elicitation).length === 0);
  return { hasForms, responses: inputResponses, state: requestState() };
}

/** The protocol has no code for other errors, so servers use codes outside the range that JSON-RPC reserves. */
function rpcCodeOf({ code, status }: ApiError): number {
  return code === 'not_found' ? ProtocolErrorCode.InvalidParams : status;
}
