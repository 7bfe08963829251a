import { Load, MOST_UNDER_WAY } from '../../database/gateway/load.js';
import { Door, type Visitor } from './door.js';

/** When those who wait are looked at, and the time in which all who are refused are told. */
const PATIENCE_MS = 370;
const LONGEST_HOLD_MS = 400;

let load: Load;
let door: Door;
/** Who entered, in turn. */
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
 * So many requests arrive, numbered from `first`.
 * @returns what closes each of them
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

/** So many of those who entered are served, and others take their places. */
function serve(count: number): void {
  for (let i = 0; i < count; i++) {
    load.end();
    jest.advanceTimersByTime(1);
  }
}

/** There is no room for anyone. */
function fill(): void {
  arrive(MOST_UNDER_WAY);
  entered = [];
}

/** What statements take now. */
function observe(ms: number): void {
  jest.advanceTimersByTime(25);
  for (let i = 0; i < 20; i++) load.observe('select', ms);
}

/** So many have had to wait for too long, and were told so. */
function overload(count: number): void {
  fill();
  arrive(count);
  jest.advanceTimersByTime(PATIENCE_MS + LONGEST_HOLD_MS);
  refused = [];
}

it('lets in as many as there is room for', () => {
  arrive(MOST_UNDER_WAY);
  expect(entered).toHaveLength(MOST_UNDER_WAY);
});

it('lets the others in when there is room again, those who came last first', () => {
  fill();
  arrive(9);
  serve(8);
  expect(entered).toEqual([1, 9, 8, 7, 6, 5, 4]);
  serve(1);
  jest.advanceTimersByTime(PATIENCE_MS + LONGEST_HOLD_MS);
  expect(entered).toHaveLength(9);
  expect(refused).toEqual([]);
});

it('gives every eighth place to who has waited longest', () => {
  fill();
  arrive(17);
  serve(17);
  expect([entered[0], entered[8], entered[16]]).toEqual([1, 2, 3]);
});

it('keeps the last place for who comes, until no one has come for a while', () => {
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

it('lets the others in where those who entered ask the database for nothing', () => {
  fill();
  const enter = jest.fn();
  door.receive({ enter, refuse: jest.fn(), leave: jest.fn(), onClose: jest.fn() });
  arrive(1);
  load.end();
  jest.advanceTimersByTime(100);
  expect(enter).toHaveBeenCalledTimes(1);
  expect(entered).toEqual([1]);
});

it('refuses no one of a burst that is being served, however long that takes', () => {
  fill();
  arrive(300);
  for (let i = 0; i < 300; i++) {
    jest.advanceTimersByTime(5);
    serve(1);
  }
  expect(entered).toHaveLength(300);
  expect(refused).toEqual([]);
});

it('refuses those who wait where there have been as many for a while', () => {
  fill();
  arrive(100);
  jest.advanceTimersByTime(PATIENCE_MS - 20);
  expect(refused).toEqual([]);
  jest.advanceTimersByTime(20 + LONGEST_HOLD_MS);
  expect(refused).toHaveLength(100);
  expect(entered).toEqual([]);
});

it('then refuses whoever comes while there is no room, after a moment', () => {
  overload(100);
  arrive(1);
  jest.advanceTimersByTime(99);
  expect(refused).toEqual([]);
  jest.advanceTimersByTime(LONGEST_HOLD_MS);
  expect(refused).toEqual([1]);
});

it('refuses no one any more once those who ask have been no crowd for a moment', () => {
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

it('has those wait in that moment for whom there is no room yet', () => {
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

it('is no stricter with a burst because there was a larger one', () => {
  fill();
  arrive(800);
  for (let i = 0; i < 800; i++) serve(1);
  arrive(100);
  jest.advanceTimersByTime(PATIENCE_MS + LONGEST_HOLD_MS);
  expect(refused).toHaveLength(100);
});

it('knows no more of who has left, and says so once', () => {
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

it('has nothing left to do where all who waited have left', () => {
  fill();
  for (const close of arrive(10)) close();
  jest.advanceTimersByTime(10);
  expect(jest.getTimerCount()).toBe(0);
});

it('lets no more than 1,024 wait, and refuses who has waited longest', () => {
  fill();
  arrive(1_025);
  serve(1_024);
  expect(entered).toHaveLength(1_024);
  expect(refused).toEqual([1]);
});

it('keeps no more than 1,024 in the dark, and tells who was refused first', () => {
  overload(1);
  arrive(1_026);
  expect(refused).toEqual([1, 2]);
});
