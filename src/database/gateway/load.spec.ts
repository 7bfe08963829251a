import { Load, MOST_UNDER_WAY } from './load.js';

const WINDOW_MS = 25;

/** What a statement takes alone, and when there are too many of them. */
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

/** For so many windows, statements take so long while others wait for room, or not. */
function observe(ms: number, windows = 1, areSomeWaiting = true): void {
  for (let window = 0; window < windows; window++) {
    if (areSomeWaiting) load.room();
    jest.advanceTimersByTime(WINDOW_MS);
    for (let i = 0; i < 10; i++) load.observe('select', ms);
  }
}

/** As many are under way as there may be, and it is known what they take alone. */
function fill(): void {
  observe(ALONE_MS, 2, false);
  begin(MOST_UNDER_WAY);
}

/** How many operations may be under way. */
function limit(): number {
  return Math.floor(load.underWay + load.room());
}

it('has room for 64 operations at a time', () => {
  begin(MOST_UNDER_WAY - 1);
  expect(load.room()).toBe(1);
  load.begin();
  expect(load.room()).toBe(0);
  load.end();
  expect(load.room()).toBe(1);
});

it('tells when an operation has ended', () => {
  const ended = jest.fn();
  load.onEnd(ended);
  load.begin();
  expect(ended).not.toHaveBeenCalled();
  load.end();
  expect(ended).toHaveBeenCalledTimes(1);
});

it.each([
  ['take as long as alone', ALONE_MS],
  ['take a little longer', 2 * ALONE_MS],
])('has room for as many where they %s', (_, ms) => {
  fill();
  observe(ms, 40);
  expect(limit()).toBe(MOST_UNDER_WAY);
});

it('has room for as many where they are late, but no one has to wait for them', () => {
  fill();
  load.end();
  observe(LATE_MS, 40);
  expect(limit()).toBe(MOST_UNDER_WAY);
});

it('has room for fewer while they are late and some wait, but always for some', () => {
  fill();
  observe(LATE_MS);
  expect(limit()).toBe(8);
  observe(LATE_MS);
  expect(limit()).toBe(6);
  observe(LATE_MS, 40);
  expect(limit()).toBe(2);
});

it('has room for more again while they are in time', () => {
  fill();
  observe(LATE_MS, 40);
  observe(ALONE_MS, 20);
  expect(limit()).toBe(5);
  observe(ALONE_MS, 100);
  expect(limit()).toBe(MOST_UNDER_WAY);
});

it('has room for all at once when no one has to wait any more, whatever was observed before', () => {
  fill();
  observe(LATE_MS, 40);
  load.relax();
  end(1);
  observe(LATE_MS);
  expect(limit()).toBe(MOST_UNDER_WAY);
});

it('does not hold it against anyone that what is under way hangs', () => {
  fill();
  observe(LATE_MS, 40);
  end(MOST_UNDER_WAY - 2);
  expect(load.room()).toBeLessThan(1);
  jest.advanceTimersByTime(2_001);
  expect(limit()).toBe(MOST_UNDER_WAY);
});

it('takes nothing for hanging that has just begun', () => {
  observe(ALONE_MS, 2, false);
  jest.advanceTimersByTime(60_000);
  fill();
  observe(LATE_MS);
  expect(limit()).toBe(8);
});

it('learns what a statement takes alone anew where that has changed for longer', () => {
  observe(ALONE_MS, 2, false);
  jest.advanceTimersByTime(10_001);
  observe(LATE_MS, 1, false);
  jest.advanceTimersByTime(10_001);
  begin(MOST_UNDER_WAY);
  observe(LATE_MS, 20);
  expect(limit()).toBe(MOST_UNDER_WAY);
});
