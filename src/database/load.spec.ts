import { Load } from './load.js';

const WINDOW_MS = 25;

/** So many windows are longer than a burst. */
const LONG = 8;

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

/** So many requests that are refused. */
function refuse(requests: number): number {
  for (let i = 0; i < requests; i++) expect(load.refuses()).toBe(true);
  return requests;
}

function dismiss(requests: number): void {
  for (let i = 0; i < requests; i++) load.dismiss();
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

it('refuses nothing in a short burst, nor in one that is being served', () => {
  whenCalm(1);
  serve(200, 50, 5);
  expect(load.refuses()).toBe(false);
  finish(60);
  serve(0, 50, 5);
  expect(load.refuses()).toBe(false);
});

it('refuses what comes while a crowd is late for longer, and nothing as soon as few are under way', () => {
  whenCalm(1);
  serve(200, 50, LONG);
  expect(load.refuses()).toBe(true);
  finish(180);
  expect(load.refuses()).toBe(false);
});

it('lets fewer through while they are late, but always some, and more when they are not', () => {
  whenCalm(1);
  serve(200, 50, 40);
  const refused = refuse(100);
  finish(200 - 4);
  expect(load.refuses()).toBe(true);
  finish(1);
  expect(load.refuses()).toBe(false);
  serve(1, 1, 20);
  expect(load.refuses()).toBe(false);
  dismiss(refused);
});

it('refuses nothing any more once those who ask are no crowd, however busy they are', () => {
  whenCalm(1);
  serve(200, 50, LONG);
  const refused = refuse(100);
  finish(200 - 40);
  expect(load.refuses()).toBe(true);
  dismiss(refused + 1);
  expect(load.refuses()).toBe(false);
  serve(0, 50, 40);
  expect(load.refuses()).toBe(false);
});

it('does not hold a limit against those who come when everything hangs', () => {
  whenCalm(1);
  serve(200, 50, LONG);
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
