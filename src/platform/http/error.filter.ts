import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { Response } from 'express';
import { logger } from '../config/logger.js';
import { databaseFailureOf } from '../data/connection/driver-error.js';
import { type ApiRequest, requestOf, responseOf, routeOf } from './request/api-request.js';
import { ApiError, REALM } from '../errors/api-error.js';
import { fromHttpException } from './http-exception.js';
import type { TeamHandling } from './routes/route-plan.js';

/** Headers about the body of the handler, which the error envelope replaces. */
const CONTENT_HEADERS = [
  'Content-Disposition',
  'Content-Encoding',
  'Content-Length',
  'Content-Type',
  'ETag',
  'Last-Modified',
];

/** Answers every exception with the error envelope (docs/contract/errors.md#error-body). */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  catch(thrown: unknown, host: ArgumentsHost): void {
    sendError(thrown, requestOf(host), responseOf(host));
  }
}

/** Sends the error envelope, or closes the connection if a part of the response was sent. */
export function sendError(thrown: unknown, request: ApiRequest, response: Response): void {
  const { state } = request;
  const error = toLoggedApiError(
    thrown,
    state.requestId,
    routeOf(request),
    state.plan?.team?.problemsOf,
  );
  state.errorCode = error.code;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const name of CONTENT_HEADERS) response.removeHeader(name);
  if (error.status === 401 && !response.hasHeader('WWW-Authenticate')) {
    response.setHeader('WWW-Authenticate', `Bearer realm="${REALM}"${state.challenge}`);
  }
  response.set(error.headers);
  response.status(error.status).json(error.toEnvelope(state.requestId));
}

/**
 * Converts an exception to an `ApiError`. Logs database failures and unexpected exceptions.
 * @param problemsOf finds the fields that an exception of a pipe is about
 */
export function toLoggedApiError(
  thrown: unknown,
  requestId: string,
  route: string | null,
  problemsOf?: TeamHandling['problemsOf'],
): ApiError {
  const error = toApiError(thrown, problemsOf);
  const request = { request_id: requestId, route };
  const failure = databaseFailureOf(thrown);
  if (failure) {
    // A statement that was refused, such as that of a broad filter, is no fault of the service.
    const level = error.status < 500 ? 'warn' : 'error';
    logger[level]({ ...failure.logProperties, ...request }, 'a database statement failed');
  } else if (error.code === 'internal_error') {
    // Another exception can have values of records in its message.
    const message = thrown instanceof ApiError ? thrown.message : 'unhandled error';
    logger.error({ err: thrown, ...request }, message);
  } else if (thrown !== error && error.status >= 500) {
    logger.error({ err: thrown, ...request }, 'an HTTP exception was thrown');
  }
  return error;
}

function toApiError(thrown: unknown, problemsOf: TeamHandling['problemsOf']): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof HttpException) return fromHttpException(thrown, problemsOf?.(thrown));
  if (isBodyParserError(thrown)) {
    const { message, status } = thrown;
    return fromHttpException(new HttpException(message, status, { cause: thrown }));
  }
  return new ApiError('internal_error', { cause: thrown });
}

/** Whether this is an error of `express.json()` and the like, whose message is about the request. */
function isBodyParserError(thrown: unknown): thrown is Error & { readonly status: number } {
  const { expose, type } = (thrown ?? {}) as { expose?: unknown; type?: unknown };
  return expose === true && typeof type === 'string' && BODY_PARSER_ERROR.test(type);
}

const BODY_PARSER_ERROR = /^(charset|encoding|entity|parameters|request|stream)\./;
