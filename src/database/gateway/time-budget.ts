import type pg from 'pg';
import { POOL_WAIT_MS } from '../connection/data-source-options.js';
import { destroyConnection } from '../connection/resilient-client.js';

/** Milliseconds: what waits for a lock, in the way of others and out of it. */
const BRIEF_LOCK_MS = 100;
const LOCK_MS = 2_000;

/** Milliseconds: what runs at all, and all of an operation with its repetitions. */
const STATEMENT_MS = 2_500;
const OPERATION_MS = 4_500;

/** How much later than PostgreSQL itself would one that does not answer is given up. */
const SILENCE_MS = 300;

const NO_END = () => undefined;

/** How long operations on the database may take. */
export abstract class TimeBudget {
  /** The time of one operation, which begins now. */
  abstract startDeadline(): Deadline;
}

/** That of a server, whose answers take less than 5 seconds. */
export class ServerTimeBudget extends TimeBudget {
  startDeadline(): Deadline {
    return new Deadline(OPERATION_MS);
  }
}

/** That of the command line, whose work takes as long as it takes. */
export class UnlimitedTimeBudget extends TimeBudget {
  startDeadline(): Deadline {
    return new Deadline(Infinity);
  }
}

/** Until when an operation has to be over. */
export class Deadline {
  private readonly end: number;

  constructor(ms: number) {
    this.end = performance.now() + ms;
  }

  /** How long a repetition may wait before it begins; negative where it had better not. */
  get retryDelayBudgetMs(): number {
    return this.remainingMs - POOL_WAIT_MS;
  }

  /**
   * How long one more statement may wait for a lock, and run, and how long its transaction may wait
   * for the next one, in PostgreSQL's terms.
   * @param mayWaitForLocks whether it keeps no one else waiting
   */
  timeouts(mayWaitForLocks: boolean): readonly [lock: string, statement: string, idle: string] {
    if (this.end === Infinity) return ['0', '0', '0'];
    const statementMs = Math.max(1, Math.min(STATEMENT_MS, Math.floor(this.remainingMs)));
    return [
      String(Math.min(mayWaitForLocks ? LOCK_MS : BRIEF_LOCK_MS, statementMs)),
      String(statementMs),
      // By then we have given it up, and the connection may be lost without PostgreSQL's knowledge.
      String(STATEMENT_MS + SILENCE_MS),
    ];
  }

  /**
   * Watches a connection while it is used: one that a firewall forgot answers nothing, not even that
   * it gives up.
   * @returns what ends the watch
   */
  destroyWhenExceeded(client: pg.ClientBase): () => void {
    if (this.end === Infinity) return NO_END;
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
