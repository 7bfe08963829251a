import pg from 'pg';
import { QueryFailedError } from 'typeorm';
import { loggedMessageOf } from '../../config/error-serializer.js';
import { ApiError, type ApiErrorOptions, validationError } from '../../errors/api-error.js';
import type { ErrorCode } from '../../errors/error-catalogue.js';
import { OVERLOAD_HEADERS } from '../../errors/overload.js';
import { LostConnectionError } from './statement-pipeline.js';

/** A connection was not set up in time. */
export class SetupTimeout extends Error {
  override readonly message = 'the connection was not set up in time';
}

/** A unique index rejected a row. Repositories turn it into a `duplicate` error that names fields. */
export class UniqueViolation extends Error {
  constructor(readonly constraint: string) {
    super(`unique index ${constraint} rejected a row`);
    this.name = 'UniqueViolation';
  }
}

/** An exclusion constraint rejected a row. Services turn it into an error that says what is in the way. */
export class ExclusionViolation extends Error {
  constructor(readonly constraint: string) {
    super(`exclusion constraint ${constraint} rejected a row`);
    this.name = 'ExclusionViolation';
  }
}

/** A failed statement. The error filter logs it, with the request. */
export class DatabaseFailure extends ApiError {
  constructor(
    code: ErrorCode,
    private readonly thrown: unknown,
    options: ApiErrorOptions = {},
  ) {
    super(code, { ...options, cause: thrown });
  }

  /** Properties for the log. By default they do not include the message, because it may quote values. */
  get logProperties(): object {
    const { thrown } = this;
    if (thrown instanceof pg.DatabaseError) {
      const { code, severity, table, constraint, routine } = thrown;
      return { sqlstate: code, severity, table, constraint, routine, ...loggedMessageOf(thrown) };
    }
    return { reason: thrown instanceof Error ? thrown.message : String(thrown) };
  }

  /** The error of a statement that had no effect and may succeed later. */
  asOverload(): DatabaseFailure {
    return new DatabaseFailure('overloaded', this.thrown, { headers: OVERLOAD_HEADERS });
  }
}

/** Finds the failed statement in the causes of an error. */
export function databaseFailureOf(error: unknown): DatabaseFailure | undefined {
  if (error instanceof DatabaseFailure) return error;
  return error instanceof Error ? databaseFailureOf(error.cause) : undefined;
}

/** A deadlock or serialization failure. A retry may succeed. */
export class SerializationFailure extends DatabaseFailure {}

/** A statement did not get a lock in time. */
export class LockTimeout extends DatabaseFailure {}

/** PostgreSQL cancelled a statement, usually because of its timeout. */
export class StatementTimeout extends DatabaseFailure {}

/** A scan was cancelled, because its time was over. */
export class ScanTimeout extends Error {
  constructor(cause: StatementTimeout) {
    super('the scan takes too long', { cause });
  }
}

/** The connection of a statement was lost. A retry of a read may succeed. */
export class ConnectionFailure extends DatabaseFailure {}

const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const EXCLUSION_VIOLATION = '23P01';

/** Suffix of the foreign keys to `organizations`, as PostgreSQL names them. */
const TO_ORGANIZATION = '_organization_id_fkey';

export const INSUFFICIENT_PRIVILEGE = '42501';
export const LOCK_NOT_AVAILABLE = '55P03';

export const QUERY_CANCELED = '57014';

/** SQLSTATEs of serialization failures and deadlocks, and of a full table of locks. */
const RETRYABLE_TRANSACTION_ERRORS: readonly unknown[] = ['40001', '40P01', '53200'];

/**
 * SQLSTATEs of a lock timeout, and of a missing prepared statement. The latter occurs if the statement that
 * should have prepared it had a lock timeout.
 */
const LOCK_TIMEOUTS: readonly unknown[] = [LOCK_NOT_AVAILABLE, '26000'];

export const TOO_MANY_CONNECTIONS = '53300';

/** The message of pg-pool if no connection is free in time. */
export const POOL_TIMEOUT = 'timeout exceeded when trying to connect';

/** The messages with which pg reports that no connection is free or open in time. Its errors have no code. */
const CONNECTION_TIMEOUTS: readonly string[] = [
  POOL_TIMEOUT,
  'Connection terminated due to connection timeout',
  'timeout expired',
];

/** SQLSTATE class 22: a value that PostgreSQL cannot represent. */
const DATA_EXCEPTION = '22';

const UNSTORABLE = { field: 'body', message: 'holds a value that cannot be stored' };

/**
 * Translates an error of the driver into an error of the application.
 * @param fallback code of errors without a code of their own
 */
export function translateDriverError(thrown: unknown, fallback: ErrorCode): Error {
  const error = driverErrorOf(thrown);
  if (isWithoutConnection(error)) {
    return new DatabaseFailure('overloaded', error, { headers: OVERLOAD_HEADERS });
  }
  if (error instanceof LostConnectionError) return new ConnectionFailure(fallback, error.cause);
  if (error instanceof pg.DatabaseError) {
    const { constraint = '' } = error;
    if (error.code === UNIQUE_VIOLATION) return new UniqueViolation(constraint);
    if (error.code === EXCLUSION_VIOLATION) return new ExclusionViolation(constraint);
    if (error.code === FOREIGN_KEY_VIOLATION && constraint.endsWith(TO_ORGANIZATION)) {
      // The organization and its keys were removed during the request.
      return new ApiError('unauthorized', { cause: error });
    }
    if (LOCK_TIMEOUTS.includes(error.code)) return new LockTimeout(fallback, error);
    if (error.code === QUERY_CANCELED) return new StatementTimeout(fallback, error);
    if (RETRYABLE_TRANSACTION_ERRORS.includes(error.code))
      return new SerializationFailure(fallback, error);
    if (error.code?.startsWith(DATA_EXCEPTION)) {
      // A trigger names the field and the problem of a value that it refuses.
      const { column: field, message } = error;
      if (field !== undefined) return validationError([{ field, message }]);
      return new DatabaseFailure('validation_error', error, validationError([UNSTORABLE]));
    }
  }
  return new DatabaseFailure(fallback, error);
}

/** Whether no connection was free or open in time, so that the statement was not sent. */
function isWithoutConnection(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.code === TOO_MANY_CONNECTIONS;
  if (error instanceof SetupTimeout) return true;
  return error instanceof Error && CONNECTION_TIMEOUTS.includes(error.message);
}

/** Whether a foreign key rejected a statement. */
export function isForeignKeyViolation(thrown: unknown): boolean {
  return sqlStateOf(thrown) === FOREIGN_KEY_VIOLATION;
}

/** The SQLSTATE of an error; undefined if it does not come from PostgreSQL. */
export function sqlStateOf(thrown: unknown): string | undefined {
  const error = driverErrorOf(thrown);
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** Whether an operation failed because PostgreSQL canceled a statement, usually because it took too long. */
export function isCanceled(error: unknown): boolean {
  return error instanceof DatabaseFailure && sqlStateOf(error.cause) === QUERY_CANCELED;
}

/** The error of the driver, which TypeORM wraps. */
function driverErrorOf(thrown: unknown): unknown {
  return thrown instanceof QueryFailedError ? thrown.driverError : thrown;
}

/** @throws the translated error of a step that fails */
export async function translateErrors<T>(step: Promise<T>, failure: ErrorCode): Promise<T> {
  try {
    return await step;
  } catch (error) {
    throw translateDriverError(error, failure);
  }
}
