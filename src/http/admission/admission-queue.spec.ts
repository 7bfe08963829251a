import { ConcurrencyLimit, MAX_LIMIT } from '../../database/gateway/concurrency-limit.js';
import { AdmissionQueue, type PendingRequest } from './admission-queue.js';

/** Time until the length of the queue is compared, and the maximum delay of a rejection. */
const SHRINK_MS = 370;
const MAX_REJECTION_DELAY_MS = 400;

let limit: ConcurrencyLimit;
let admission: AdmissionQueue;
/** Numbers of the admitted requests, in order. */
let admitted: number[];
let rejected: number[];
let aborted: number[];

beforeEach(() => {
  jest.useFakeTimers();
  limit = new ConcurrencyLimit();
  admission = new AdmissionQueue(limit);
  admitted = [];
  rejected = [];
  aborted = [];
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
    const request: PendingRequest = {
      admit: () => {
        limit.acquire();
        admitted.push(number);
      },
      reject: () => {
        rejected.push(number);
      },
      abort: () => {
        aborted.push(number);
      },
      onClose: (listener) => {
        close = listener;
      },
    };
    admission.receive(request);
    return () => {
      close();
    };
  });
}

/** Completes a number of admitted requests, so that others are admitted. */
function serve(count: number): void {
  for (let i = 0; i < count; i++) {
    limit.release();
    jest.advanceTimersByTime(1);
  }
}

/** Reaches the concurrency limit. */
function fill(): void {
  arrive(MAX_LIMIT);
  admitted = [];
}

/** Reports the duration of statements. */
function observe(ms: number): void {
  jest.advanceTimersByTime(25);
  for (let i = 0; i < 20; i++) limit.record('select', ms);
}

/** Makes a number of requests wait for too long, so that they are rejected. */
function overload(count: number): void {
  fill();
  arrive(count);
  jest.advanceTimersByTime(SHRINK_MS + MAX_REJECTION_DELAY_MS);
  rejected = [];
}

it('admits requests up to the concurrency limit', () => {
  arrive(MAX_LIMIT);
  expect(admitted).toHaveLength(MAX_LIMIT);
});

it('admits queued requests when others complete, newest first', () => {
  fill();
  arrive(9);
  serve(8);
  expect(admitted).toEqual([1, 9, 8, 7, 6, 5, 4, 3]);
  serve(1);
  jest.advanceTimersByTime(SHRINK_MS + MAX_REJECTION_DELAY_MS);
  expect(admitted).toHaveLength(9);
  expect(rejected).toEqual([]);
});

it('admits the oldest request every eighth time', () => {
  fill();
  arrive(17);
  serve(17);
  expect([admitted[0], admitted[8], admitted[16]]).toEqual([1, 2, 3]);
});

it('admits queued requests if admitted ones do not use the database', () => {
  fill();
  const admit = jest.fn();
  admission.receive({ admit, reject: jest.fn(), abort: jest.fn(), onClose: jest.fn() });
  arrive(1);
  limit.release();
  jest.advanceTimersByTime(100);
  expect(admit).toHaveBeenCalledTimes(1);
  expect(admitted).toEqual([1]);
});

it('refuses no request of a burst that is being served', () => {
  fill();
  arrive(300);
  for (let i = 0; i < 300; i++) {
    jest.advanceTimersByTime(5);
    serve(1);
  }
  expect(admitted).toHaveLength(300);
  expect(rejected).toEqual([]);
});

it('refuses the queue if it does not shrink', () => {
  fill();
  arrive(100);
  jest.advanceTimersByTime(SHRINK_MS - 20);
  expect(rejected).toEqual([]);
  jest.advanceTimersByTime(20 + MAX_REJECTION_DELAY_MS);
  expect(rejected).toHaveLength(100);
  expect(admitted).toEqual([]);
});

it('refuses new requests under overload, with a delay', () => {
  overload(100);
  arrive(1);
  jest.advanceTimersByTime(99);
  expect(rejected).toEqual([]);
  jest.advanceTimersByTime(MAX_REJECTION_DELAY_MS);
  expect(rejected).toEqual([1]);
});

it('stops refusing when the number of requests is normal again', () => {
  overload(100);
  serve(MAX_LIMIT);
  jest.advanceTimersByTime(100);
  arrive(MAX_LIMIT);
  arrive(1, 100);
  serve(1);
  expect(admitted.at(-1)).toBe(100);
  jest.advanceTimersByTime(SHRINK_MS + MAX_REJECTION_DELAY_MS);
  expect(rejected).toEqual([]);
});

it('queues requests while the number becomes normal', () => {
  observe(1);
  fill();
  arrive(100);
  observe(50);
  jest.advanceTimersByTime(SHRINK_MS + MAX_REJECTION_DELAY_MS);
  rejected = [];
  for (let i = 0; i < MAX_LIMIT; i++) limit.release();
  arrive(20);
  expect(admitted).toHaveLength(4);
  jest.advanceTimersByTime(120);
  expect(admitted).toHaveLength(20);
  expect(rejected).toEqual([]);
});

it('does not depend on an earlier, larger burst', () => {
  fill();
  arrive(800);
  for (let i = 0; i < 800; i++) serve(1);
  arrive(100);
  jest.advanceTimersByTime(SHRINK_MS + MAX_REJECTION_DELAY_MS);
  expect(rejected).toHaveLength(100);
});

it('reports a closed connection once and forgets its request', () => {
  fill();
  const closes = arrive(2);
  closes[0]?.();
  serve(2);
  closes[1]?.();
  expect(admitted).toEqual([2]);
  expect(aborted).toEqual([1]);
  overload(100);
  for (const close of arrive(10)) close();
  jest.advanceTimersByTime(MAX_REJECTION_DELAY_MS);
  expect(rejected).toEqual([]);
  expect(aborted).toHaveLength(11);
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
  expect(admitted).toHaveLength(1_024);
  expect(rejected).toEqual([1]);
});

it('delays at most 1,024 refusals and sends the oldest', () => {
  overload(1);
  arrive(1_026);
  expect(rejected).toEqual([1, 2]);
});
