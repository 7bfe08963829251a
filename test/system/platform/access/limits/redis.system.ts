import { createClient } from '@redis/client';
import { KeysService } from '../../../../../src/modules/auth/keys.service.js';
import { SettingError } from '../../../../../src/platform/config/setting.js';
import { expectError } from '../../../../../src/testing/factories.js';
import { McpHttpClient } from '../../../../../src/testing/mcp-client.js';
import type { TestApp } from '../../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../../src/testing/test-server.js';
import { describeUnless } from '../../../../faults/support/describe-unless.js';
import { captureLog } from '../../../../support/captured-log.js';
import { until } from '../../../../support/servers/product.js';
import {
  countUntilRefused,
  expectRefusal,
  instancesOnOneDatabase,
  limitsOf,
} from '../../../../support/rate-limits.js';
import { REDIS_SKIP_REASON, RedisServer } from '../../../../support/servers/redis.js';
import { TcpProxy } from '../../../../support/servers/tcp-proxy.js';

// Broken on purpose for docs/operating/runbook.md#redis-cannot-be-used

const ME = '/api/v1/me';
const LEADS = '/api/v1/leads';
const LIMITS = { readsPerMinute: 60, writesPerMinute: 4 };

describeUnless(REDIS_SKIP_REASON, 'redis-server with a password', () => {
  const start = instancesOnOneDatabase();
  const lines = captureLog('info');
  let redis: RedisServer;

  beforeAll(async () => {
    redis = await RedisServer.start('secret');
  });
  afterAll(() => redis.kill());

  it.each([
    ['no password', '', '', 'has no password, but Redis requires one'],
    ['a wrong password', 'wrong', '', 'has a user or password that Redis refuses'],
    ['a wrong database', 'secret', '/99', 'has the number of a database that Redis does not have'],
  ])('ends the start of an instance whose REDIS_URL has %s', async (_, password, path, message) => {
    const redisUrl = redis.urlWith(password) + path;
    const starting = start({ ...LIMITS, redisUrl, logLevel: 'info' });
    await expect(starting).rejects.toThrow(new SettingError('REDIS_URL', message));
    expect(lines.filter((line) => line.includes(password || 'Redis'))).toEqual([]);
  });

  it('is used by an instance, which logs why it cannot continue', async () => {
    const app = await start({ ...LIMITS, redisUrl: redis.url, logLevel: 'info' });
    const { api } = await app.organization();
    expect(lines.join('')).toContain('instances share the rate limits');
    const client = createClient({ url: redis.url });
    await client.connect();
    await client.sendCommand(['ACL', 'SETUSER', 'default', '-@scripting']);
    client.destroy();
    expect((await api.get(ME)).status).toBe(200);
    expect(lines.join('')).toContain('Redis cannot be used (NOPERM): each instance');
    expect(lines.join('')).not.toContain('secret');
  });
});

describeUnless(REDIS_SKIP_REASON, 'redis-server', () => {
  const start = instancesOnOneDatabase();
  let redis: RedisServer;
  let proxy: TcpProxy;
  let one: TestApp;
  let other: TestApp;
  let tenant: Tenant;
  /** The clients of one key of both instances. */
  let clients: Tenant['api'][];
  const lines = captureLog('info');

  beforeAll(async () => {
    redis = await RedisServer.start();
    proxy = await TcpProxy.to({ url: redis.url });
    const redisUrl = 'url' in proxy.target ? proxy.target.url : '';
    one = await start({ ...LIMITS, redisUrl });
    other = await start({ ...LIMITS, redisUrl });
  });
  beforeEach(async () => {
    tenant = await one.organization();
    clients = [one, other].map((app) => app.client(tenant.key.key));
  });
  afterAll(async () => {
    await proxy.close();
    await redis.kill();
  });

  const clientOf = (request: number) => clients[request % clients.length]!;
  const areShared = async (app: TestApp) => {
    const metrics = await (await fetch(`${app.url}/metrics`)).text();
    return /^latitude_rate_limits_shared (\d)$/m.exec(metrics)?.[1] === '1';
  };
  const logged = (text: string) => lines.filter((line) => line.includes(text)).length;

  describe('two instances with one Redis', () => {
    it('allow exactly the limit to parallel reads of a key', async () => {
      for (const expected of [50, 10]) {
        const answers = await Promise.all(
          Array.from({ length: 50 }, (_, request) => clientOf(request).get(ME)),
        );
        const allowed = answers.filter(({ status }) => status === 200);
        expect(allowed).toHaveLength(expected);
        for (const refused of answers.filter((answer) => !allowed.includes(answer))) {
          expectRefusal(refused);
        }
      }
    });

    it('send the same rate limit headers', async () => {
      const first = limitsOf(await clientOf(0).get(ME));
      const second = limitsOf(await clientOf(1).get(ME));
      expect(first).toMatchObject({ limit: 60, remaining: 59 });
      expect(second).toEqual({ ...first, remaining: 58 });
      expect(first.reset).toBeGreaterThan(Date.now() / 1_000);
    });

    it('count writes separately from reads, and tools as requests', async () => {
      const mcp = new McpHttpClient(other.url, tenant.key.key);
      await clientOf(0).post(LEADS, { first_name: 'Ada' });
      await mcp.statelessRpc('tools/call', {
        name: 'create_lead',
        arguments: { first_name: 'Grace' },
      });
      expect(limitsOf(await clientOf(0).post(LEADS, {}))).toMatchObject({ remaining: 1 });
      expect(limitsOf(await clientOf(1).get(ME))).toMatchObject({ remaining: 59 });
    });

    it('do not count refused requests', async () => {
      let request = 0;
      const write = () => clientOf(request++).post(LEADS, {});
      expect(await countUntilRefused(write)).toBe(4);
      expect(limitsOf(await write())).toMatchObject({ limit: 4, remaining: 0 });
    });

    it('apply changed limits of a key in the middle of its window', async () => {
      const limitTo = async (reads_per_minute: number) => {
        const keys = one.app.get(KeysService);
        await keys.setLimits({ tenant }, tenant.key.id, { reads_per_minute });
        await until(async () => {
          const shown = await Promise.all(clients.map((api) => api.get(ME)));
          return shown.every((answer) => limitsOf(answer).limit === reads_per_minute);
        });
      };
      // So many that instances count requests in advance.
      await limitTo(5_000);
      await Promise.all(Array.from({ length: 50 }, (_, request) => clientOf(request).get(ME)));
      await limitTo(30);
      for (const api of clients) expectRefusal(await api.get(ME));
      await limitTo(4_000);
      for (const api of clients) expect((await api.get(ME)).status).toBe(200);
    });

    it('share the window of an address without a key', async () => {
      const strangers = [one.client(), other.client()];
      const before = limitsOf(await strangers[0]!.get(ME)).remaining;
      expect(limitsOf(await strangers[1]!.get(ME)).remaining).toBe(before - 1);
    });
  });

  describe('while Redis does not reply', () => {
    /** How the replies of Redis end, and how they start again. */
    const faults: [string, () => unknown, () => unknown][] = [
      ['is killed', () => redis.kill(), () => redis.start()],
      [
        'refuses connections',
        () => {
          proxy.setOpen(false);
        },
        () => {
          proxy.setOpen(true);
        },
      ],
      [
        'is silent',
        () => {
          proxy.pauseTraffic();
        },
        () => {
          proxy.resumeTraffic();
        },
      ],
      [
        'loses connections',
        () => {
          proxy.blackhole();
        },
        () => undefined,
      ],
    ];

    it.each(faults)(
      'because it %s, instances count separately until it replies',
      async (...fault) => {
        const [, stop, resume] = fault;
        expect(await areShared(one)).toBe(true);
        await stop();
        const answers = await Promise.all(Array.from({ length: 20 }, () => clientOf(0).get(ME)));
        expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
        const { remaining } = limitsOf(await clientOf(1).get(ME));
        expect(remaining).toBeGreaterThanOrEqual(39);

        await resume();
        await until(async () => (await areShared(one)) && (await areShared(other)));
        const { key } = await one.key(tenant.id);
        expect(limitsOf(await one.client(key.key).get(ME))).toMatchObject({ remaining: 59 });
        expect(limitsOf(await other.client(key.key).get(ME))).toMatchObject({ remaining: 58 });
        // Each instance that has noticed it says so once.
        const warnings = logged('Redis cannot be used');
        expect([1, 2]).toContain(warnings);
        expect(logged('instances share')).toBe(warnings);
      },
    );

    it('an instance starts and counts separately', async () => {
      const redisUrl = 'redis://:secret@127.0.0.1:1';
      const alone = await start({ ...LIMITS, redisUrl, logLevel: 'info' });
      expect(await areShared(alone)).toBe(false);
      expect(logged('Redis cannot be used (ECONNREFUSED): each instance')).toBe(1);
      expect(logged('secret')).toBe(0);
      const { api } = await alone.organization();
      expect(await countUntilRefused(() => api.post(LEADS, {}))).toBe(4);
      expectError(await api.post(LEADS, {}), 429, 'rate_limit_exceeded');
    });
  });
});
