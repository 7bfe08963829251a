import { MemoryRateLimitStorage } from './rate-limit.storage.js';

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1, 12, 0, 0, 400);

let storage: MemoryRateLimitStorage;

beforeEach(() => {
  jest.useFakeTimers({ now: START });
  storage = new MemoryRateLimitStorage();
});
afterEach(() => jest.useRealTimers());

const hit = (key = 'key', limit = 3) => storage.increment(key, MINUTE, limit);

async function hitTimes(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await hit();
}

describe('a window', () => {
  it('starts with the first request and lasts 60 seconds', async () => {
    const window = await hit();
    expect(window).toEqual({
      totalHits: 1,
      limit: 3,
      isBlocked: false,
      endsAt: START + MINUTE,
      timeToExpire: 60,
      timeToBlockExpire: 0,
    });
  });

  it('does not move with later requests', async () => {
    await hit();
    jest.advanceTimersByTime(20_000);
    expect(await hit()).toMatchObject({ totalHits: 2, endsAt: START + MINUTE, timeToExpire: 40 });
  });

  it('counts several requests together or not at all', () => {
    const count = (amount: number) => storage.count('key', MINUTE, 10, amount);
    expect(count(8)).toMatchObject({ totalHits: 8, isBlocked: false });
    expect(count(3)).toMatchObject({ totalHits: 8, isBlocked: true, timeToBlockExpire: 60 });
    expect(count(-1)).toMatchObject({ totalHits: 7, isBlocked: false });
    expect(count(3)).toMatchObject({ totalHits: 10, isBlocked: false });
  });

  it('allows exactly the number of requests of the limit', async () => {
    const blocked: boolean[] = [];
    for (let i = 0; i < 5; i++) blocked.push((await hit()).isBlocked);
    expect(blocked).toEqual([false, false, false, true, true]);
  });

  it('has the seconds until its end, rounded up', async () => {
    await hitTimes(3);
    jest.advanceTimersByTime(59_001);
    expect(await hit()).toMatchObject({ isBlocked: true, timeToBlockExpire: 1 });
  });

  it('does not count blocked requests and is not extended by them', async () => {
    await hitTimes(3);
    jest.advanceTimersByTime(MINUTE - 1);
    await hitTimes(10);
    expect(await hit()).toMatchObject({ totalHits: 3, isBlocked: true, endsAt: START + MINUTE });
    jest.advanceTimersByTime(1);
    expect(await hit()).toMatchObject({ totalHits: 1, isBlocked: false });
  });

  it('blocks until exactly its end', async () => {
    await hitTimes(3);
    jest.advanceTimersByTime(MINUTE - 1);
    expect(await hit()).toMatchObject({ isBlocked: true });
    jest.advanceTimersByTime(1);
    expect(await hit()).toMatchObject({ totalHits: 1, endsAt: START + 2 * MINUTE });
  });

  it('is followed by a window that starts with the next request', async () => {
    await hit();
    jest.advanceTimersByTime(10 * MINUTE);
    expect(await hit()).toMatchObject({ totalHits: 1, endsAt: START + 11 * MINUTE });
  });

  it('ends if the system clock is set back', async () => {
    await hitTimes(3);
    jest.setSystemTime(START - 60 * MINUTE);
    expect(await hit()).toMatchObject({ totalHits: 1, endsAt: START - 59 * MINUTE });
  });

  it('is separate for each key', async () => {
    await hitTimes(4);
    expect(await hit('other')).toMatchObject({ totalHits: 1, isBlocked: false });
  });

  it('blocks if the limit becomes lower than its count', async () => {
    await hitTimes(3);
    expect(await hit('key', 2)).toMatchObject({ totalHits: 3, isBlocked: true });
  });
});

describe('peek', () => {
  it('does not count', async () => {
    await hit();
    storage.peek('key', MINUTE, 3);
    expect(storage.peek('key', MINUTE, 3)).toMatchObject({
      totalHits: 1,
      isBlocked: false,
      endsAt: START + MINUTE,
    });
  });

  it('does not start a window', async () => {
    expect(storage.peek('key', MINUTE, 3)).toMatchObject({ totalHits: 0 });
    jest.advanceTimersByTime(1_000);
    expect(await hit()).toMatchObject({ endsAt: START + 1_000 + MINUTE });
  });

  it('returns a new window after the end of the last one', async () => {
    await hitTimes(3);
    jest.advanceTimersByTime(MINUTE);
    expect(storage.peek('key', MINUTE, 3)).toMatchObject({
      totalHits: 0,
      endsAt: START + 2 * MINUTE,
    });
  });
});

describe('expired windows', () => {
  it('are removed from memory', async () => {
    const { counters } = storage as unknown as { counters: ReadonlyMap<string, unknown> };
    for (let i = 0; i < 1_000; i++) await hit(`address ${i}`);
    expect(counters.size).toBe(1_000);
    jest.advanceTimersByTime(MINUTE);
    await hit('another');
    expect([...counters.keys()]).toEqual(['another']);
  });
});
