import { ScanTimeout, StatementTimeout, translateDriverError } from '../connection/driver-error.js';
import type { Failure } from './statement.js';

/** What an operation is. */
export interface Operation {
  readonly isRead: boolean;
  /** The error code if it fails. */
  readonly failure: Failure;
  /** Whether it may read all records of the organization. Its duration says nothing about the load. */
  readonly isScan?: true;
}

export const READ: Operation = { isRead: true, failure: 'query_failed' };
export const SCAN: Operation = { ...READ, isScan: true };
export const READ_FOR_WRITE: Operation = { isRead: true, failure: 'create_failed' };
export const WRITE: Operation = { isRead: false, failure: 'create_failed' };

/** The error of an operation whose statement failed with an error of the driver. */
export function failureOf({ failure, isScan }: Operation, thrown: unknown): Error {
  const error = translateDriverError(thrown, failure);
  return isScan && error instanceof StatementTimeout ? new ScanTimeout(error) : error;
}
