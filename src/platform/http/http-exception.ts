import { STATUS_CODES } from 'node:http';
import type { HttpException } from '@nestjs/common';
import { ApiError } from '../errors/api-error.js';
import type { ErrorCode } from '../errors/error-catalogue.js';
import { describeProblem, type FieldProblem } from '../errors/field-problem.js';

/** Statuses for which Latitude has a code with the same meaning. */
const SHARED_CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'validation_error',
  401: 'unauthorized',
  404: 'not_found',
  500: 'internal_error',
};

const RETRYABLE: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * Converts an exception that a team's code throws (docs/contract/errors.md#http-exceptions).
 * @param problems the fields that it is about. Only a 400 describes the input.
 */
export function fromHttpException(
  exception: HttpException,
  problems: readonly FieldProblem[] = [],
): ApiError {
  const status = exception.getStatus();
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    return new ApiError('internal_error', { cause: exception });
  }
  const retryable = RETRYABLE.has(status);
  const details = status === 400 ? problems : [];
  const described = details.map(describeProblem).join('; ');
  const text = textOf(messageOf(exception)) ?? STATUS_CODES[status] ?? `HTTP status ${status}`;
  const message = described || text;
  const advice = retryable
    ? 'Repeat the same call in a few seconds.'
    : 'Do not repeat the same call. Tell the user what the message says.';
  return new ApiError(
    codeOf(exception, status),
    { cause: exception, ...(details.length > 0 && { details }) },
    { status, retryable, message, advice },
  );
}

/** Returns the `errorCode` of the exception, or the code of its status. */
function codeOf({ errorCode }: HttpException, status: number): string {
  if (typeof errorCode === 'string' && errorCode !== '') return errorCode;
  return SHARED_CODES[status] ?? codeOfReason(STATUS_CODES[status] ?? 'HTTP error');
}

/** For example `im_a_teapot` for "I'm a Teapot". */
function codeOfReason(reason: string): string {
  return reason
    .toLowerCase()
    .replaceAll(/[^a-z ]/g, '')
    .replaceAll(' ', '_');
}

/**
 * Returns the message of the body of an exception: a text, those of a pipe as a list, or by property.
 * @returns undefined for a wrapped error, whose message is not meant for the client
 */
export function messageOf(exception: HttpException): unknown {
  const body: unknown = exception.getResponse();
  if (typeof body !== 'object' || body === null) return body;
  return body instanceof Error ? undefined : (body as { message?: unknown }).message;
}

function textOf(message: unknown): string | undefined {
  const text = Array.isArray(message) ? message.join('; ') : message;
  return typeof text === 'string' && text !== '' ? text : undefined;
}
