import { MemoryRateLimitStorage } from './rate-limit.storage.js';

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1, 12, 0, 0, 400);

let storage: MemoryRateLimitStorage;

beforeEach(() => {
  jest.useFakeTimers({ now: START });
  storage = new MemoryRateLimitStorage();
});
afterEach(() => jest.useRealTimers());

const hit = (key = 'key', limit = 3) => storage.count(key, MINUTE, limit);

function hitTimes(count: number): void {
  for (let i = 0; i < count; i++) hit();
}

describe('a window', () => {
  it('starts with the first request and lasts 60 seconds', () => {
    const window = hit();
    expect(window).toEqual({
      totalHits: 1,
      limit: 3,
      isBlocked: false,
      endsAt: START + MINUTE,
      secondsLeft: 60,
    });
  });

  it('does not move with later requests', () => {
    hit();
    jest.advanceTimersByTime(20_000);
    expect(hit()).toMatchObject({ totalHits: 2, endsAt: START + MINUTE, secondsLeft: 40 });
  });

  it('counts several requests together or not at all', () => {
    const count = (amount: number) => storage.count('key', MINUTE, 10, amount);
    expect(count(8)).toMatchObject({ totalHits: 8, isBlocked: false });
    expect(count(3)).toMatchObject({ totalHits: 8, isBlocked: true, secondsLeft: 60 });
    expect(count(-1)).toMatchObject({ totalHits: 7, isBlocked: false });
    expect(count(3)).toMatchObject({ totalHits: 10, isBlocked: false });
  });

  it('allows exactly the number of requests of the limit', () => {
    const blocked: boolean[] = [];
    for (let i = 0; i < 5; i++) blocked.push(hit().isBlocked);
    expect(blocked).toEqual([false, false, false, true, true]);
  });

  it('has the seconds until its end, rounded up', () => {
    hitTimes(3);
    jest.advanceTimersByTime(59_001);
    expect(hit()).toMatchObject({ isBlocked: true, secondsLeft: 1 });
  });

  it('does not count blocked requests and is not extended by them', () => {
    hitTimes(3);
    jest.advanceTimersByTime(MINUTE - 1);
    hitTimes(10);
    expect(hit()).toMatchObject({ totalHits: 3, isBlocked: true, endsAt: START + MINUTE });
    jest.advanceTimersByTime(1);
    expect(hit()).toMatchObject({ totalHits: 1, isBlocked: false });
  });

  it('blocks until exactly its end', () => {
    hitTimes(3);
    jest.advanceTimersByTime(MINUTE - 1);
    expect(hit()).toMatchObject({ isBlocked: true });
    jest.advanceTimersByTime(1);
    expect(hit()).toMatchObject({ totalHits: 1, endsAt: START + 2 * MINUTE });
  });

  it('is followed by a window that starts with the next request', () => {
    hit();
    jest.advanceTimersByTime(10 * MINUTE);
    expect(hit()).toMatchObject({ totalHits: 1, endsAt: START + 11 * MINUTE });
  });

  it('ends if the system clock is set back', () => {
    hitTimes(3);
    jest.setSystemTime(START - 60 * MINUTE);
    expect(hit()).toMatchObject({ totalHits: 1, endsAt: START - 59 * MINUTE });
  });

  it('is separate for each key', () => {
    hitTimes(4);
    expect(hit('other')).toMatchObject({ totalHits: 1, isBlocked: false });
  });

  it('blocks if the limit becomes lower than its count', () => {
    hitTimes(3);
    expect(hit('key', 2)).toMatchObject({ totalHits: 3, isBlocked: true });
  });
});

describe('peek', () => {
  it('does not count', () => {
    hit();
    storage.peek('key', MINUTE, 3);
    expect(storage.peek('key', MINUTE, 3)).toMatchObject({
      totalHits: 1,
      isBlocked: false,
      endsAt: START + MINUTE,
    });
  });

  it('does not start a window', () => {
    expect(storage.peek('key', MINUTE, 3)).toMatchObject({ totalHits: 0 });
    jest.advanceTimersByTime(1_000);
    expect(hit()).toMatchObject({ endsAt: START + 1_000 + MINUTE });
  });

  it('returns a new window after the end of the last one', () => {
    hitTimes(3);
    jest.advanceTimersByTime(MINUTE);
    expect(storage.peek('key', MINUTE, 3)).toMatchObject({
      totalHits: 0,
      endsAt: START + 2 * MINUTE,
    });
  });
});

describe('expired windows', () => {
  it('are removed from memory', () => {
    const { counters } = storage as unknown as { counters: ReadonlyMap<string, unknown> };
    for (let i = 0; i < 1_000; i++) hit(`address ${i}`);
    expect(counters.size).toBe(1_000);
    jest.advanceTimersByTime(MINUTE);
    hit('another');
    expect([...counters.keys()]).toEqual(['another']);
  });
});
