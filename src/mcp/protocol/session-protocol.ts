import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  type InitializeRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { ApiError } from '../../errors/api-error.js';
import { CAPABILITIES, FULL_SERVER_INFO, INSTRUCTIONS } from './server-info.js';
import { type McpOperations, handleRequest } from './methods.js';

const OPTIONS = {
  capabilities: CAPABILITIES,
  instructions: INSTRUCTIONS,
  // One for all servers: each would make its own.
  jsonSchemaValidator: new AjvJsonSchemaValidator(),
};

/** The revisions of the protocol that have sessions, the newest first. */
export const SESSION_PROTOCOL_VERSIONS: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS;

/** JSON-RPC codes that the protocol gives, and leaves, to servers. */
const RESOURCE_NOT_FOUND = -32002;
const SERVER_ERROR = -32000;

/**
 * Answers requests by a server and a transport of their own: nothing of one caller can reach
 * another, and a session costs no more than its record.
 */
export async function handleRequests(
  requests: readonly JSONRPCRequest[],
  abilities: McpOperations,
): Promise<readonly JSONRPCMessage[]> {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the high-level one keeps fifteen times as much
  const server = new Server(FULL_SERVER_INFO, OPTIONS);
  // Handlers that are set by schema answer -32603 to parameters that are not valid.
  server.fallbackRequestHandler = (request) => handleRequest(request, abilities, codeOf);
  const exchange = new RequestTransport(requests);
  await server.connect(exchange);
  const answers = await exchange.responses;
  await server.close();
  return answers;
}

/** The revision that an answer to `initialize` agrees on. */
export function negotiatedVersion(answer: JSONRPCMessage | undefined): string | undefined {
  const result = answer && 'result' in answer ? answer.result : {};
  return (result as Partial<InitializeRequest['params']>).protocolVersion;
}

/** A connection that brings some requests and takes their answers. */
class RequestTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  readonly responses: Promise<readonly JSONRPCMessage[]>;
  private readonly received: JSONRPCMessage[] = [];
  private finish: (answers: readonly JSONRPCMessage[]) => void = () => undefined;

  constructor(private readonly requests: readonly JSONRPCRequest[]) {
    this.responses = new Promise((resolve) => (this.finish = resolve));
  }

  start(): Promise<void> {
    for (const request of this.requests) this.onmessage?.(withoutTask(request));
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.received.push(message);
    if (this.received.length === this.requests.length) this.finish(this.received);
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

function codeOf({ code }: ApiError): number {
  return code === 'not_found' ? RESOURCE_NOT_FOUND : SERVER_ERROR;
}
