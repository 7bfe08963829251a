import { PATIENT_WAIT_MS, POOL_WAIT_MS } from '../connection/data-source-options.js';
import { Deadline } from './policies.js';

/** Timeout of an operation on the database with its retries. */
const OPERATION_MS = 3_500;

/** How long a request may wait before it is admitted. */
const ADMISSION_MS = 1_000;

/** How long requests may wait, and how long database operations may take. */
export abstract class TimeBudget {
  /** How long a request may wait before it is admitted. */
  abstract readonly admissionMs: number;
  /** How long an operation may wait for a connection. */
  abstract readonly connectionMs: number;

  /** Starts the deadline of one operation. */
  abstract startDeadline(): Deadline;
}

/** The budget of a server, which responds within 5 seconds, including the wait for admission. */
export class ServerTimeBudget extends TimeBudget {
  readonly admissionMs = ADMISSION_MS;
  readonly connectionMs = POOL_WAIT_MS;

  startDeadline(): Deadline {
    return new Deadline(OPERATION_MS);
  }
}

/** The budget of the command line, which has no deadline. */
export class UnlimitedTimeBudget extends TimeBudget {
  readonly admissionMs: number = Infinity;
  readonly connectionMs = PATIENT_WAIT_MS;

  startDeadline(): Deadline {
    return new Deadline(Infinity);
  }
}
