import { Load, MOST_UNDER_WAY } from '../../database/gateway/load.js';
import { Door, type Visitor } from './door.js';

/** Time until the queue is counted, and the maximum delay of a refusal. */
const PATIENCE_MS = 370;
const LONGEST_HOLD_MS = 400;

let load: Load;
let door: Door;
/** Numbers of the admitted requests, in order. */
let entered: number[];
let refused: number[];
let left: number[];

beforeEach(() => {
  jest.useFakeTimers();
  load = new Load();
  door = new Door(load);
  entered = [];
  refused = [];
  left = [];
});
afterEach(() => jest.useRealTimers());

/**
 * Sends requests that are numbered from `first`.
 * @returns functions that close their connections
 */
function arrive(count: number, first = 1): (() => void)[] {
  return Array.from({ length: count }, (_, i) => {
    const number = first + i;
    let close = (): void => undefined;
    const visitor: Visitor = {
      enter: () => {
        load.begin();
        entered.push(number);
      },
      refuse: () => {
        refused.push(number);
      },
      leave: () => {
        left.push(number);
      },
      onClose: (listener) => {
        close = listener;
      },
    };
    door.receive(visitor);
    return () => {
      close();
    };
  });
}

/** Completes a number of admitted requests, so that others are admitted. */
function serve(count: number): void {
  for (let i = 0; i < count; i++) {
    load.end();
    jest.advanceTimersByTime(1);
  }
}

/** Reaches the concurrency limit. */
function fill(): void {
  arrive(MOST_UNDER_WAY);
  entered = [];
}

/** Reports the duration of statements. */
function observe(ms: number): void {
  jest.advanceTimersByTime(25);
  for (let i = 0; i < 20; i++) load.observe('select', ms);
}

/** Makes a number of requests wait for too long, so that they are refused. */
function overload(count: number): void {
  fill();
  arrive(count);
  jest.advanceTimersByTime(PATIENCE_MS + LONGEST_HOLD_MS);
  refused = [];
}

it('admits requests up to the concurrency limit', () => {
  arrive(MOST_UNDER_WAY);
  expect(entered).toHaveLength(MOST_UNDER_WAY);
});

it('admits queued requests when others complete, newest first', () => {
  fill();
  arrive(9);
  serve(8);
  expect(entered).toEqual([1, 9, 8, 7, 6, 5, 4]);
  serve(1);
  jest.advanceTimersByTime(PATIENCE_MS + LONGEST_HOLD_MS);
  expect(entered).toHaveLength(9);
  expect(refused).toEqual([]);
});

it('admits the oldest request every eighth time', () => {
  fill();
  arrive(17);
  serve(17);
  expect([entered[0], entered[8], entered[16]]).toEqual([1, 2, 3]);
});

it('reserves the last place for new requests for a short time', () => {
  fill();
  arrive(3);
  serve(1);
  jest.advanceTimersByTime(5);
  serve(1);
  expect(entered).toEqual([1]);
  arrive(1, 4);
  jest.advanceTimersByTime(1);
  expect(entered).toEqual([1, 4]);
  serve(1);
  jest.advanceTimersByTime(30);
  expect(entered).toEqual([1, 4, 3]);
});

it('admits queued requests if admitted ones do not use the database', () => {
  fill();
  const enter = jest.fn();
  door.receive({ enter, refuse: jest.fn(), leave: jest.fn(), onClose: jest.fn() });
  arrive(1);
  load.end();
  jest.advanceTimersByTime(100);
  expect(enter).toHaveBeenCalledTimes(1);
  expect(entered).toEqual([1]);
});

it('refuses no request of a burst that is being served', () => {
  fill();
  arrive(300);
  for (let i = 0; i < 300; i++) {
    jest.advanceTimersByTime(5);
    serve(1);
  }
  expect(entered).toHaveLength(300);
  expect(refused).toEqual([]);
});

it('refuses the queue if it does not shrink', () => {
  fill();
  arrive(100);
  jest.advanceTimersByTime(PATIENCE_MS - 20);
  expect(refused).toEqual([]);
  jest.advanceTimersByTime(20 + LONGEST_HOLD_MS);
  expect(refused).toHaveLength(100);
  expect(entered).toEqual([]);
});

it('refuses new requests under overload, with a delay', () => {
  overload(100);
  arrive(1);
  jest.advanceTimersByTime(99);
  expect(refused).toEqual([]);
  jest.advanceTimersByTime(LONGEST_HOLD_MS);
  expect(refused).toEqual([1]);
});

it('stops refusing when the number of requests is normal again', () => {
  overload(100);
  serve(MOST_UNDER_WAY);
  jest.advanceTimersByTime(100);
  arrive(MOST_UNDER_WAY);
  arrive(1, 100);
  serve(1);
  expect(entered.at(-1)).toBe(100);
  jest.advanceTimersByTime(PATIENCE_MS + LONGEST_HOLD_MS);
  expect(refused).toEqual([]);
});

it('queues requests while the number becomes normal', () => {
  observe(1);
  fill();
  arrive(100);
  observe(50);
  jest.advanceTimersByTime(PATIENCE_MS + LONGEST_HOLD_MS);
  refused = [];
  for (let i = 0; i < MOST_UNDER_WAY; i++) load.end();
  arrive(20);
  expect(entered).toHaveLength(8);
  jest.advanceTimersByTime(120);
  expect(entered).toHaveLength(20);
  expect(refused).toEqual([]);
});

it('does not depend on an earlier, larger burst', () => {
  fill();
  arrive(800);
  for (let i = 0; i < 800; i++) serve(1);
  arrive(100);
  jest.advanceTimersByTime(PATIENCE_MS + LONGEST_HOLD_MS);
  expect(refused).toHaveLength(100);
});

it('reports a closed connection once and forgets its request', () => {
  fill();
  const closes = arrive(2);
  closes[0]?.();
  serve(2);
  closes[1]?.();
  expect(entered).toEqual([2]);
  expect(left).toEqual([1]);
  overload(100);
  for (const close of arrive(10)) close();
  jest.advanceTimersByTime(LONGEST_HOLD_MS);
  expect(refused).toEqual([]);
  expect(left).toHaveLength(11);
});

it('has no timers when the queue is empty', () => {
  fill();
  for (const close of arrive(10)) close();
  jest.advanceTimersByTime(10);
  expect(jest.getTimerCount()).toBe(0);
});

it('queues at most 1,024 requests and refuses the oldest', () => {
  fill();
  arrive(1_025);
  serve(1_024);
  expect(entered).toHaveLength(1_024);
  expect(refused).toEqual([1]);
});

it('delays at most 1,024 refusals and sends the oldest', () => {
  overload(1);
  arrive(1_026);
  expect(refused).toEqual([1, 2]);
});
