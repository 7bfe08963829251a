import { ConcurrencyLimit, MAX_LIMIT } from '../data/gateway/policies.js';
import { AdmissionQueue, type PendingRequest } from './admission.js';

const MAX_WAIT_MS = 1_000;

/** The interval at which the queue looks for requests that have waited too long. */
const CHECK_MS = 10;

let limit: ConcurrencyLimit;
let admission: AdmissionQueue;
/** Numbers of the admitted requests, in order. */
let admitted: number[];
let rejected: number[];
let aborted: number[];

beforeEach(() => {
  jest.useFakeTimers();
  limit = new ConcurrencyLimit();
  admission = new AdmissionQueue(limit, MAX_WAIT_MS);
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

/** Sends a request that does not use the database when it is admitted. */
function arriveWithoutOperation(): jest.Mock {
  const admit = jest.fn();
  admission.receive({ admit, reject: jest.fn(), abort: jest.fn(), onClose: jest.fn() });
  return admit;
}

/** Completes a number of admitted requests, so that others are admitted. */
function serve(count: number): void {
  for (let i = 0; i < count; i++) limit.release();
  jest.advanceTimersByTime(1);
}

/** Reaches the concurrency limit. */
function fill(): void {
  arrive(MAX_LIMIT);
  admitted = [];
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

it('admits requests up to the concurrency limit at once', () => {
  arrive(MAX_LIMIT + 1);
  expect(admitted).toEqual(numbers(MAX_LIMIT));
});

it('admits waiting requests in order of arrival when others complete', () => {
  fill();
  arrive(9);
  serve(2);
  expect(admitted).toEqual([1, 2]);
  serve(7);
  expect(admitted).toEqual(numbers(9));
});

it('lets no new request pass those that wait', () => {
  fill();
  arrive(1);
  limit.release();
  arrive(1, 2);
  jest.advanceTimersByTime(1);
  expect(admitted).toEqual([1]);
});

it.each([
  ['eight waiting requests', 8, false],
  ['one waiting request if the server has accepted a connection', 1, true],
])('admits %s in a turn of the event loop', (_, count, isConnected) => {
  fill();
  arrive(9);
  if (isConnected) admission.noteConnection();
  for (let i = 0; i < 9; i++) limit.release();
  jest.advanceTimersToNextTimer();
  expect(admitted).toEqual(numbers(count));
  jest.advanceTimersToNextTimer();
  expect(admitted).toEqual(numbers(9));
});

it('admits waiting requests if admitted ones do not use the database', () => {
  fill();
  const admit = arriveWithoutOperation();
  arrive(1);
  serve(1);
  expect(admit).toHaveBeenCalledTimes(1);
  jest.advanceTimersByTime(CHECK_MS);
  expect(admitted).toEqual([1]);
});

it('refuses no request of a burst that is served within a second', () => {
  fill();
  arrive(300);
  for (let i = 0; i < 30; i++) {
    jest.advanceTimersByTime(30);
    serve(10);
  }
  expect(admitted).toEqual(numbers(300));
  expect(rejected).toEqual([]);
});

it('refuses the requests that have waited for a second, and no others', () => {
  fill();
  arrive(2);
  jest.advanceTimersByTime(500);
  arrive(1, 3);
  jest.advanceTimersByTime(499);
  expect(rejected).toEqual([]);
  jest.advanceTimersByTime(CHECK_MS);
  expect(rejected).toEqual([1, 2]);
  serve(1);
  expect(admitted).toEqual([3]);
});

it('admits requests that can run before it refuses those that waited too long', () => {
  fill();
  arriveWithoutOperation();
  arrive(2);
  serve(1);
  // The process pauses.
  jest.spyOn(performance, 'now').mockReturnValue(performance.now() + MAX_WAIT_MS);
  jest.advanceTimersByTime(CHECK_MS);
  jest.restoreAllMocks();
  expect({ admitted, rejected }).toEqual({ admitted: [1], rejected: [2] });
});

it('reports a closed connection once and forgets its request', () => {
  fill();
  const closes = arrive(3);
  closes[0]?.();
  serve(1);
  expect(admitted).toEqual([2]);
  closes[1]?.();
  closes[2]?.();
  jest.advanceTimersByTime(2 * MAX_WAIT_MS);
  expect({ aborted, rejected }).toEqual({ aborted: [1, 3], rejected: [] });
});

it('has no timers when no request waits', () => {
  fill();
  for (const close of arrive(10)) close();
  jest.advanceTimersByTime(CHECK_MS);
  expect(jest.getTimerCount()).toBe(0);
});
