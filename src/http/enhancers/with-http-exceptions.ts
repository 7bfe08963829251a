import type { Response } from 'express';
import { ApiError } from '../../errors/api-error.js';
import { setErrorHeaders } from '../error.filter.js';
import type { ApiRequest } from '../request/api-request.js';
import { ApiHttpException } from '../http-exception.js';
import type { BoundFilter } from './nest-enhancer-internals.js';

/**
 * Returns a team's filter that receives errors of Latitude as HTTP exceptions, with the status and the
 * body that Latitude would send. What the filter sends has no envelope.
 */
export function withHttpExceptions({ func, exceptionMetatypes }: BoundFilter): BoundFilter {
  return {
    exceptionMetatypes,
    func: (thrown: unknown, host) => {
      const http = host.switchToHttp();
      const { state } = http.getRequest<ApiRequest>();
      state.hasEnvelope = false;
      if (!(thrown instanceof ApiError) || namesClassOf(thrown, exceptionMetatypes)) {
        return func(thrown, host) as unknown;
      }
      state.errorCode = thrown.code;
      setErrorHeaders(thrown, http.getResponse<Response>());
      return func(new ApiHttpException(thrown, state.requestId), host) as unknown;
    },
  };
}

/** Whether a filter declares `ApiError` or a subclass, so that it expects the error itself. */
function namesClassOf(error: ApiError, types: BoundFilter['exceptionMetatypes']): boolean {
  return types.some(
    (type) => error instanceof type && (type === ApiError || type.prototype instanceof ApiError),
  );
}
