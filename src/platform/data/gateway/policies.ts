// The rules by which `TenantDatabase` runs statements: how long they may take (`Deadline`, `TimeBudget`), which of them form
// a batch (`batchSize`, `statementsOf`), when one is repeated (`nextAttempt`), and how many run at a time
// (`ConcurrencyLimit`).
import { Injectable } from '@nestjs/common';
import { PATIENT_WAIT_MS, POOL_WAIT_MS } from '../connection/data-source-options.js';
import {
  ConnectionFailure,
  LockTimeout,
  SerializationFailure,
  StatementTimeout,
} from '../connection/driver-error.js';
import { statementName } from '../connection/statement-pipeline.js';
import type { Span } from '../../tracing.js';
import type { Statement } from './statement.js';

/** How long a statement may wait for a lock: a first attempt, and a later attempt inside the bulkhead. */
const LOCK_MS = { brief: 50, long: 2_000 } as const;

/** How long a statement may wait for a lock. */
export type LockWait = keyof typeof LOCK_MS;

/** Timeout of a statement. */
const STATEMENT_MS = 2_500;

/** Less time than this is too little for an attempt. */
const MIN_ATTEMPT_MS = 100;

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

/** Timeouts in milliseconds as PostgreSQL reads them, in the order of `TIMEOUT_SETTINGS`. */
type Timeouts = readonly [lock: string, statement: string, idle: string];

/** The point in time by which an operation must end. */
export class Deadline {
  private readonly startedAt = performance.now();
  private readonly end: number;

  constructor(private readonly ms: number) {
    this.end = this.startedAt + ms;
  }

  get remainingMs(): number {
    return this.end - performance.now();
  }

  /** How long an attempt may wait before it starts. Negative: too little time is left for another attempt. */
  get waitMs(): number {
    return this.remainingMs - MIN_ATTEMPT_MS;
  }

  /** Whether enough time is left to wait for a new connection. */
  get allowsNewConnection(): boolean {
    return this.remainingMs >= POOL_WAIT_MS;
  }

  /** Whether so much time has passed that a statement can have reached its timeout. */
  get allowedTimeout(): boolean {
    return performance.now() - this.startedAt >= Math.min(STATEMENT_MS, this.ms);
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

  /** How long a connection may be in use from now on. If it is in use for longer, a firewall may have dropped it. */
  get connectionMs(): number {
    if (this.end === Infinity) return Infinity;
    return Math.min(STATEMENT_MS, this.remainingMs) + SILENCE_MS;
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

/** Timeout of an operation on the database with its retries. */
const OPERATION_MS = 3_500;

/** How long a request may wait before it is admitted. */
const ADMISSION_MS = 1_000;

/** Timeout of a statement that may read all records of an organization. */
const SCAN_MS = 1_400;

/** How long such a statement may wait for others. */
const SCAN_WAIT_MS = 300;

/** How long requests may wait, and how long database operations may take: a response takes less than 5 seconds. */
export class TimeBudget {
  /** How long a request may wait before it is admitted. */
  readonly admissionMs: number = ADMISSION_MS;
  /** How long an operation may wait for a connection. */
  readonly connectionMs: number = POOL_WAIT_MS;

  /** How long a scan may wait for others before it starts. */
  readonly scanWaitMs: number = SCAN_WAIT_MS;

  /** Starts the deadline of one operation. */
  startDeadline(): Deadline {
    return new Deadline(OPERATION_MS);
  }

  /** Starts the deadline of one scan. */
  startScan(): Deadline {
    return new Deadline(SCAN_MS);
  }
}

/** The budget of the command line, which has no deadline. */
export class UnlimitedTimeBudget extends TimeBudget {
  override readonly admissionMs: number = Infinity;
  override readonly connectionMs: number = PATIENT_WAIT_MS;

  override readonly scanWaitMs: number = Infinity;

  override startDeadline(): Deadline {
    return new Deadline(Infinity);
  }

  override startScan(): Deadline {
    return new Deadline(Infinity);
  }
}

/** A statement of a call that waits for its batch. */
export interface PendingStatement {
  readonly organizationId: string;
  readonly statement: Statement;
  readonly deadline: Deadline;
  /** The span of the call, if spans are made. */
  readonly span?: Span | undefined;
}

const MAX_STATEMENTS = 64;
const MAX_CHARACTERS = 262_144;

/** How many of the oldest statements form the next batch, at least one. */
export function batchSize(pending: readonly PendingStatement[]): number {
  let characters = 0;
  for (const [index, { statement }] of pending.entries()) {
    characters += charactersOf(statement);
    if (index === MAX_STATEMENTS || (index > 0 && characters > MAX_CHARACTERS)) return index;
  }
  return pending.length;
}

function charactersOf({ values, items = [] }: Statement): number {
  let characters = 0;
  for (const each of [values, items]) {
    for (const value of each) if (typeof value === 'string') characters += value.length;
  }
  return characters;
}

/**
 * Returns the statements of a batch, each as the positions of its calls. Those of an organization that have `items` and
 * the same text become one statement. Statements are in the order of their organizations, and their calls in the order
 * of the records, so that two batches with the same kind of changes do not deadlock.
 */
export function statementsOf(batch: readonly PendingStatement[]): readonly (readonly number[])[] {
  const recordOf = (index: number) => batch[index]?.statement.recordId ?? '';
  const statements = new Map<string, number[]>();
  for (const [index, { organizationId, statement }] of batch.entries()) {
    const { items, text, recordId = '', changesRecord = false } = statement;
    const name = items === undefined ? '' : statementName(text);
    const own = `${organizationId} ${recordId} ${index}`;
    const key = name === '' ? own : `${organizationId} ${name}`;
    const calls = statements.get(key);
    if (!calls) statements.set(key, [index]);
    else if (changesRecord && calls.some((call) => recordOf(call) === recordId)) {
      statements.set(`${key} ${index}`, [index]);
    } else calls.push(index);
  }
  return [...statements]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, calls]) => calls.sort((one, other) => (recordOf(one) < recordOf(other) ? -1 : 1)));
}

/** One attempt of an operation on the database. */
export interface Attempt {
  readonly deadline: Deadline;
  readonly isRead: boolean;
  /** Whether statements may wait long for locks. A limited number of operations may. */
  readonly waitsForLocks: boolean;
  /** How many attempts failed before because of a deadlock, a serialization failure or a lost connection. */
  readonly retries: number;
  /** The lock timeout of the attempt before. */
  readonly cause?: LockTimeout;
}

/**
 * Returns the attempt that follows a failed one, as long as time is left: after a lock timeout, one that waits longer; after
 * a deadlock or a serialization failure, whose conflict has ended; and for a read, once after the loss of its connection.
 */
export function nextAttempt(attempt: Attempt, error: unknown): Attempt | undefined {
  const { deadline, isRead, retries } = attempt;
  const retry = { ...attempt, retries: retries + 1 };
  if (error instanceof ConnectionFailure) {
    return isRead && retries === 0 && deadline.allowsNewConnection ? retry : undefined;
  }
  if (deadline.waitMs < 0) return undefined;
  if (error instanceof LockTimeout) return { ...attempt, waitsForLocks: true, cause: error };
  return error instanceof SerializationFailure ? retry : undefined;
}

/** The longest pause before an operation is repeated that failed more than once. */
const MAX_PAUSE_MS = 50;

/** How long to wait before an attempt. Random, so that two operations that conflict do not do so again. */
export function pauseBefore({ retries }: Attempt): number {
  return retries > 1 ? Math.random() * MAX_PAUSE_MS : 0;
}

/**
 * The error of an operation that is not repeated. It is `overloaded` if the operation has used up its time, because others
 * held its locks or it was too slow.
 */
export function refusalOf(error: unknown, deadline: Deadline): unknown {
  const isRefused =
    error instanceof LockTimeout ||
    error instanceof SerializationFailure ||
    (error instanceof StatementTimeout && deadline.allowedTimeout);
  return isRefused ? error.asOverload() : error;
}

/**
 * Bounds of the limit. More concurrent operations do not increase the throughput. With fewer, connections would be
 * idle, and batches would have no effect.
 */
export const MAX_LIMIT = 64;
const MIN_LIMIT = 16;

/** The limit is too high if an operation takes longer than this while the limit is reached. */
const SLOW_MS = 100;

/**
 * Limit of concurrent database operations. While it is reached, it grows by one for each round of operations, and
 * is halved when an operation is slow (additive increase, multiplicative decrease).
 */
@Injectable()
export class ConcurrencyLimit {
  /** Number of running operations. */
  inFlight = 0;
  /** Number of completed statements since startup. */
  completed = 0;
  private limit = MAX_LIMIT;
  /** When the limit was last halved. */
  private halvedAt = 0;
  private released: () => void = () => undefined;

  /** @returns the time of the call, for `release` */
  acquire(): number {
    this.inFlight++;
    return performance.now();
  }

  /**
   * Records the end of an operation, successful or not.
   * @param startedAt when the operation started. Without it, its duration does not count.
   */
  release(startedAt?: number): void {
    if (startedAt !== undefined && this.isReached) this.adjust(startedAt);
    this.inFlight--;
    this.released();
  }

  /** @param listener called when an operation ends */
  onRelease(listener: () => void): void {
    this.released = listener;
  }

  /** Whether another operation would have to wait. */
  get isReached(): boolean {
    return this.available <= 0;
  }

  /** How many more operations may start. At zero or less, the caller must wait. */
  get available(): number {
    return Math.floor(this.limit) - this.inFlight;
  }

  private adjust(startedAt: number): void {
    const now = performance.now();
    if (now - startedAt <= SLOW_MS) {
      this.limit = Math.min(MAX_LIMIT, this.limit + 1 / this.limit);
    } else if (startedAt >= this.halvedAt) {
      // Operations that started earlier say nothing about the current limit.
      this.limit = Math.max(MIN_LIMIT, this.limit / 2);
      this.halvedAt = now;
    }
  }
}
