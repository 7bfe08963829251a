import { SetMetadata, type Type } from '@nestjs/common';
import type { Call } from '../../data/call.js';

export const BODY_CHECK = Symbol('body check');

/** A provider that checks a valid body against the caller. It reads no records. */
export interface BodyCheck {
  /** @throws ApiError `validation_error` */
  assertAllowed(call: Call, body: object): void;
}

/**
 * Declares that `check` checks the body of a handler together with the caller. It runs before a stored response
 * is sent to a repeated request, which the handler does not see.
 */
export const CheckBody = (check: Type<BodyCheck>): MethodDecorator =>
  SetMetadata(BODY_CHECK, check);
