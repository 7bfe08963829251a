import { validationError } from '../../errors/api-error.js';
import type { FieldProblem } from '../../errors/field-problem.js';
import { findUnexpectedParameters } from '../../http/request/request-reader.js';
import type { ApiRequest } from '../../http/request/api-request.js';
import { SESSION_PROTOCOL_VERSIONS } from './session-protocol.js';
import type { Session } from '../sessions/session.js';

/** The route of every request of this protocol, as the log names it. */
export const MCP_ROUTE = '/mcp';

export const SESSION_ID = 'Mcp-Session-Id';
const PROTOCOL_VERSION = 'MCP-Protocol-Version';
const LAST_EVENT_ID = 'Last-Event-ID';

/** The session that a request names; an empty header names none. */
export function sessionIdOf(request: ApiRequest): string | undefined {
  const id = request.get(SESSION_ID);
  return id === '' ? undefined : id;
}

/** The revision that a request declares, where it names no session that has agreed on one. */
export function declaredProtocolVersion(request: ApiRequest): string | undefined {
  return sessionIdOf(request) === undefined ? request.get(PROTOCOL_VERSION) : undefined;
}

/** @throws ApiError `validation_error` for a query, which /mcp has none of */
export function rejectQueryParameters(request: ApiRequest): void {
  throwIfAny(findUnexpectedParameters(request));
}

/** @throws ApiError `validation_error` for a foreign revision, or a query, which /mcp has none of */
export function validateHeaders(request: ApiRequest, ...more: readonly FieldProblem[]): void {
  const revision = request.get(PROTOCOL_VERSION);
  const isForeign = revision !== undefined && !SESSION_PROTOCOL_VERSIONS.includes(revision);
  const known = {
    field: PROTOCOL_VERSION,
    message: `must be one of ${SESSION_PROTOCOL_VERSIONS.join(', ')}`,
  };
  throwIfAny([...(isForeign ? [known] : []), ...findUnexpectedParameters(request), ...more]);
}

/**
 * The event behind which a stream goes on: where the client says so, otherwise the last that was
 * sent.
 * @throws ApiError `validation_error`
 */
export function cursorOf(request: ApiRequest, session: Session): number {
  const given = request.get(LAST_EVENT_ID);
  const cursor = given === undefined ? session.lastSentEventId : Number(given);
  const isKnown = given === undefined || (/^\d{1,15}$/.test(given) && session.hasEvent(cursor));
  const stray = { field: LAST_EVENT_ID, message: 'must be the id of an event of this session' };
  validateHeaders(request, ...(isKnown ? [] : [stray]));
  return cursor;
}

function throwIfAny(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw validationError(problems);
}
