import pg from 'pg';
import { QueryFailedError } from 'typeorm';
import { logger } from '../config/logger.js';
import { ApiError, validationError } from '../errors/api-error.js';
import type { ErrorCode } from '../errors/error-catalogue.js';

/** A row that a unique index refused; repositories turn it into a `duplicate` that names fields. */
export class UniqueViolation extends Error {
  constructor(readonly constraint: string) {
    super(`unique index ${constraint} refused a row`);
    this.name = 'UniqueViolation';
  }
}

/** A statement that PostgreSQL ended because of another one; the same again may succeed. */
export class BrokenOff extends ApiError {}

/** A statement that has to wait for a lock, longer than it may where it was tried. */
export class MustWait extends ApiError {}

const UNIQUE_VIOLATION = '23505';

/** SQLSTATEs of serialization failures and deadlocks. */
const BROKEN_OFF: readonly unknown[] = ['40001', '40P01'];

/**
 * SQLSTATEs of a lock that was not free in time, and of a prepared statement that is not there because
 * the one before it, which was to prepare it, waited in vain.
 */
const MUST_WAIT: readonly unknown[] = ['55P03', '26000'];

/** SQLSTATE class 22: a value that PostgreSQL cannot represent. */
const DATA_EXCEPTION = '22';

/** Turns what the driver throws into what the application knows; nothing of the driver leaves. */
export function translateDriverError(thrown: unknown, fallback: ErrorCode): Error {
  const error: unknown = thrown instanceof QueryFailedError ? thrown.driverError : thrown;
  if (error instanceof pg.DatabaseError) {
    if (error.code === UNIQUE_VIOLATION) return new UniqueViolation(error.constraint ?? '');
    if (MUST_WAIT.includes(error.code)) return new MustWait(fallback, { cause: error });
    if (BROKEN_OFF.includes(error.code)) {
      logger.warn(describe(error), 'a transaction was broken off');
      return new BrokenOff(fallback, { cause: error });
    }
    if (error.code?.startsWith(DATA_EXCEPTION)) {
      logger.error(describe(error), 'a value passed validation that the database refused');
      return validationError([{ field: 'body', message: 'holds a value that cannot be stored' }]);
    }
  }
  logger.error(describe(error), 'a database statement failed');
  return new ApiError(fallback, { cause: error });
}

/** What may be logged of a driver error: its message can quote values, its codes cannot. */
function describe(error: unknown): object {
  if (error instanceof pg.DatabaseError) {
    const { code, severity, table, constraint, routine } = error;
    return { sqlstate: code, severity, table, constraint, routine };
  }
  return { reason: error instanceof Error ? error.message : String(error) };
}
