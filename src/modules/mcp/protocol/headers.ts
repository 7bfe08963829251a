import type { FieldProblem } from '../../../platform/errors/field-problem.js';
import { findUnexpectedParameters, throwIfAny } from '../../../platform/http/request/bind-input.js';
import type { ApiRequest } from '../../../platform/http/request/api-request.js';
import { SESSION_PROTOCOL_VERSIONS } from './session-protocol.js';
import type { Session } from '../sessions/session.js';

export const SESSION_ID = 'Mcp-Session-Id';
const PROTOCOL_VERSION = 'MCP-Protocol-Version';
const LAST_EVENT_ID = 'Last-Event-ID';

/** @returns the session id that a request sends; undefined when the header is missing or empty */
export function sessionIdOf(request: ApiRequest): string | undefined {
  const id = request.get(SESSION_ID);
  return id === '' ? undefined : id;
}

/** @returns the protocol version in the header of a request without a session; a session has its own version */
export function declaredProtocolVersion(request: ApiRequest): string | undefined {
  return sessionIdOf(request) === undefined ? request.get(PROTOCOL_VERSION) : undefined;
}

/**
 * Validates the protocol version header and rejects query parameters.
 * @param problems other problems to report in the same error
 * @throws ApiError `validation_error`
 */
export function validateHeaders(request: ApiRequest, ...problems: readonly FieldProblem[]): void {
  const version = request.get(PROTOCOL_VERSION);
  const isUnsupported = version !== undefined && !SESSION_PROTOCOL_VERSIONS.includes(version);
  const message = `must be one of ${SESSION_PROTOCOL_VERSIONS.join(', ')}`;
  throwIfAny([
    ...(isUnsupported ? [{ field: PROTOCOL_VERSION, message }] : []),
    ...findUnexpectedParameters(request),
    ...problems,
  ]);
}

/**
 * Returns the id of the event after which a stream resumes: the value of `Last-Event-ID`, or the
 * last event that was sent.
 * @throws ApiError `validation_error`
 */
export function lastEventIdOf(request: ApiRequest, session: Session): number {
  const given = request.get(LAST_EVENT_ID);
  const id = given === undefined ? session.lastSentEventId : Number(given);
  // Only its form is checked: another instance may have sent the event.
  const isEventId = given === undefined || /^\d{1,15}$/.test(given);
  const problem = { field: LAST_EVENT_ID, message: 'must be the id of an event of this session' };
  validateHeaders(request, ...(isEventId ? [] : [problem]));
  return id;
}
