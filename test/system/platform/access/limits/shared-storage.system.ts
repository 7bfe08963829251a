import { setLogLevel } from '../../../../../src/platform/config/logger.js';
import { SharedRateLimitStorage } from '../../../../../src/platform/access/limits/shared-rate-limit.storage.js';
import { describeUnless } from '../../../../faults/support/describe-unless.js';
import { until } from '../../../../support/servers/product.js';
import { REDIS_SKIP_REASON, RedisServer } from '../../../../support/servers/redis.js';

const MINUTE = 60_000;

describeUnless(REDIS_SKIP_REASON, 'windows in Redis', () => {
  let redis: RedisServer;
  let storages: SharedRateLimitStorage[];
  let key: string;
  let tests = 0;

  beforeAll(async () => {
    setLogLevel('silent');
    redis = await RedisServer.start();
    storages = [0, 1].map(() => new SharedRateLimitStorage(redis.url));
    await Promise.all(storages.map((storage) => storage.connect()));
  });
  beforeEach(() => {
    key = `key ${tests++}`;
  });
  afterAll(async () => {
    for (const storage of storages) storage.disconnect();
    await redis.kill();
  });

  const countOn = (instance: number, limit: number) =>
    storages[instance]!.increment(key, MINUTE, limit);
  const hitsOn = async (instance: number, limit: number) =>
    (await storages[instance]!.peek(key, MINUTE, limit)).totalHits;

  it.each([60, 999, 3_000])('allows exactly %d requests over instances', async (limit) => {
    let allowed = 0;
    for (let sent = 0; sent < limit + 200; sent += 20) {
      const windows = await Promise.all(
        Array.from({ length: 20 }, (_, index) => countOn(index % 2, limit)),
      );
      allowed += windows.filter(({ isBlocked }) => !isBlocked).length;
    }
    expect(allowed).toBe(limit);
    expect(await hitsOn(0, limit)).toBe(limit);
  });

  it('numbers the requests of one turn of the event loop', async () => {
    const windows = await Promise.all([1, 2, 3, 4].map(() => countOn(0, 3)));
    expect(windows.map(({ totalHits }) => totalHits)).toEqual([1, 2, 3, 3]);
    expect(windows.map(({ isBlocked }) => isBlocked)).toEqual([false, false, false, true]);
    expect(windows[3]).toMatchObject({ limit: 3, timeToBlockExpire: 60, timeToExpire: 60 });
  });

  it('returns the requests that an instance took in advance and did not use', async () => {
    const limit = 10_000;
    await countOn(0, limit);
    await countOn(0, limit);
    await until(async () => (await hitsOn(1, limit)) === 2);
    expect(await countOn(0, limit)).toMatchObject({ totalHits: 3, isBlocked: false });
  });

  it('neither counts nor starts a window when it peeks', async () => {
    expect(await hitsOn(0, 5)).toBe(0);
    await countOn(1, 5);
    expect(await hitsOn(0, 5)).toBe(1);
    expect(await hitsOn(0, 5)).toBe(1);
  });

  it('starts a new window after the end of the last one', async () => {
    const count = (instance: number) => storages[instance]!.count(key, 50, 1);
    expect((await count(0)).isBlocked).toBe(false);
    let window = await count(1);
    await until(async () => !(window = await count(1)).isBlocked);
    expect(window.totalHits).toBe(1);
  });

  it.each([10, 10_000])('counts several requests together or not at all, of %d', async (limit) => {
    const count = (amount: number) =>
      storages[Math.abs(amount) % 2]!.count(key, MINUTE, limit, amount);
    expect(await count(8)).toMatchObject({ totalHits: 8, isBlocked: false });
    expect(await count(limit - 7)).toMatchObject({ totalHits: 8, isBlocked: true });
    expect(await count(-1)).toMatchObject({ totalHits: 7, isBlocked: false });
    expect(await count(limit - 7)).toMatchObject({ totalHits: limit, isBlocked: false });
    expect(await hitsOn(0, limit)).toBe(limit);
  });

  it('blocks if the limit becomes lower than its count', async () => {
    for (let request = 0; request < 3; request++) await countOn(0, 5);
    expect(await countOn(1, 2)).toMatchObject({ totalHits: 3, isBlocked: true });
  });
});
