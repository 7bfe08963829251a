import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { Response } from 'express';
import { logger } from '../config/logger.js';
import { databaseFailureOf } from '../database/connection/driver-error.js';
import { type ApiRequest, routeOf } from './request/api-request.js';
import { ApiError, REALM } from '../errors/api-error.js';
import type { ErrorCode } from '../errors/error-catalogue.js';

/** Error codes of Nest's HttpException. Any other status becomes `internal_error`. */
const CODE_BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'validation_error',
  401: 'unauthorized',
  403: 'insufficient_scope',
  404: 'not_found',
  409: 'duplicate',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  429: 'rate_limit_exceeded',
};

/** Answers every exception with the error envelope (docs/contract/errors.md#error-body). */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    const response = http.getResponse<Response>();
    const { state } = request;
    const error = toLoggedApiError(thrown, state.requestId, routeOf(request));
    state.errorCode = error.code;
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (error.status === 401) response.setHeader('WWW-Authenticate', `Bearer realm="${REALM}"`);
    for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
    response.status(error.status).json(error.toEnvelope(state.requestId));
  }
}

/** Converts an exception to an `ApiError`. Logs database failures and unexpected exceptions. */
export function toLoggedApiError(
  thrown: unknown,
  requestId: string,
  route: string | null,
): ApiError {
  const error = toApiError(thrown);
  const request = { request_id: requestId, route };
  const failure = databaseFailureOf(thrown);
  if (failure) logger.error({ ...failure.facts, ...request }, 'a database statement failed');
  else if (error.code === 'internal_error') {
    logger.error({ err: thrown, ...request }, 'unhandled error');
  }
  return error;
}

function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof HttpException) {
    const code = CODE_BY_STATUS[thrown.getStatus()];
    if (code) return new ApiError(code, { message: thrown.message });
  }
  return new ApiError('internal_error', { cause: thrown });
}
