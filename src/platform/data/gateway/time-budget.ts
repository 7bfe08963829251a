import { PATIENT_WAIT_MS, POOL_WAIT_MS } from '../connection/data-source-options.js';
import { Deadline } from './policies.js';

/** Timeout of an operation on the database with its retries. */
const OPERATION_MS = 3_500;

/** How long a request may wait before it is admitted. */
const ADMISSION_MS = 1_000;

/** How long requests may wait, and how long database operations may take: a response takes less than 5 seconds. */
export class TimeBudget {
  /** How long a request may wait before it is admitted. */
  readonly admissionMs: number = ADMISSION_MS;
  /** How long an operation may wait for a connection. */
  readonly connectionMs: number = POOL_WAIT_MS;

  /** Starts the deadline of one operation. */
  startDeadline(): Deadline {
    return new Deadline(OPERATION_MS);
  }
}

/** The budget of the command line, which has no deadline. */
export class UnlimitedTimeBudget extends TimeBudget {
  override readonly admissionMs: number = Infinity;
  override readonly connectionMs: number = PATIENT_WAIT_MS;

  override startDeadline(): Deadline {
    return new Deadline(Infinity);
  }
}
