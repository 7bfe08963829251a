import type pg from 'pg';
import { POOL_WAIT_MS } from '../connection/data-source-options.js';
import { destroyConnection } from '../connection/resilient-client.js';

/** How long a statement waits for a lock, without and with `mayWaitForLocks`. */
const BRIEF_LOCK_MS = 100;
const LOCK_MS = 2_000;

/** Timeouts of a statement, and of an operation with its retries. */
const STATEMENT_MS = 2_500;
const OPERATION_MS = 4_500;

/** How long after the timeout of PostgreSQL a silent connection is destroyed. */
const SILENCE_MS = 300;

const NOOP = () => undefined;

/** How long database operations may take. */
export abstract class TimeBudget {
  /** Starts the deadline of one operation. */
  abstract startDeadline(): Deadline;
}

/** The budget of a server, which responds within 5 seconds. */
export class ServerTimeBudget extends TimeBudget {
  startDeadline(): Deadline {
    return new Deadline(OPERATION_MS);
  }
}

/** The budget of the command line, which has no deadline. */
export class UnlimitedTimeBudget extends TimeBudget {
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

  /**
   * The timeouts of the next statement, in milliseconds as PostgreSQL reads them.
   * @param mayWaitForLocks whether the statement may wait for locks longer than briefly
   */
  timeouts(mayWaitForLocks: boolean): readonly [lock: string, statement: string, idle: string] {
    if (this.end === Infinity) return ['0', '0', '0'];
    const statementMs = Math.max(1, Math.min(STATEMENT_MS, Math.floor(this.remainingMs)));
    return [
      String(Math.min(mayWaitForLocks ? LOCK_MS : BRIEF_LOCK_MS, statementMs)),
      String(statementMs),
      // We have destroyed the connection by then, which PostgreSQL may not notice.
      String(STATEMENT_MS + SILENCE_MS),
    ];
  }

  /**
   * Destroys a connection that is still in use after the deadline: a firewall may have dropped it.
   * @returns function that cancels this
   */
  destroyWhenExceeded(client: pg.ClientBase): () => void {
    if (this.end === Infinity) return NOOP;
    const overdue = setTimeout(
      () => {
        destroyConnection(client);
      },
      Math.min(STATEMENT_MS, this.remainingMs) + SILENCE_MS,
    );
    return () => {
      clearTimeout(overdue);
    };
  }

  private get remainingMs(): number {
    return this.end - performance.now();
  }
}
