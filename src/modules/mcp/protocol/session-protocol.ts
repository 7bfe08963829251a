import {
  type InitializeRequest,
  type InitializeResult,
  type JSONRPCMessage,
  type JSONRPCRequest,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import type { ApiError } from '../../../platform/errors/api-error.js';
import type { SessionParameters } from '../sessions/session.js';
import { CAPABILITIES, FULL_SERVER_INFO, INSTRUCTIONS } from './server-info.js';
import type { McpCall } from '../mcp-call.js';
import { type McpMethods, RpcError } from './methods.js';

/** The protocol versions with sessions, newest first. */
export const SESSION_PROTOCOL_VERSIONS: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS;

/** Without a session there are no notifications. */
const CAPABILITIES_WITHOUT_SESSION = { ...CAPABILITIES, tools: {}, resources: {} };

const MAX_CLIENT_NAME_LENGTH = 200;

/** JSON-RPC error codes of the protocol. */
const RESOURCE_NOT_FOUND = -32002;
const SERVER_ERROR = -32000;

/** @returns what a client that sends `initialize` and the server agree on, with the name of the client in ASCII */
export function negotiate({
  protocolVersion: requested,
  clientInfo,
}: InitializeRequest['params']): SessionParameters {
  const [latest = ''] = SESSION_PROTOCOL_VERSIONS;
  return {
    protocolVersion: SESSION_PROTOCOL_VERSIONS.includes(requested) ? requested : latest,
    clientName: clientInfo.name.slice(0, MAX_CLIENT_NAME_LENGTH).replaceAll(/[^\x20-\x7e]/g, '?'),
  };
}

/** @returns the result of `initialize` */
export function initializeResult(protocolVersion: string, hasSession: boolean): InitializeResult {
  return {
    protocolVersion,
    capabilities: hasSession ? CAPABILITIES : CAPABILITIES_WITHOUT_SESSION,
    serverInfo: FULL_SERVER_INFO,
    instructions: INSTRUCTIONS,
  };
}

/** Answers a request of a session, or of a caller without sessions. */
export async function answerRequest(
  request: JSONRPCRequest,
  context: McpCall,
  methods: McpMethods,
): Promise<JSONRPCMessage> {
  const { id } = request;
  const { task, ...params } = request.params ?? {};
  // Tasks are not supported, so a request for a task is handled as an ordinary request.
  const ordinary = task === undefined ? request : { ...request, params };
  try {
    return { result: await methods.handle(ordinary, context, rpcCodeOf), jsonrpc: '2.0', id };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { code, message, data } = error;
    return { jsonrpc: '2.0', id, error: { code, message, ...(data && { data }) } };
  }
}

function rpcCodeOf({ code }: ApiError): number {
  return code === 'not_found' ? RESOURCE_NOT_FOUND : SERVER_ERROR;
}
