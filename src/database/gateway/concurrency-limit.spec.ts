import { ConcurrencyLimit, MAX_LIMIT } from './concurrency-limit.js';

const WINDOW_MS = 25;

/** Duration of a statement without load, and under overload. */
const BASELINE_MS = 1;
const SLOW_MS = 50;

let tested: ConcurrencyLimit;

beforeEach(() => {
  jest.useFakeTimers();
  tested = new ConcurrencyLimit();
});
afterEach(() => jest.useRealTimers());

function begin(operations: number): void {
  for (let i = 0; i < operations; i++) tested.acquire();
}

function end(operations: number): void {
  for (let i = 0; i < operations; i++) tested.release();
}

/** Reports statements of this duration for a number of windows, with or without queued operations. */
function observe(ms: number, windows = 1, areSomeWaiting = true): void {
  for (let window = 0; window < windows; window++) {
    if (areSomeWaiting) tested.available();
    jest.advanceTimersByTime(WINDOW_MS);
    for (let i = 0; i < 10; i++) tested.record('select', ms);
  }
}

/** Reaches the limit after the duration without load was measured. */
function fill(): void {
  observe(BASELINE_MS, 2, false);
  begin(MAX_LIMIT);
}

/** The current limit of concurrent operations. */
function limit(): number {
  return Math.floor(tested.inFlight + tested.available());
}

it('admits 64 concurrent operations', () => {
  begin(MAX_LIMIT - 1);
  expect(tested.available()).toBe(1);
  tested.acquire();
  expect(tested.available()).toBe(0);
  tested.release();
  expect(tested.available()).toBe(1);
});

it('calls the listener when an operation has ended', () => {
  const ended = jest.fn();
  tested.onRelease(ended);
  tested.acquire();
  expect(ended).not.toHaveBeenCalled();
  tested.release();
  expect(ended).toHaveBeenCalledTimes(1);
});

it.each([
  ['have their normal duration', BASELINE_MS],
  ['take twice as long', 2 * BASELINE_MS],
])('keeps the limit while statements %s', (_, ms) => {
  fill();
  observe(ms, 40);
  expect(limit()).toBe(MAX_LIMIT);
});

it('keeps the limit while statements are slow but no operation is queued', () => {
  fill();
  tested.release();
  observe(SLOW_MS, 40);
  expect(limit()).toBe(MAX_LIMIT);
});

it('lowers the limit to 4 while statements are slow and operations are queued', () => {
  fill();
  observe(SLOW_MS);
  expect(limit()).toBe(4);
  observe(BASELINE_MS, 20);
  expect(limit()).toBe(10);
  observe(SLOW_MS);
  expect(limit()).toBe(8);
  observe(SLOW_MS, 40);
  expect(limit()).toBe(4);
});

it('raises the limit again when statements are fast', () => {
  fill();
  observe(SLOW_MS, 40);
  observe(BASELINE_MS, 20);
  expect(limit()).toBe(10);
  observe(BASELINE_MS, 100);
  expect(limit()).toBe(MAX_LIMIT);
});

it('restores the limit at once when the queue is empty', () => {
  fill();
  observe(SLOW_MS, 40);
  tested.reset();
  end(1);
  observe(SLOW_MS);
  expect(limit()).toBe(MAX_LIMIT);
});

it('does not count operations that hang', () => {
  fill();
  observe(SLOW_MS, 40);
  end(MAX_LIMIT - 4);
  expect(tested.available()).toBeLessThan(1);
  jest.advanceTimersByTime(2_001);
  expect(limit()).toBe(MAX_LIMIT);
});

it('counts operations that have just started after an idle time', () => {
  observe(BASELINE_MS, 2, false);
  jest.advanceTimersByTime(60_000);
  fill();
  observe(SLOW_MS);
  expect(limit()).toBe(4);
});

it('adapts to a lasting change of the normal duration', () => {
  observe(BASELINE_MS, 2, false);
  jest.advanceTimersByTime(10_001);
  observe(SLOW_MS, 1, false);
  jest.advanceTimersByTime(10_001);
  begin(MAX_LIMIT);
  observe(SLOW_MS, 20);
  expect(limit()).toBe(MAX_LIMIT);
});
