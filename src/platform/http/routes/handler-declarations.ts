import type { Type } from '@nestjs/common';
import { type BodyCheck, declareRoute, type FileBody } from './route-declarations.js';

/**
 * Declares that the handler of a POST inserts one record, writes nothing else, and returns the record.
 * With an `Idempotency-Key`, one statement then stores the record and the response, together with those
 * of concurrent requests. Without this declaration, a request with the header runs in a transaction. So does an insert that
 * throws `TransactionInTurn`.
 */
export const SingleInsert = (): MethodDecorator => declareRoute({ isSingleInsert: true });

/**
 * Declares that the handler of a POST stores the response to a request with an `Idempotency-Key` itself, with
 * `IdempotentResponses`. A handler that takes a file does so as well.
 */
export const StoresResponse = (): MethodDecorator => declareRoute({ storesResponse: true });

/**
 * Declares that a POST takes no fields: only an absent body and `{}` are accepted. A handler with neither this declaration nor
 * `@Body()` may read the body itself, so its body is not checked.
 */
export const NoBody = (): MethodDecorator => declareRoute({ takesNoBody: true });

/**
 * Declares that `check` checks the body of a handler together with the caller. It runs before the handler, and also before
 * the stored response is sent to a repeated request, for which the handler does not run.
 */
export const CheckBody = (check: Type<BodyCheck>): MethodDecorator =>
  declareRoute({ bodyCheck: check });

/** Declares that a POST changes the record of its path, and so supports `If-Match`, as PUT and DELETE do. */
export const Conditional = (): MethodDecorator => declareRoute({ isConditional: true });

/** Declares that a GET writes an entry of the audit log, which names the request (docs/contract/audit.md#reads). */
export const Audited = (): MethodDecorator => declareRoute({ isAudited: true });

/**
 * Declares that the body of a POST is a file, which the handler receives as a stream. The handler stores the response to
 * a request with an `Idempotency-Key` itself, with `IdempotentResponses`.
 */
export const TakesFile = (file: FileBody): MethodDecorator => declareRoute({ file });
