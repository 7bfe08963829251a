import type { BatchResponse, ErrorCode, ErrorDetail } from './types.js';

/** Codes of errors that occur before the API has sent a valid response. */
export type ClientErrorCode =
  | 'connection_failed'
  | 'timeout'
  | 'aborted'
  | 'unexpected_response'
  | 'invalid_response'
  | 'items_failed';

/** Codes that extensions of the server add. The type keeps the completion of the known codes. */
type OtherErrorCode = string & Record<never, never>;

/** Properties of a `LatitudeError`. */
export interface LatitudeErrorOptions {
  readonly code: ErrorCode | ClientErrorCode | OtherErrorCode;
  readonly status?: number | undefined;
  readonly retryable?: boolean | undefined;
  readonly uncertain?: boolean | undefined;
  readonly details?: readonly ErrorDetail[] | undefined;
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/** Any failure of a call. An argument that cannot be sent is a `TypeError` instead. */
export class LatitudeError extends Error {
  override readonly name: string = 'LatitudeError';
  /** Machine-readable code, from the API, its extensions or this client. */
  readonly code: ErrorCode | ClientErrorCode | OtherErrorCode;
  /** HTTP status. Undefined if there was no response. */
  readonly status: number | undefined;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /**
   * Whether the write may have been carried out although the call failed. A `precondition_failed` is
   * uncertain where an earlier attempt of the same call may have changed the record itself.
   */
  readonly uncertain: boolean;
  /** The invalid fields, with the reasons. */
  readonly details: readonly ErrorDetail[];
  /** `X-Request-Id` of the response, which identifies the request in the server log. */
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

/** The server sent an error response. */
export class LatitudeApiError extends LatitudeError {
  override readonly name = 'LatitudeApiError';
  declare readonly status: number;
}

/** The connection failed, or the response was incomplete. */
export class LatitudeConnectionError extends LatitudeError {
  override readonly name: string = 'LatitudeConnectionError';
}

/** No complete response arrived in time. */
export class LatitudeTimeoutError extends LatitudeConnectionError {
  override readonly name = 'LatitudeTimeoutError';
}

/** The caller aborted the call. `cause` is the reason of its signal. */
export class LatitudeAbortError extends LatitudeError {
  override readonly name = 'LatitudeAbortError';
}

/** Items of a batch failed. The others were carried out. */
export class LatitudeBatchError extends LatitudeError {
  override readonly name = 'LatitudeBatchError';

  /** @param response the results of all items */
  constructor(readonly response: BatchResponse) {
    const { error } = response.data.find((item) => item.error) ?? {};
    super(`${response.meta.failed} items failed: ${error?.message}`, {
      code: 'items_failed',
      status: 207,
    });
  }
}
