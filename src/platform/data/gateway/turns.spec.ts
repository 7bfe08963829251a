import { setImmediate as nextTurn } from 'node:timers/promises';
import { KeyedQueue, Turn, TurnNeeded } from './turns.js';

let queue: KeyedQueue;
let started: string[];
let turns: Turn[];

beforeEach(() => {
  queue = new KeyedQueue();
  started = [];
  turns = [];
});
afterEach(async () => {
  jest.useRealTimers();
  for (const turn of turns) {
    await settle();
    turn.end();
  }
});

/** Lets all operations start that have their keys. */
async function settle(): Promise<void> {
  for (let n = 0; n < 5; n++) await nextTurn();
}

/** Starts an operation that has its keys until `end` is called. */
function start(name: string, ...keys: string[]): Turn {
  const turn = new Turn(queue);
  turns.push(turn);
  void turn.wait(keys, Infinity).then(() => started.push(name));
  return turn;
}

it('gives a key to one operation at a time, in the order of the requests, and other keys at once', async () => {
  const [first, second] = ['first', 'second', 'third'].map((name) => start(name, 'a'));
  start('other', 'b');
  await settle();
  expect(started).toEqual(['first', 'other']);
  first!.end();
  await settle();
  expect(started).toEqual(['first', 'other', 'second']);
  second!.end();
  await settle();
  expect(started).toEqual(['first', 'other', 'second', 'third']);
});

it('gives several keys together, in whatever order they are named', async () => {
  const first = start('first', 'a', 'b');
  const second = start('second', 'b', 'a');
  start('third', 'b');
  await settle();
  expect(started).toEqual(['first']);
  first.end();
  await settle();
  expect(started).toEqual(['first', 'second']);
  second.end();
  await settle();
  expect(started).toEqual(['first', 'second', 'third']);
});

it('lets an operation take further keys that are free', () => {
  const turn = new Turn(queue);
  turn.take(['a']);
  turn.take(['a', 'b']);
  expect(queue.isBusy(['b'])).toBe(true);
});

it('refuses further keys that others have, and names all keys to wait for', () => {
  const [one, other] = [new Turn(queue), new Turn(queue)];
  one.take(['a']);
  other.take(['b']);
  expect(() => {
    other.take(['a', 'c']);
  }).toThrow(
    expect.objectContaining({ constructor: TurnNeeded, keys: ['b', 'a', 'c'], looksAgain: false }),
  );
});

it('gives keys back while it waits for others, so that two operations never wait for each other', async () => {
  const [one, other] = [new Turn(queue), new Turn(queue)];
  one.take(['a']);
  other.take(['b']);
  const waiting = other.wait(['b', 'a'], Infinity);
  await settle();
  one.take(['c']);
  one.end();
  expect(await waiting).toBe(true);
});

it('does not wait longer than its time', async () => {
  jest.useFakeTimers();
  new Turn(queue).take(['a']);
  const waiting = new Turn(queue).wait(['a'], 1_000);
  await jest.advanceTimersByTimeAsync(1_001);
  expect(await waiting).toBe(false);
});

it('keeps the order of those behind one whose time is over', async () => {
  jest.useFakeTimers();
  const first = new Turn(queue);
  first.take(['a']);
  const second = new Turn(queue).wait(['a'], 1_000);
  start('third', 'a');
  await jest.advanceTimersByTimeAsync(1_001);
  expect(await second).toBe(false);
  expect(started).toEqual([]);
  first.end();
  await jest.advanceTimersByTimeAsync(1);
  expect(started).toEqual(['third']);
});

it('lets an operation that looks again wait for those who have a key, without taking it', async () => {
  const first = start('first', 'a');
  const again = new Turn(queue).waitAfter(new TurnNeeded(['a', 'b'], true), 1_000);
  const ended = again.then(() => started.push('ended'));
  await settle();
  expect(started).toEqual(['first']);
  first.end();
  await ended;
  expect(queue.isBusy(['a'])).toBe(false);
});

it('lets an operation that has looked again take the keys when it needs them once more', async () => {
  const turn = new Turn(queue);
  turns.push(turn);
  const needed = new TurnNeeded(['a'], true);
  expect(await turn.waitAfter(needed, 1_000)).toBe(true);
  expect(queue.isBusy(['a'])).toBe(false);
  expect(await turn.waitAfter(needed, 1_000)).toBe(true);
  expect(queue.isBusy(['a'])).toBe(true);
});

it('keeps no key that nobody has', async () => {
  const turn = start('first', 'a', 'b');
  await settle();
  turn.end();
  await settle();
  expect(queue.isBusy(['a', 'b'])).toBe(false);
});
