import type { ErrorCode, ErrorDetail } from './types.js';

/** What went wrong before there was an answer of the API. */
export type ClientErrorCode =
  'connection_failed' | 'timeout' | 'aborted' | 'unexpected_response' | 'invalid_response';

/** The facts of a `LatitudeError`. */
export interface LatitudeErrorOptions {
  readonly code: ErrorCode | ClientErrorCode;
  readonly status?: number;
  readonly retryable?: boolean;
  readonly uncertain?: boolean;
  readonly details?: readonly ErrorDetail[];
  readonly requestId?: string;
  readonly cause?: unknown;
}

/** Any failure of a call. Catch this class to catch them all. */
export class LatitudeError extends Error {
  override readonly name: string = 'LatitudeError';
  /** What happened, for programs: a code of the API, or one of this client. */
  readonly code: ErrorCode | ClientErrorCode;
  /** HTTP status of the answer. Undefined where there was no answer. */
  readonly status: number | undefined;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /**
   * Whether the write may have been carried out although the call failed. A `precondition_failed` is
   * uncertain where an earlier attempt of the same call may have changed the record itself.
   */
  readonly uncertain: boolean;
  /** The fields that were refused, with the reasons. */
  readonly details: readonly ErrorDetail[];
  /** `X-Request-Id` of the answer, which finds the request in the log of the server. */
  readonly requestId: string | undefined;

  constructor(message: string, options: LatitudeErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.status = options.status;
    this.retryable = options.retryable ?? false;
    this.uncertain = options.uncertain ?? false;
    this.details = options.details ?? [];
    this.requestId = options.requestId;
  }
}

/** The server answered with an error. */
export class LatitudeApiError extends LatitudeError {
  override readonly name = 'LatitudeApiError';
  declare readonly status: number;
}

/** The server was not reached, or its answer did not arrive whole. */
export class LatitudeConnectionError extends LatitudeError {
  override readonly name: string = 'LatitudeConnectionError';
}

/** No whole answer arrived in time. */
export class LatitudeTimeoutError extends LatitudeConnectionError {
  override readonly name = 'LatitudeTimeoutError';
}

/** The caller aborted the call. `cause` is the reason of its signal. */
export class LatitudeAbortError extends LatitudeError {
  override readonly name = 'LatitudeAbortError';
}
