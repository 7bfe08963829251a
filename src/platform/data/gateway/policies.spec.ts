import {
  ConnectionFailure,
  LockTimeout,
  SerializationFailure,
  StatementTimeout,
} from '../connection/driver-error.js';
import {
  type Attempt,
  batchSize,
  ConcurrencyLimit,
  Deadline,
  MAX_LIMIT,
  nextAttempt,
  pauseBefore,
  type PendingStatement,
  refusalOf,
  statementsOf,
  TimeBudget,
} from './policies.js';
import { statementName } from '../connection/statement-pipeline.js';
import type { Statement } from './statement.js';
import { destroyAfter, ResilientClient } from '../connection/driver-pool.js';

let tested: ConcurrencyLimit;

beforeEach(() => {
  jest.useFakeTimers();
  tested = new ConcurrencyLimit();
});
afterEach(() => jest.useRealTimers());

const deadline = new Deadline(Infinity);

/** A statement that waits for its batch. */
function pending(organizationId: string, statement: Partial<Statement> = {}): PendingStatement {
  return { organizationId, statement: { text: 'select', values: [], ...statement }, deadline };
}

describe('the size of a batch', () => {
  it.each([
    ['64 statements', Array(70).fill(pending('a')), 64],
    ['all statements, if there are fewer', [pending('a'), pending('b')], 2],
    [
      '262,144 characters',
      Array(4).fill(pending('a', { values: ['x'.repeat(50_000)], items: ['y'.repeat(60_000)] })),
      2,
    ],
    [
      'one statement, if it is longer',
      Array(2).fill(pending('a', { values: ['x'.repeat(3e5)] })),
      1,
    ],
  ])('is at most %s', (_, statements, size) => {
    expect(batchSize(statements as PendingStatement[])).toBe(size);
  });
});

describe('the statements of a batch', () => {
  const idsOf = (batch: readonly PendingStatement[]) =>
    statementsOf(batch).map((calls) =>
      calls.map((call) => `${batch[call]?.organizationId}${batch[call]?.statement.recordId}`),
    );

  it('are in the order of their organizations and records, so that batches do not deadlock', () => {
    const batch = ['b2', 'a3', 'b1', 'a1'].map(([organization = '', recordId = '']) =>
      pending(organization, { recordId }),
    );
    expect(idsOf(batch)).toEqual([['a1'], ['a3'], ['b1'], ['b2']]);
  });

  it('are one for those of an organization with items and the same text', () => {
    const insert = (organization: string, recordId: string, text = 'insert') => {
      // As those of repositories, the text has a name however many statements other tests have run.
      statementName(text, true);
      return pending(organization, { recordId, text, items: [`{"id":"${recordId}"}`] });
    };
    const batch = [
      ...[insert('a', '3'), insert('b', '4'), insert('a', '1'), pending('a', { recordId: '2' })],
      insert('a', '5', 'insert other columns'),
    ];
    expect(idsOf(batch).toSorted()).toEqual([['a1', 'a3'], ['a2'], ['a5'], ['b4']]);
  });

  it('are several for changes of one record, in the order of the changes', () => {
    statementName('update', true);
    const batch = ['1', '2', '1'].map((recordId) =>
      pending('a', { recordId, text: 'update', items: ['{}'], changesRecord: true }),
    );
    expect(statementsOf(batch)).toEqual([[0, 1], [2]]);
  });
});

describe('after a failed attempt', () => {
  const first: Attempt = { deadline, isRead: false, waitsForLocks: false, retries: 0 };
  const read = { ...first, isRead: true };
  const failure = (Type: typeof LockTimeout) => new Type('create_failed', new Error('for a test'));

  it.each([
    ['a lock timeout', first, LockTimeout, { waitsForLocks: true, retries: 0 }],
    ['a long wait for a lock', { ...first, waitsForLocks: true }, LockTimeout, { retries: 0 }],
    ['a serialization failure', first, SerializationFailure, { retries: 1 }],
    [
      'each further serialization failure',
      { ...first, retries: 7 },
      SerializationFailure,
      { retries: 8 },
    ],
    ['the loss of the connection of a read', read, ConnectionFailure, { retries: 1 }],
  ])('follows another one after %s', (_, attempt, Type, expected) => {
    expect(nextAttempt(attempt, failure(Type))).toMatchObject(expected);
  });

  it.each([
    ['the loss of the connection of a write', first, ConnectionFailure],
    ['a second loss of the connection', { ...read, retries: 1 }, ConnectionFailure],
    ['a statement that was cancelled', first, StatementTimeout],
  ])('follows none after %s', (_, attempt, Type) => {
    expect(nextAttempt(attempt, failure(Type))).toBeUndefined();
  });

  it.each([LockTimeout, SerializationFailure])('follows none if no time is left: %s', (Type) => {
    const late = { ...first, deadline: new Deadline(99) };
    expect(nextAttempt(late, failure(Type))).toBeUndefined();
  });

  it('follows none after other errors', () => {
    expect(nextAttempt(read, new Error('for a test'))).toBeUndefined();
  });

  it('begins at once after the first failure, and after a pause after the others', () => {
    expect(pauseBefore({ ...first, retries: 1 })).toBe(0);
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
    expect(pauseBefore({ ...first, retries: 2 })).toBe(25);
    jest.restoreAllMocks();
  });
});

describe('an operation that is not repeated', () => {
  const failure = (Type: typeof LockTimeout) => new Type('create_failed', new Error('for a test'));

  it.each([
    ['could not get a lock', LockTimeout],
    ['conflicts with others', SerializationFailure],
    ['has used up its time', StatementTimeout],
  ])('is overloaded if it %s', (_, Type) => {
    expect(refusalOf(failure(Type), new Deadline(0))).toMatchObject({
      code: 'overloaded',
      status: 503,
      headers: { 'Retry-After': '1' },
    });
  });

  it('has its error if PostgreSQL cancelled it before its timeout', () => {
    const cancelled = failure(StatementTimeout);
    expect(refusalOf(cancelled, new Deadline(3_500))).toBe(cancelled);
  });

  it('has its error if the connection was lost', () => {
    const lost = failure(ConnectionFailure);
    expect(refusalOf(lost, new Deadline(0))).toBe(lost);
  });
});

/** The durations of an operation without load, and of one that is slow. */
const FAST_MS = 1;
const SLOW_MS = 101;

/** Starts as many operations as the limit allows. */
function fill(): number[] {
  return Array.from({ length: tested.available }, () => tested.acquire());
}

/** The current limit, when no operation is running. */
const limit = () => tested.available;

/** Runs rounds of operations that take this long, each as many as the limit allows. */
function run(ms: number, rounds = 1): void {
  for (let round = 0; round < rounds; round++) {
    const started = fill();
    jest.advanceTimersByTime(ms);
    for (const startedAt of started) tested.release(startedAt);
  }
}

describe('the concurrency limit', () => {
  it('admits 64 concurrent operations', () => {
    for (let n = 1; n < MAX_LIMIT; n++) tested.acquire();
    expect(tested.available).toBe(1);
    expect(tested.isReached).toBe(false);
    tested.acquire();
    expect(tested.available).toBe(0);
    expect(tested.isReached).toBe(true);
    tested.release();
    expect(tested.available).toBe(1);
  });

  it('calls the listener when an operation has ended', () => {
    const ended = jest.fn();
    tested.onRelease(ended);
    tested.acquire();
    expect(ended).not.toHaveBeenCalled();
    tested.release();
    expect(ended).toHaveBeenCalledTimes(1);
  });

  it('is halved once when the operations of a full round are slow, to 16 at least', () => {
    const limits = [];
    for (let round = 0; round < 3; round++) {
      run(SLOW_MS);
      limits.push(limit());
    }
    expect(limits).toEqual([32, 16, 16]);
  });

  it('grows by one for each round of fast operations that have successors, to 64 at most', () => {
    run(SLOW_MS, 2);
    const running = fill();
    for (let n = 0; n < 50; n++) {
      tested.release(running.shift());
      while (!tested.isReached) running.push(tested.acquire());
    }
    for (const startedAt of running) tested.release(startedAt);
    // 16 operations of the first round, 17 of the second, 18 of the third.
    expect(limit()).toBe(18);
    run(FAST_MS, 4_000);
    expect(limit()).toBe(MAX_LIMIT);
  });

  it('is not changed by operations that end while it is not reached', () => {
    const startedAt = tested.acquire();
    jest.advanceTimersByTime(SLOW_MS);
    tested.release(startedAt);
    expect(limit()).toBe(MAX_LIMIT);
  });

  it('is not changed by an operation without a duration', () => {
    const started = fill();
    jest.advanceTimersByTime(SLOW_MS);
    started.forEach(() => {
      tested.release();
    });
    expect(limit()).toBe(MAX_LIMIT);
  });
});

/** How long an admitted request may take, also if the database does not respond. */
const MAX_RESPONSE_MS = 5_000 - new TimeBudget().admissionMs;

/** Time in milliseconds after which an operation starts no more statements. */
const OPERATION_MS = 3_500;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it.each([0, 1_000, 2_500, 3_000, OPERATION_MS - 1])(
  'ends a statement that starts %d ms after its operation so that a request that has waited takes less than 5 seconds',
  (ms) => {
    const deadline = new TimeBudget().startDeadline();
    jest.advanceTimersByTime(ms);
    for (const wait of ['brief', 'long'] as const) {
      const [lock, statement] = deadline.timeouts(wait).map(Number);
      expect(lock).toBeLessThanOrEqual(statement!);
      expect(ms + statement!).toBeLessThan(MAX_RESPONSE_MS);
    }
    const { client, destroy } = watchedClient();
    destroyAfter(deadline.connectionMs, client);
    jest.advanceTimersByTime(MAX_RESPONSE_MS - ms);
    expect(destroy).toHaveBeenCalled();
  },
);

it('divides the time among the executions of a statement', () => {
  const deadline = new TimeBudget().startDeadline();
  const [, one] = deadline.timeouts('brief').map(Number);
  const [lock, statement] = deadline.timeouts('brief', 64).map(Number);
  expect(64 * statement!).toBeLessThanOrEqual(one!);
  expect(lock).toBe(statement);
});

it('does not destroy a connection that was released in time', () => {
  const deadline = new TimeBudget().startDeadline();
  const { client, destroy } = watchedClient();
  destroyAfter(deadline.connectionMs, client)();
  jest.advanceTimersByTime(MAX_RESPONSE_MS);
  expect(destroy).not.toHaveBeenCalled();
});

/** A client that is not connected. */
function watchedClient() {
  const client = new ResilientClient();
  return { client, destroy: jest.spyOn(client, 'destroy') };
}
