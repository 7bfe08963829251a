import { Product, until } from '../../../support/servers/product.js';

// Broken on purpose for docs/operating/runbook.md#the-database-cannot-be-used

const READY = '/health/ready';

describe('readiness with a database that does not commit', () => {
  const product = new Product();
  afterAll(() => product.remove());

  it('is 503 without the synchronous standby, and leaves no backend process', async () => {
    const server = await product.start();
    const ready = async () => (await fetch(server.url + READY)).status;
    const setStandby = async (name: string) => {
      await product.sql(`alter system set synchronous_standby_names = '${name}'`);
      await product.sql('select pg_reload_conf()');
    };
    await until(async () => (await ready()) === 200);
    await setStandby('gone');
    await until(async () => (await ready()) === 503);
    const body: unknown = await (await fetch(server.url + READY)).json();
    expect(body).toMatchObject({ reason: 'database', detail: expect.stringContaining('commit') });
    const started = performance.now();
    await until(async () => (await ready()) === 503 && performance.now() - started > 5_000);
    const [waiting] = await product.sql<{ count: string }>(
      // Of the check. The publisher of events waits too.
      `select count(*) from pg_stat_activity
       where wait_event = 'SyncRep' and query like '%readiness%'`,
    );
    expect(Number(waiting?.count)).toBeLessThanOrEqual(1);
    await setStandby('');
    await until(async () => (await ready()) === 200);
    await server.stop();
  });
});
