import { randomUUID } from 'node:crypto';
import type { DatabaseTarget } from '../../src/database/connection/data-source-options.js';
import { describeUnless } from '../faults/support/describe-unless.js';
import { ApiClient } from '../../src/testing/api-client.js';
import { LEADS } from '../../src/testing/factories.js';
import { createDatabase, dropDatabase } from '../../src/testing/databases.js';
import { latitude, runCommand } from '../support/command-line.js';
import { PgBouncer, PGBOUNCER_SKIP_REASON } from '../support/pgbouncer.js';
import { Product, type RunningServer, UNLIMITED } from '../support/product.js';

/** Less than query_wait_timeout of PgBouncer, even on a busy machine. */
const LONGEST_REQUEST_MS = 60_000;

/** The number of concurrent requests, equal to the connections of the server so that none is rejected. */
const AT_ONCE = 24;
const ROUNDS = 5;

describeUnless(PGBOUNCER_SKIP_REASON, 'PgBouncer', () => {
  const product = new Product();
  let database: DatabaseTarget;
  let bouncer: PgBouncer;

  beforeAll(async () => {
    database = await createDatabase();
  });
  afterEach(() => bouncer.stop());
  afterAll(async () => {
    await product.remove();
    await dropDatabase(database);
  });

  it.each([
    ['transaction', 20],
    ['transaction', 1],
    ['statement', 20],
  ] as const)(
    'in %s mode with %d connections makes startup fail with one line',
    async (mode, size) => {
      bouncer = await PgBouncer.to(database, mode, size);
      const started = await product.run('main.js', [], { DATABASE_URL: bouncer.url });
      expect(started.code).toBe(1);
      expect(started.stderr).toMatch(/^latitude: DATABASE_URL .*transaction.*session mode.*\n$/);
      const env = { ...product.environment, DATABASE_URL: bouncer.url };
      const listed = await runCommand(['organizations', 'list'], env);
      expect(listed).toMatchObject({ code: 1, stderr: started.stderr });
    },
  );

  it('in session mode with enough connections serves every request', async () => {
    bouncer = await PgBouncer.to(database, 'session', 24);
    const { statuses } = await serveLoad();
    expect(statuses).toEqual(new Set([200, 201, 404]));
  });

  it('in session mode with too few connections answers every request in time, with 500 or 503 if need be', async () => {
    bouncer = await PgBouncer.to(database, 'session', 20);
    const { statuses, longestMs } = await serveLoad();
    expect(statuses).toContain(200);
    expect([...statuses].filter((status) => ![200, 201, 404, 500, 503].includes(status))).toEqual(
      [],
    );
    expect(longestMs).toBeLessThan(LONGEST_REQUEST_MS);
  });

  /** Starts the server behind the pooler, and reads and writes on all connections. */
  async function serveLoad() {
    const env = { ...UNLIMITED, DATABASE_URL: bouncer.url };
    const api = await client(env);
    const server = await product.start(env);
    const statuses = new Set<number>();
    let longestMs = 0;
    const request = async (_: unknown, n: number) => {
      const started = performance.now();
      const { status } = await api(server, n);
      longestMs = Math.max(longestMs, performance.now() - started);
      statuses.add(status);
    };
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all(Array.from({ length: AT_ONCE }, request));
    }
    await server.stop();
    return { statuses, longestMs };
  }

  async function client(env: Record<string, string>) {
    const run = <T>(...args: string[]) => latitude<T>({ ...product.environment, ...env }, ...args);
    const { id } = await run<{ id: string }>('organizations', 'create', '--name', 'A');
    const options = ['--organization', id, '--name', 'k', '--scopes', 'all'];
    const { key } = await run<{ key: string }>('keys', 'create', ...options);
    return async (server: RunningServer, n: number) => {
      const api = new ApiClient(server.url, key);
      const requests = [
        () => api.post(LEADS, { first_name: `n${n}` }),
        () => api.get(`${LEADS}/${randomUUID()}`),
        () => api.get(`${LEADS}?search=n${n}`),
        () => api.get(LEADS),
      ];
      return requests[n % requests.length]!();
    };
  }
});
