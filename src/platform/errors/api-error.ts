import { HttpException } from '@nestjs/common';
import { type CatalogueEntry, ERROR_CATALOGUE, type ErrorCode } from './error-catalogue.js';
import {
  describeProblem,
  type FieldProblem,
  MAX_PROBLEMS,
  type ProblemDetail,
} from './field-problem.js';

/** The realm of every 401 and 403 (docs/contract/keys-and-scopes.md#missing-and-invalid-keys). */
export const REALM = 'latitude';

/** Values that override those of the error catalogue or are added to them. */
export interface ApiErrorOptions {
  /** The status, for a code with several (docs/contract/errors.md#malformed-http-requests). */
  status?: number;
  message?: string;
  details?: readonly ProblemDetail[];
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
}

/** The methods of `HttpException`. Its type would not allow a public `status`. */
interface HttpError extends Error {
  getStatus(): number;
  getResponse(): string | object;
}

const HttpErrorBase: new (...args: ConstructorParameters<typeof HttpException>) => HttpError =
  HttpException;

/**
 * An error with a code of the catalogue. Services throw it, and clients receive its envelope. It is an
 * `HttpException` of Nest, so that filters of a team find its status.
 */
export class ApiError extends HttpErrorBase {
  /** A code of the catalogue, or that of an `HttpException` (docs/contract/errors.md#http-exceptions). */
  readonly code: string;
  readonly status: number;
  readonly retryable: boolean;
  /** What an agent should do next. */
  readonly advice: string;
  readonly details: ApiErrorOptions['details'];
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, options?: ApiErrorOptions);
  /** @param entry the values of a code that the catalogue does not have */
  constructor(code: string, options: ApiErrorOptions, entry: CatalogueEntry);
  constructor(
    code: string,
    { status, message, details, headers = {}, cause }: ApiErrorOptions = {},
    entry: CatalogueEntry = ERROR_CATALOGUE[code as ErrorCode],
  ) {
    super(message ?? entry.message, status ?? entry.status, { cause });
    this.name = 'ApiError';
    this.code = code;
    this.status = status ?? entry.status;
    this.retryable = entry.retryable;
    this.advice = entry.advice;
    this.details = details;
    this.headers = headers;
  }

  /**
   * The same error for an input that is a part of another one.
   * @param path that of the input, such as `data`
   * @param problem the detail of an error without details; the message then begins with the path
   */
  within(path: string, problem?: FieldProblem): ApiError {
    const { code, status, message, headers, retryable, advice } = this;
    const own = this.details ?? (problem && [problem]);
    const details = own?.map(({ field, ...detail }) => ({
      field: field === 'body' ? path : `${path}.${field}`,
      ...detail,
    }));
    const located = problem ? `${path}: ${message}` : message;
    const ofFields = code === 'validation_error' && details ? messageOf(details) : located;
    const options = { status, message: ofFields, details, headers, cause: this };
    return new ApiError(code, options, { status, message, retryable, advice });
  }

  override getStatus(): number {
    return this.status;
  }

  /** The body of the response without the id of the request, for filters that extend `BaseExceptionFilter`. */
  override getResponse(): object {
    const { code, message, retryable, details } = this;
    return { error: { code, message, retryable, ...(details && { details }) } };
  }

  /** The body of the response (docs/contract/errors.md#error-body). */
  toEnvelope(requestId: string) {
    const { code, message, retryable, details } = this;
    return {
      error: { code, message, retryable, request_id: requestId, ...(details && { details }) },
    };
  }
}

/** Creates a `validation_error`. Its message and details name at most `MAX_PROBLEMS` problems. */
export function validationError(problems: readonly FieldProblem[]): ApiError {
  const details = problems.slice(0, MAX_PROBLEMS);
  return new ApiError('validation_error', {
    message: messageOf(details, problems.length),
    details,
  });
}

function messageOf(details: readonly FieldProblem[], total = details.length): string {
  const sentences = details.map(describeProblem);
  const others = total - details.length;
  if (others > 0) sentences.push(`and ${others} more`);
  return `${sentences.join('; ')}.`;
}
