import type { ApiError } from '../../platform/errors/api-error.js';
import { toLoggedApiError } from '../../platform/http/error.filter.js';

/** Converts an exception of an operation to an `ApiError`, and logs it with the route of every MCP request. */
export function toLoggedMcpError(thrown: unknown, requestId: string): ApiError {
  return toLoggedApiError(thrown, requestId, '/mcp');
}
