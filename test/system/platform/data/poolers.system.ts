import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { DatabaseTarget } from '../../../../src/platform/data/connection/data-source-options.js';
import { describeUnless } from '../../../faults/support/describe-unless.js';
import { ApiClient } from '../../../../src/testing/api-client.js';
import { dataOf, expectError, LEADS } from '../../../../src/testing/factories.js';
import { createDatabase, dropDatabase } from '../../../../src/testing/databases.js';
import { createOrganization, runCommand } from '../../../support/command-line.js';
import { PgBouncer, PGBOUNCER_SKIP_REASON } from '../../../support/servers/pgbouncer.js';
import { Product, type RunningServer, UNLIMITED } from '../../../support/servers/product.js';

// Broken on purpose for docs/operating/runbook.md#an-instance-does-not-start and docs/operating/runbook.md#connections-are-exhausted

/** Less than query_wait_timeout of PgBouncer, even on a busy machine. */
const MAX_REQUEST_MS = 60_000;

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
    ['transaction', 20, 'DATABASE_PREPARED_STATEMENTS=off'],
    ['transaction', 1, 'DATABASE_PREPARED_STATEMENTS=off'],
    ['statement', 20, 'transaction or session mode'],
  ] as const)(
    'in %s mode with %d connections: startup fails with one line',
    async (mode, size, remedy) => {
      bouncer = await PgBouncer.to(database, mode, size);
      const started = await product.run('main.js', [], { DATABASE_URL: bouncer.url });
      expect(started.code).toBe(1);
      expect(started.stderr).toMatch(/^latitude: DATABASE_URL .*\n$/);
      expect(started.stderr).toContain(remedy);
      const env = { ...product.environment, DATABASE_URL: bouncer.url };
      const listed = await runCommand(['organizations', 'list'], env);
      expect(listed).toMatchObject({ code: 1, stderr: started.stderr });
    },
  );

  it.each([2, 20])(
    'in transaction mode with %d connections, without prepared statements: no request fails',
    async (size) => {
      bouncer = await PgBouncer.to(database, 'transaction', size);
      const { statuses } = await serveLoad({ DATABASE_PREPARED_STATEMENTS: 'off' });
      expect(statuses).toEqual(new Set([200, 201, 404]));
    },
  );

  it('in transaction mode: each organization gets only its own records', async () => {
    bouncer = await PgBouncer.to(database, 'transaction', 4);
    const env = { ...UNLIMITED, DATABASE_URL: bouncer.url, DATABASE_PREPARED_STATEMENTS: 'off' };
    const keys = [await newKey(env), await newKey(env), await newKey(env)];
    const server = await product.start(env);
    const apis = keys.map((key) => new ApiClient(server.url, key));
    const ids = apis.map(() => new Set<string>());
    const write = async (n: number) => {
      const at = n % apis.length;
      const headers = { 'Idempotency-Key': randomUUID() };
      const { id } = dataOf(await apis[at]!.post(LEADS, { first_name: `n${n}` }, { headers }), 201);
      ids[at]!.add(id);
      dataOf(await apis[at]!.put(`${LEADS}/${id}`, { notes: 'x' }));
      const stranger = apis[(at + 1) % apis.length]!;
      expectError(await stranger.get(`${LEADS}/${id}`), 404, 'not_found');
      expectError(await stranger.delete(`${LEADS}/${id}`), 404, 'not_found');
    };
    await Promise.all(Array.from({ length: 60 }, (_, n) => write(n)));
    for (const [at, api] of apis.entries()) {
      const { body } = await api.get(`${LEADS}?limit=100`);
      const { data, meta } = body as { data: { id: string }[]; meta: { total: number } };
      expect(new Set(data.map(({ id }) => id))).toEqual(ids[at]);
      expect(meta.total).toBe(20);
    }
    await server.stop();
  });

  it('in transaction mode: other clients get no planner settings and no timeouts', async () => {
    bouncer = await PgBouncer.to(database, 'transaction', 4);
    await serveLoad({ DATABASE_PREPARED_STATEMENTS: 'off' });
    const clients = Array.from({ length: 4 }, () => new pg.Client(bouncer.url));
    for (const other of clients) {
      await other.connect();
      // An open transaction keeps its server connection, so that the next client gets another one.
      await other.query('begin');
      const { rows } = await other.query(
        `select current_setting('enable_seqscan') as seqscan,
           current_setting('statement_timeout') as timeout, current_user = session_user as "isUser"`,
      );
      expect(rows).toEqual([{ seqscan: 'on', timeout: '0', isUser: true }]);
    }
    for (const other of clients) await other.end();
  });

  it('in session mode with enough connections: no request fails', async () => {
    bouncer = await PgBouncer.to(database, 'session', 24);
    const { statuses } = await serveLoad();
    expect(statuses).toEqual(new Set([200, 201, 404]));
  });

  it('in session mode with too few connections: every request is answered in time, at worst with 500 or 503', async () => {
    bouncer = await PgBouncer.to(database, 'session', 20);
    const { statuses, longestMs } = await serveLoad();
    expect(statuses).toContain(200);
    expect([...statuses].filter((status) => ![200, 201, 404, 500, 503].includes(status))).toEqual(
      [],
    );
    expect(longestMs).toBeLessThan(MAX_REQUEST_MS);
  });

  /** Starts the server behind the pooler, and reads and writes on all connections. */
  async function serveLoad(settings: Record<string, string> = {}) {
    const env = { ...UNLIMITED, DATABASE_URL: bouncer.url, ...settings };
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

  async function newKey(env: Record<string, string>): Promise<string> {
    return (await createOrganization({ ...product.environment, ...env })).key;
  }

  async function client(env: Record<string, string>) {
    const key = await newKey(env);
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
