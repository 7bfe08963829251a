import type { DatabaseTarget } from '../../../../../src/platform/data/connection/data-source-options.js';
import { createDatabase, dropDatabase } from '../../../../../src/testing/databases.js';
import { TestApp } from '../../../../../src/testing/test-app.js';
import { describeUnless } from '../../../../faults/support/describe-unless.js';
import { captureLog } from '../../../../support/captured-log.js';
import { REDIS_SKIP_REASON, RedisServer } from '../../../../support/servers/redis.js';

const SEPARATE = '2 instances use this database, and each has rate limits of its own';

let database: DatabaseTarget;
let apps: TestApp[];
const lines = captureLog();
const log = () => lines.join('');

beforeEach(async () => {
  database = await createDatabase();
  apps = [];
});
afterEach(async () => {
  for (const app of apps) await app.stop();
  await dropDatabase(database);
});

async function start(redisUrl?: string): Promise<TestApp> {
  const settings = { redisUrl, logLevel: 'warn' } as const;
  const app = await TestApp.start({ settings, database });
  apps.push(app);
  return app;
}

const ready = async (app: TestApp) => (await app.client().get('/health/ready')).body as unknown;

it('logs no warning for a single instance', async () => {
  expect(await ready(await start())).toEqual({ status: 'ok' });
  expect(log()).not.toContain('instances use this database');
});

it.each([
  ['because REDIS_URL is not set', undefined],
  ['because Redis cannot be used', 'redis://127.0.0.1:1'],
])('warns about two instances at startup and in /health/ready, %s', async (reason, redisUrl) => {
  await start(redisUrl);
  expect(log()).not.toContain(SEPARATE);
  const second = await start(redisUrl);
  const warning = `${SEPARATE}, ${reason}.`;
  expect(await ready(second)).toEqual({ status: 'ok', warnings: [warning] });
  expect(log()).toContain(warning);
});

describeUnless(REDIS_SKIP_REASON, 'with redis-server', () => {
  it('does not warn about two instances that share the limits', async () => {
    const redis = await RedisServer.start();
    await start(redis.url);
    expect(await ready(await start(redis.url))).toEqual({ status: 'ok' });
    expect(log()).not.toContain('instances use this database');
    await redis.kill();
  });
});
