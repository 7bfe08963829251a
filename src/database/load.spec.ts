import { Load } from './load.js';

const WINDOW_MS = 25;

let load: Load;

beforeEach(() => {
  jest.useFakeTimers();
  load = new Load();
});
afterEach(() => jest.useRealTimers());

/** So many operations under way, each with one statement that takes so long, for so many windows. */
function serve(operations: number, ms: number, windows = 1): void {
  for (let i = 0; i < operations; i++) load.begin();
  for (let window = 0; window < windows; window++) {
    jest.advanceTimersByTime(WINDOW_MS);
    for (let i = 0; i < 20; i++) load.observe('select', ms);
  }
}

function finish(operations: number): void {
  for (let i = 0; i < operations; i++) load.end();
}

/** What the statement takes alone is known. */
function whenCalm(ms: number): void {
  serve(1, ms, 2);
  finish(1);
}

it.each([
  ['many whose statements take as long as alone', 200, 1],
  ['many whose statements take a little longer', 200, 4],
  ['as many as a client keeps busy, however late', 96, 50],
])('refuses nothing with %s', (_, operations, ms) => {
  whenCalm(1);
  serve(operations, ms, 20);
  expect(load.refuses()).toBe(false);
});

it('refuses nothing in a burst', () => {
  whenCalm(1);
  serve(200, 50, 3);
  expect(load.refuses()).toBe(false);
});

it('refuses what comes while many are late for longer, and nothing as soon as they are served', () => {
  whenCalm(1);
  serve(200, 50, 5);
  expect(load.refuses()).toBe(true);
  finish(180);
  expect(load.refuses()).toBe(false);
});

it('takes sooner for a crowd what takes long alone', () => {
  whenCalm(50);
  serve(21, 500, 5);
  expect(load.refuses()).toBe(true);
});

it('lets fewer through while they are late, but always some, and more when they are not', () => {
  whenCalm(1);
  serve(97, 50, 30);
  finish(97 - 3);
  expect(load.refuses()).toBe(false);
  serve(1, 50);
  expect(load.refuses()).toBe(true);
  serve(0, 1, 20);
  expect(load.refuses()).toBe(false);
});

it('forgets the crowd when none has come back for two seconds', () => {
  whenCalm(1);
  serve(200, 50, 5);
  expect(load.refuses()).toBe(true);
  finish(199);
  jest.advanceTimersByTime(2_001);
  serve(0, 1);
  serve(90, 1);
  expect(load.refuses()).toBe(false);
});

it('does not hold a limit against those who come when everything hangs', () => {
  whenCalm(1);
  serve(200, 50, 5);
  expect(load.refuses()).toBe(true);
  jest.advanceTimersByTime(2_001);
  expect(load.refuses()).toBe(false);
});

it('never lets more than 256 operations wait for one another', () => {
  for (let i = 0; i < 256; i++) {
    expect(load.refuses()).toBe(false);
    load.begin();
  }
  expect(load.refuses()).toBe(true);
  load.end();
  expect(load.refuses()).toBe(false);
});

it('learns what a statement takes alone anew where that has changed for longer', () => {
  whenCalm(1);
  jest.advanceTimersByTime(10_001);
  serve(20, 50);
  jest.advanceTimersByTime(10_001);
  serve(100, 50, 20);
  expect(load.refuses()).toBe(false);
});
