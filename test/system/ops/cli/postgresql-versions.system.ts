import { ApiClient } from '../../../../src/testing/api-client.js';
import { describeUnless } from '../../../faults/support/describe-unless.js';
import { latitude } from '../../../support/command-line.js';
import { rowsByTable, temporaryFile } from '../../../support/database/backups.js';
import { Product } from '../../../support/servers/product.js';
import { POSTGRES_SKIP_REASON, PostgresServer } from '../../../topology/support/postgres-server.js';

interface Summary {
  readonly tables: Record<string, number>;
}

/** The oldest supported PostgreSQL, from Debian, and the embedded one. */
describeUnless(POSTGRES_SKIP_REASON, 'latitude backup and restore', () => {
  const embedded = new Product();
  const [older, newer] = [temporaryFile(), temporaryFile()];
  let server: PostgresServer;
  let key: string;
  let rows: Record<string, string[]>;

  beforeAll(async () => {
    server = await PostgresServer.primary();
    await server.sql('create database original');
    await server.sql('create database returned');
    const own = { DATABASE_URL: server.url('original') };
    ({ key } = await latitude<{ key: string }>(own, 'demo', '--leads', '50'));
    rows = await rowsByTable({ url: own.DATABASE_URL });
    await latitude(own, 'backup', older);
  });
  afterAll(async () => {
    await embedded.remove();
    await server.remove();
  });

  it('move a database from PostgreSQL 15 to 18', async () => {
    const restored = await latitude<Summary>(embedded.environment, 'restore', '--resume', older);
    expect(restored).toMatchObject({ tables: { leads: 50 }, counters_repaired: 0 });
    await latitude(embedded.environment, 'backup', newer);
    const running = await embedded.start();
    const api = new ApiClient(running.url, key);
    const { status, body } = await api.get('/api/v1/leads?sort_by=last_name');
    expect([status, body.meta.total]).toEqual([200, 50]);
    const [setting] = await embedded.sql<object>(
      `select current_setting('server_version') as version`,
    );
    expect(setting).toEqual({ version: expect.stringMatching(/^18\./) });
    expect(running.stdout).not.toMatch(/"level":"?(warn|error|40|50)/);
    expect(await running.stop()).toBe(0);
  });

  it('move it back to PostgreSQL 15', async () => {
    const own = { DATABASE_URL: server.url('returned') };
    await latitude(own, 'restore', '--resume', newer);
    expect(await rowsByTable({ url: own.DATABASE_URL })).toEqual(rows);
    expect(await latitude(own, 'counters', 'check')).toMatchObject({ wrong: [] });
  });
});
