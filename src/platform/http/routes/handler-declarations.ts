import { SetMetadata, type Type } from '@nestjs/common';
import type { Response } from 'express';
import type { Call } from '../../data/call.js';
import type { MaybePromise } from '../../maybe-promise.js';

export const SINGLE_INSERT = Symbol('single insert');

/**
 * Declares that the handler of a POST inserts one record, writes nothing else, and returns the record.
 * With an `Idempotency-Key`, one statement then stores the record and the response, together with those
 * of concurrent requests. Other handlers run in a transaction.
 */
export const SingleInsert = (): MethodDecorator => SetMetadata(SINGLE_INSERT, true);

export const NO_BODY = Symbol('no body');

/**
 * Declares that a POST takes no fields: only an absent body and `{}` are accepted. Without it, the body of a handler that
 * declares none is not checked, because the handler can read it itself.
 */
export const NoBody = (): MethodDecorator => SetMetadata(NO_BODY, true);

export const BODY_CHECK = Symbol('body check');

/** A provider that checks a valid body against the caller, such as the number of items against the rate limit. It reads no records. */
export interface BodyCheck {
  /** @throws ApiError `validation_error`, `rate_limit_exceeded` */
  assertAllowed(call: Call, body: object, response: Response): MaybePromise<void>;
}

/**
 * Declares that `check` checks the body of a handler together with the caller. It runs before the handler, and also before
 * the stored response is sent to a repeated request, for which the handler does not run.
 */
export const CheckBody = (check: Type<BodyCheck>): MethodDecorator =>
  SetMetadata(BODY_CHECK, check);

export const CONDITIONAL = Symbol('conditional');

/** Declares that a POST changes the record of its path, and so supports `If-Match`, as PUT and DELETE do. */
export const Conditional = (): MethodDecorator => SetMetadata(CONDITIONAL, true);

export const FILE_BODY = Symbol('file body');

/** A body that a handler reads itself, with `@FileStream()`. */
export interface FileBody {
  /** Content types, in lower case. */
  readonly types: readonly string[];
  readonly maxBytes: number;
}

/**
 * Declares that the body of a POST is a file, which the handler receives as a stream. The handler stores the response to
 * a request with an `Idempotency-Key` itself, with `IdempotentResponses`.
 */
export const TakesFile = (file: FileBody): MethodDecorator => SetMetadata(FILE_BODY, file);
