import pg from 'pg';
import { QueryFailedError } from 'typeorm';
import { ApiError, type ApiErrorOptions, validationError } from '../../errors/api-error.js';
import type { ErrorCode } from '../../errors/error-catalogue.js';

/** A row that a unique index refused; repositories turn it into a `duplicate` that names fields. */
export class UniqueViolation extends Error {
  constructor(readonly constraint: string) {
    super(`unique index ${constraint} refused a row`);
    this.name = 'UniqueViolation';
  }
}

/**
 * A statement that failed. Whoever answers the request logs it, together with the request's id and
 * route, which are not known here.
 */
export class DatabaseFailure extends ApiError {
  constructor(
    code: ErrorCode,
    private readonly thrown: unknown,
    options: ApiErrorOptions = {},
  ) {
    super(code, { ...options, cause: thrown });
  }

  /** What may be logged of it: the message of an error can quote values, its codes cannot. */
  get facts(): object {
    const { thrown } = this;
    if (thrown instanceof pg.DatabaseError) {
      const { code, severity, table, constraint, routine } = thrown;
      return { sqlstate: code, severity, table, constraint, routine };
    }
    return { reason: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

/** The failure of a statement that an error arose from, if there is one. */
export function databaseFailureOf(error: unknown): DatabaseFailure | undefined {
  if (error instanceof DatabaseFailure) return error;
  return error instanceof Error ? databaseFailureOf(error.cause) : undefined;
}

/** A statement that PostgreSQL ended because of another one; the same again may succeed. */
export class SerializationFailure extends DatabaseFailure {}

/** A statement that has to wait for a lock, longer than it may where it was tried. */
export class LockTimeout extends DatabaseFailure {}

const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';

/** How PostgreSQL names the foreign keys of tables to the organization of their rows. */
const TO_ORGANIZATION = '_organization_id_fkey';

export const INSUFFICIENT_PRIVILEGE = '42501';

/** SQLSTATEs of serialization failures and deadlocks. */
const SERIALIZATION_FAILURES: readonly unknown[] = ['40001', '40P01'];

/**
 * SQLSTATEs of a lock that was not free in time, and of a prepared statement that is not there because
 * the one before it, which was to prepare it, waited in vain.
 */
const LOCK_TIMEOUTS: readonly unknown[] = ['55P03', '26000'];

/** SQLSTATE class 22: a value that PostgreSQL cannot represent. */
const DATA_EXCEPTION = '22';

/** Turns what the driver throws into what the application knows; nothing of the driver leaves. */
export function translateDriverError(thrown: unknown, fallback: ErrorCode): Error {
  const error: unknown = thrown instanceof QueryFailedError ? thrown.driverError : thrown;
  if (error instanceof pg.DatabaseError) {
    if (error.code === UNIQUE_VIOLATION) return new UniqueViolation(error.constraint ?? '');
    if (isForeignKeyViolation(error) && error.constraint?.endsWith(TO_ORGANIZATION)) {
      // The organization was removed while the request was under way, and its keys with it.
      return new ApiError('unauthorized', { cause: error });
    }
    if (LOCK_TIMEOUTS.includes(error.code)) return new LockTimeout(fallback, error);
    if (SERIALIZATION_FAILURES.includes(error.code))
      return new SerializationFailure(fallback, error);
    if (error.code?.startsWith(DATA_EXCEPTION)) {
      const problem = { field: 'body', message: 'holds a value that cannot be stored' };
      return new DatabaseFailure('validation_error', error, validationError([problem]));
    }
  }
  return new DatabaseFailure(fallback, error);
}

/** Whether a row refers to one that is not there, or is referred to by one that is. */
export function isForeignKeyViolation(thrown: unknown): boolean {
  const error: unknown = thrown instanceof QueryFailedError ? thrown.driverError : thrown;
  return error instanceof pg.DatabaseError && error.code === FOREIGN_KEY_VIOLATION;
}

/** The SQLSTATE of a statement that TypeORM sent; undefined where PostgreSQL did not refuse it. */
export function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof QueryFailedError)) return undefined;
  return error.driverError instanceof pg.DatabaseError ? error.driverError.code : undefined;
}
