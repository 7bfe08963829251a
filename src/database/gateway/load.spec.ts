import { Load, MOST_UNDER_WAY } from './load.js';

const WINDOW_MS = 25;

/** Duration of a statement without load, and under overload. */
const ALONE_MS = 1;
const LATE_MS = 50;

let load: Load;

beforeEach(() => {
  jest.useFakeTimers();
  load = new Load();
});
afterEach(() => jest.useRealTimers());

function begin(operations: number): void {
  for (let i = 0; i < operations; i++) load.begin();
}

function end(operations: number): void {
  for (let i = 0; i < operations; i++) load.end();
}

/** Reports statements of this duration for a number of windows, with or without queued operations. */
function observe(ms: number, windows = 1, areSomeWaiting = true): void {
  for (let window = 0; window < windows; window++) {
    if (areSomeWaiting) load.room();
    jest.advanceTimersByTime(WINDOW_MS);
    for (let i = 0; i < 10; i++) load.observe('select', ms);
  }
}

/** Reaches the limit after the duration without load was measured. */
function fill(): void {
  observe(ALONE_MS, 2, false);
  begin(MOST_UNDER_WAY);
}

/** The current limit of concurrent operations. */
function limit(): number {
  return Math.floor(load.underWay + load.room());
}

it('admits 64 concurrent operations', () => {
  begin(MOST_UNDER_WAY - 1);
  expect(load.room()).toBe(1);
  load.begin();
  expect(load.room()).toBe(0);
  load.end();
  expect(load.room()).toBe(1);
});

it('calls the listener when an operation has ended', () => {
  const ended = jest.fn();
  load.onEnd(ended);
  load.begin();
  expect(ended).not.toHaveBeenCalled();
  load.end();
  expect(ended).toHaveBeenCalledTimes(1);
});

it.each([
  ['have their normal duration', ALONE_MS],
  ['take twice as long', 2 * ALONE_MS],
])('keeps the limit while statements %s', (_, ms) => {
  fill();
  observe(ms, 40);
  expect(limit()).toBe(MOST_UNDER_WAY);
});

it('keeps the limit while statements are slow but no operation is queued', () => {
  fill();
  load.end();
  observe(LATE_MS, 40);
  expect(limit()).toBe(MOST_UNDER_WAY);
});

it('lowers the limit to 2 at least while statements are slow and operations are queued', () => {
  fill();
  observe(LATE_MS);
  expect(limit()).toBe(8);
  observe(LATE_MS);
  expect(limit()).toBe(6);
  observe(LATE_MS, 40);
  expect(limit()).toBe(2);
});

it('raises the limit again when statements are fast', () => {
  fill();
  observe(LATE_MS, 40);
  observe(ALONE_MS, 20);
  expect(limit()).toBe(5);
  observe(ALONE_MS, 100);
  expect(limit()).toBe(MOST_UNDER_WAY);
});

it('restores the limit at once when the queue is empty', () => {
  fill();
  observe(LATE_MS, 40);
  load.relax();
  end(1);
  observe(LATE_MS);
  expect(limit()).toBe(MOST_UNDER_WAY);
});

it('does not count operations that hang', () => {
  fill();
  observe(LATE_MS, 40);
  end(MOST_UNDER_WAY - 2);
  expect(load.room()).toBeLessThan(1);
  jest.advanceTimersByTime(2_001);
  expect(limit()).toBe(MOST_UNDER_WAY);
});

it('counts operations that have just started after an idle time', () => {
  observe(ALONE_MS, 2, false);
  jest.advanceTimersByTime(60_000);
  fill();
  observe(LATE_MS);
  expect(limit()).toBe(8);
});

it('adapts to a lasting change of the normal duration', () => {
  observe(ALONE_MS, 2, false);
  jest.advanceTimersByTime(10_001);
  observe(LATE_MS, 1, false);
  jest.advanceTimersByTime(10_001);
  begin(MOST_UNDER_WAY);
  observe(LATE_MS, 20);
  expect(limit()).toBe(MOST_UNDER_WAY);
});
