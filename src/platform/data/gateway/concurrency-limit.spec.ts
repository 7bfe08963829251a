import { ConcurrencyLimit, MAX_LIMIT } from './concurrency-limit.js';

/** The durations of an operation without load, and of one that is slow. */
const FAST_MS = 1;
const SLOW_MS = 101;

let tested: ConcurrencyLimit;

beforeEach(() => {
  jest.useFakeTimers();
  tested = new ConcurrencyLimit();
});
afterEach(() => jest.useRealTimers());

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

it('counts the statements that complete, but not those that fail', async () => {
  await tested.count(Promise.resolve());
  await tested.count(Promise.reject(new Error('failed'))).catch(() => undefined);
  expect(tested.completed).toBe(1);
});
