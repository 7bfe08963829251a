import pg from 'pg';
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

const UNIQUE_VIOLATION = '23505';

/** SQLSTATE class 22: a value that PostgreSQL cannot represent. */
const DATA_EXCEPTION = '22';

/** Turns what the driver throws into what the application knows; nothing of the driver leaves. */
export function translateDriverError(error: unknown, fallback: ErrorCode): Error {
  if (error instanceof ApiError || error instanceof UniqueViolation) return error;
  if (error instanceof pg.DatabaseError) {
    if (error.code === UNIQUE_VIOLATION) return new UniqueViolation(error.constraint ?? '');
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
