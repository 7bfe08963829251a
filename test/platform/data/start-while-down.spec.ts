import { readSettings } from '../../../src/platform/config/settings.js';
import { openDatabase } from '../../../src/ops/open-database.js';
import { createDatabase, dropDatabase, urlOf } from '../../../src/testing/databases.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { until } from '../../support/servers/product.js';
import { TcpProxy } from '../../support/servers/tcp-proxy.js';

let database: Awaited<ReturnType<typeof createDatabase>>;
let proxy: TcpProxy;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => dropDatabase(database));

beforeEach(async () => {
  proxy = await TcpProxy.to(database);
  proxy.setOpen(false);
});
afterEach(() => proxy.close());

/** Accepts connections after the proxy has closed one. */
async function openAfterOneAttempt(): Promise<void> {
  await until(() => Promise.resolve(proxy.refused > 0));
  proxy.setOpen(true);
}

describe('a database that closes connections when the server starts', () => {
  it('is opened when it accepts them', async () => {
    const settings = readSettings({ DATABASE_URL: urlOf(proxy.target) });
    const opening = openDatabase(settings, 'server');
    await openAfterOneAttempt();
    expect(await opening).toMatchObject({ embedded: false });
  });

  it('does not end a start that had reached it before', async () => {
    const starting = TestApp.start({ database: proxy.target });
    await openAfterOneAttempt();
    const app = await starting;
    expect((await app.client().get('/health/live')).status).toBe(200);
    await app.stop();
  });

  it('ends a command at once', async () => {
    const settings = readSettings({ DATABASE_URL: urlOf(proxy.target) });
    await expect(openDatabase(settings, 'command')).rejects.toThrow(
      'DATABASE_URL refers to a database that cannot be reached: Connection terminated unexpectedly',
    );
    expect(proxy.refused).toBe(1);
  });
});
