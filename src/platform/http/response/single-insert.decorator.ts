import { SetMetadata } from '@nestjs/common';

export const SINGLE_INSERT = Symbol('single insert');

/**
 * Declares that the handler of a POST inserts one record, writes nothing else, and returns the record.
 * With an `Idempotency-Key`, one statement then stores the record and the response, together with those
 * of concurrent requests. Other handlers run in a transaction.
 */
export const SingleInsert = (): MethodDecorator => SetMetadata(SINGLE_INSERT, true);
