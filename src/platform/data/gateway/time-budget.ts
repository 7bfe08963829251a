import type pg from 'pg';
import { PATIENT_WAIT_MS, POOL_WAIT_MS } from '../connection/data-source-options.js';
import { destroyConnection } from '../connection/resilient-client.js';
import { parameterizedCalls } from '../connection/session-context.js';

/** How long a statement may wait for a lock: a first attempt, and a later attempt inside the bulkhead. */
const LOCK_MS = { brief: 50, long: 2_000 } as const;

/** How long a statement may wait for a lock. */
export type LockWait = keyof typeof LOCK_MS;

/** Timeouts of a statement, and of an operation with its retries. */
const STATEMENT_MS = 2_500;
const OPERATION_MS = 3_500;

/** How long a request may wait before it is admitted. */
const ADMISSION_MS = 1_000;

/** How long after the timeout of PostgreSQL a silent connection is destroyed. */
const SILENCE_MS = 300;

/** The settings of the timeouts that `Deadline.timeouts` returns. */
export const TIMEOUT_SETTINGS = [
  'lock_timeout',
  'statement_timeout',
  'idle_in_transaction_session_timeout',
] as const;

/** The timeouts of a statement on a batch connection, unless its deadline is near. */
export const BATCH_TIMEOUTS = timeoutsOf('brief', STATEMENT_MS);

/** Sets the timeouts to `$1`, `$2` and `$3` until the transaction ends. */
export const SET_TIMEOUTS = `select ${parameterizedCalls(TIMEOUT_SETTINGS).join(', ')}`;

/** Timeouts in milliseconds as PostgreSQL reads them, in the order of `TIMEOUT_SETTINGS`. */
type Timeouts = readonly [lock: string, statement: string, idle: string];

const NOOP = (): void => undefined;

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

/** The point in time by which an operation must end. */
export class Deadline {
  private readonly end: number;

  constructor(ms: number) {
    this.end = performance.now() + ms;
  }

  /** How long a retry may wait before it starts. Negative: too little time is left for a retry. */
  get retryDelayBudgetMs(): number {
    return this.remainingMs - POOL_WAIT_MS;
  }

  /** The deadline of statements that several callers share. */
  static earliest(deadlines: readonly Deadline[]): Deadline {
    return deadlines.reduce((earliest, other) => (other.end < earliest.end ? other : earliest));
  }

  /**
   * The timeouts of the next statement.
   * @param executions how often the statement is executed. PostgreSQL limits each execution.
   */
  timeouts(wait: LockWait, executions = 1): Timeouts {
    // Without a deadline, only a `long` wait is unlimited, because it delays no other statement.
    if (this.end === Infinity) return [wait === 'long' ? '0' : String(LOCK_MS[wait]), '0', '0'];
    const availableMs = Math.min(STATEMENT_MS, this.remainingMs);
    return timeoutsOf(wait, Math.max(1, Math.floor(availableMs / executions)));
  }

  /**
   * Destroys a connection that is still in use after the deadline or the timeout of a statement, because a
   * firewall may have dropped it.
   * @param onDestroy called when the connection is destroyed
   * @returns a function that cancels the timer
   */
  destroyWhenExceeded(client: pg.ClientBase, onDestroy = NOOP): () => void {
    if (this.end === Infinity) return NOOP;
    let afterPoll: NodeJS.Immediate | undefined;
    const timer = setTimeout(
      () => {
        // After a pause of the process, timers run before the replies that have arrived are read.
        afterPoll = setImmediate(() => {
          destroyConnection(client);
          onDestroy();
        });
      },
      Math.min(STATEMENT_MS, this.remainingMs) + SILENCE_MS,
    );
    return () => {
      clearTimeout(timer);
      clearImmediate(afterPoll);
    };
  }

  private get remainingMs(): number {
    return this.end - performance.now();
  }
}

function timeoutsOf(wait: LockWait, statementMs: number): Timeouts {
  return [
    String(Math.min(LOCK_MS[wait], statementMs)),
    String(statementMs),
    // The connection is destroyed by then, and PostgreSQL may not notice that.
    String(STATEMENT_MS + SILENCE_MS),
  ];
}
