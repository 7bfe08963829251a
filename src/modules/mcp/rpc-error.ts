import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import { fieldLabel } from '../../platform/errors/field-problem.js';

/** A JSON-RPC error. The error classes of the SDK cannot be used: they repeat the code in the message. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: object,
  ) {
    super(message);
  }
}

/** The error for a name that a request uses and the server does not know. */
export function unknownName(kind: string, name: string): RpcError {
  const message = `Unknown ${kind}: ${fieldLabel(name, '')}`;
  return new RpcError(ProtocolErrorCode.InvalidParams, message);
}
