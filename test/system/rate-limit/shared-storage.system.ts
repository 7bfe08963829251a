import { setLogLevel } from '../../../src/config/logger.js';
import { ParentWindows } from '../../../src/rate-limit/parent-windows.js';
import { MemoryRateLimitStorage } from '../../../src/rate-limit/rate-limit.storage.js';
import { RedisConnection } from '../../../src/rate-limit/redis-connection.js';
import { SharedRateLimitStorage } from '../../../src/rate-limit/shared-rate-limit.storage.js';
import type { WorkerRequest, Replies } from '../../../src/workers/messages.js';
import { describeUnless } from '../../faults/support/describe-unless.js';
import { until } from '../../support/servers/product.js';
import { REDIS_SKIP_REASON, RedisServer } from '../../support/servers/redis.js';

const MINUTE = 60_000;

/** A parent that replies as a parent process does. */
class Parent {
  isSilent = false;
  messages = 0;
  lastRequest: WorkerRequest | undefined;
  private readonly windows = new MemoryRateLimitStorage();

  async request<R extends WorkerRequest>(request: R): Promise<Replies[R['topic']]> {
    this.lastRequest = request;
    await new Promise(setImmediate);
    if (this.isSilent || request.topic !== 'limits') throw new Error('There is no reply.');
    this.messages++;
    const replies: Replies['limits'] = request.requests.map((each) => this.windows.take(each));
    return replies as Replies[R['topic']];
  }
}

const storageOf = (parent: Parent) =>
  new SharedRateLimitStorage((onLost) => new ParentWindows(parent, onLost));

/** The guarantees for two processes, with windows in any place. */
function itSharesWindows(open: () => SharedRateLimitStorage): void {
  let storages: SharedRateLimitStorage[];
  let key: string;
  let tests = 0;

  beforeAll(async () => {
    setLogLevel('silent');
    storages = [open(), open()];
    await Promise.all(storages.map((storage) => storage.connect()));
  });
  beforeEach(() => {
    key = `key ${tests++}`;
  });
  afterAll(() => {
    for (const storage of storages) storage.disconnect();
  });

  const countOn = (instance: number, limit: number) =>
    storages[instance]!.increment(key, MINUTE, limit);
  const hitsOn = async (instance: number, limit: number) =>
    (await storages[instance]!.peek(key, MINUTE, limit)).totalHits;

  it.each([60, 999, 3_000])('allows exactly %d requests over processes', async (limit) => {
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

  it('returns the requests that a process took in advance and did not use', async () => {
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

  it('blocks if the limit becomes lower than its count', async () => {
    for (let request = 0; request < 3; request++) await countOn(0, 5);
    expect(await countOn(1, 2)).toMatchObject({ totalHits: 3, isBlocked: true });
  });
}

describeUnless(REDIS_SKIP_REASON, 'windows in Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(() => redis.kill());

  itSharesWindows(
    () => new SharedRateLimitStorage((onLost) => new RedisConnection(redis.url, onLost)),
  );
});

describe('windows in the parent of workers', () => {
  const shared = new Parent();
  itSharesWindows(() => storageOf(shared));

  it('take one message for all requests of one turn of the event loop', async () => {
    const parent = new Parent();
    const storage = storageOf(parent);
    await Promise.all(['a', 'b', 'a', 'b'].map((key) => storage.increment(key, MINUTE, 5)));
    expect(parent.messages).toBe(1);
  });

  it('take only numbers and keys of requests', async () => {
    const asking = new Parent();
    const storage = storageOf(asking);
    await Promise.all([storage.count('key', MINUTE, 5), storage.peek('key', MINUTE, 5)]);
    const requests = [{ key: 'key', ttl: MINUTE, limit: 5, asked: 1 }];
    expect(asking.lastRequest).toEqual({ topic: 'limits', requests });
  });

  it('are requested by one request at a time while the parent does not reply', async () => {
    const silent = new Parent();
    silent.isSilent = true;
    const windows = new ParentWindows(silent, () => undefined);
    await expect(windows.run([])).rejects.toThrow('There is no reply.');
    expect(windows.isOpen).toBe(false);
    await until(() => Promise.resolve(windows.isOpen));
    const probe = windows.run([]);
    expect(windows.isOpen).toBe(false);
    await expect(probe).rejects.toThrow('There is no reply.');
    expect(windows.isOpen).toBe(false);
    silent.isSilent = false;
    await until(() => Promise.resolve(windows.isOpen));
    await windows.run([]);
    expect(windows.isOpen).toBe(true);
  });

  it('are replaced by windows of the worker while the parent does not reply', async () => {
    const silent = new Parent();
    const storage = storageOf(silent);
    const count = async () => (await storage.count('key', MINUTE, 3)).totalHits;
    expect([await count(), await count()]).toEqual([1, 2]);
    silent.isSilent = true;
    expect([await count(), await count()]).toEqual([1, 2]);
    silent.isSilent = false;
    const asked = silent.messages;
    await until(async () => (await count()) >= 0 && silent.messages > asked);
    expect((await storage.count('key', MINUTE, 3)).isBlocked).toBe(true);
  });
});
