import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  type InitializeRequest,
  type InitializeResult,
  type JSONRPCMessage,
  type JSONRPCRequest,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { Call } from '../../../platform/data/call.js';
import type { ApiError } from '../../../platform/errors/api-error.js';
import { giveWay } from '../../../platform/give-way.js';
import type { SessionParameters } from '../sessions/session.js';
import { CAPABILITIES, FULL_SERVER_INFO, INSTRUCTIONS } from './server-info.js';
import type { McpCall } from '../mcp-call.js';
import type { McpMethods } from './methods.js';

const OPTIONS = {
  capabilities: CAPABILITIES,
  instructions: INSTRUCTIONS,
  // Shared, because otherwise every server creates its own.
  jsonSchemaValidator: new AjvJsonSchemaValidator(),
};

/** The protocol versions with sessions, newest first. */
export const SESSION_PROTOCOL_VERSIONS: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS;

/** Without a session, the server cannot notify of changes, so it does not announce `listChanged` and `subscribe`. */
const OPTIONS_WITHOUT_SESSION = {
  ...OPTIONS,
  capabilities: { ...CAPABILITIES, tools: {}, resources: {} },
};

const MAX_CLIENT_NAME_LENGTH = 200;

/** JSON-RPC error codes of the protocol. */
const RESOURCE_NOT_FOUND = -32002;
const SERVER_ERROR = -32000;

/** How many messages of a batch run at a time. If all ran, a few batches would reach the concurrency limit. */
const MESSAGES_AT_A_TIME = 2;

/**
 * Answers requests with a new server and connection. Callers are isolated from one another, and a
 * session keeps no server in memory.
 */
export async function answerRequests(
  requests: readonly JSONRPCRequest[],
  context: McpCall,
  methods: McpMethods,
): Promise<readonly JSONRPCMessage[]> {
  const options = hasSessions(context.call) ? OPTIONS : OPTIONS_WITHOUT_SESSION;
  // oxlint-disable-next-line typescript/no-deprecated -- McpServer uses fifteen times the memory
  const server = new Server(FULL_SERVER_INFO, options);
  // Handlers registered by schema answer invalid parameters with -32603.
  server.fallbackRequestHandler = (request) => methods.handle(request, context, rpcCodeOf);
  const [client, transport] = InMemoryTransport.createLinkedPair();
  const responses: JSONRPCMessage[] = [];
  let noteResponse = (): void => undefined;
  client.onmessage = (message) => {
    responses.push(message);
    noteResponse();
  };
  const untilAnswered = async (count: number) => {
    while (responses.length < count) {
      await new Promise<void>((resolve) => {
        noteResponse = resolve;
      });
    }
  };
  await server.connect(transport);
  for (const [index, request] of requests.entries()) {
    // Tasks are not supported, so a request for a task is handled as an ordinary request.
    const { task, ...params } = request.params ?? {};
    if (context.messages.isBatch) await giveWay();
    await untilAnswered(index + 1 - MESSAGES_AT_A_TIME);
    await client.send(task === undefined ? request : { ...request, params });
  }
  await untilAnswered(requests.length);
  await server.close();
  return responses;
}

/** @returns what a client that sent `initialize` and the server agreed on, with the name of the client in ASCII */
export function agreedParameters(
  { params }: JSONRPCRequest,
  response: JSONRPCMessage | undefined,
): SessionParameters {
  const { clientInfo } = params as InitializeRequest['params'];
  const result = response && 'result' in response ? response.result : {};
  const { protocolVersion = '' } = result as Partial<InitializeResult>;
  const name = clientInfo.name.slice(0, MAX_CLIENT_NAME_LENGTH);
  return { protocol_version: protocolVersion, client_name: name.replaceAll(/[^\x20-\x7e]/g, '?') };
}

/** Whether a caller has sessions. They belong to API keys. A caller with a token of another issuer has none. */
export function hasSessions({ actor: { key } }: Call): boolean {
  return key.subject === undefined;
}

function rpcCodeOf({ code }: ApiError): number {
  return code === 'not_found' ? RESOURCE_NOT_FOUND : SERVER_ERROR;
}
