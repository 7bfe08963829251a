import { ApiClient } from '../../src/testing/api-client.js';
import { createLead, dataOf, expectError, LEADS } from '../../src/testing/factories.js';
import { McpHttpClient, rpcRequest, sessionHeader } from '../../src/testing/mcp-client.js';
import { describeUnless } from '../faults/support/describe-unless.js';
import { urlOf } from '../../src/testing/databases.js';
import { createKey, createOrganization } from '../support/command-line.js';
import { Product, type RunningServer, UNLIMITED, until } from '../support/servers/product.js';
import { TcpProxy } from '../support/servers/tcp-proxy.js';
import { CHECKS_TIMES, expectShorter } from '../support/times.js';
import { POSTGRES_SKIP_REASON, PostgresServer } from './support/postgres-server.js';
import { counted, logLines, readiness, readsOf, replicasUsed } from './support/observe.js';

// Broken on purpose for docs/operating/runbook.md#a-read-replica-is-left-out

/** Fewer than a second of checks, so that back-off does not delay the tests. */
const READS = 20;

/** Maximum duration of a request. */
const MAX_REQUEST_MS = 5_000;

describeUnless(POSTGRES_SKIP_REASON, 'read replicas', () => {
  let primary: PostgresServer;
  let replica: PostgresServer;
  let proxy: TcpProxy;
  let product: Product;
  let servers: RunningServer[];
  let keys: string[];
  let stranger: string;

  beforeAll(async () => {
    primary = await PostgresServer.primary();
    replica = await primary.createStandby('replica');
    proxy = await TcpProxy.to({ url: replica.url() });
    const env = {
      DATABASE_URL: primary.url(),
      DATABASE_REPLICA_URLS: urlOf(proxy.target),
      ...UNLIMITED,
    };
    product = new Product(env);
    servers = await Promise.all([product.start(), product.start()]);
    const { id, key } = await createOrganization(env);
    keys = [key, await createKey(env, id)];
    stranger = (await createOrganization(env)).key;
  });
  afterAll(async () => {
    await product.remove();
    await proxy.close();
    await replica.remove();
    await primary.remove();
  });
  beforeEach(async () => {
    await until(async () => (await replicasUsed(servers[0]!)) && replicasUsed(servers[1]!));
  });

  /** Creates a lead through one instance and key, and finds it at once through the others. */
  async function writeAndRead(name: string): Promise<void> {
    const { id } = await createLead(clientOf(0), { first_name: name, status: name });
    const filtered = await clientOf(1).get(`${LEADS}?status=${name}`);
    expect(filtered.body).toMatchObject({ data: [{ id }], meta: { total: 1 } });
    const found = await clientOf(1).get(`${LEADS}?search=${name}`);
    expect(found.body).toMatchObject({ data: [{ id }], meta: { total: 1 } });
  }

  it('run lists, searches and tools that list, and no reads by id', async () => {
    const { id } = await createLead(clientOf(0), { first_name: 'Replicated' });
    const before = await readsOf(servers[1]!);
    const mcp = new McpHttpClient(servers[1]!.url, keys[1]);
    const session = sessionHeader(await mcp.openSession());
    for (let n = 0; n < READS; n++) {
      dataOf(await clientOf(1).get(LEADS));
      dataOf(await clientOf(1).get(`${LEADS}?search=Replicated`));
      dataOf(await clientOf(1).get(`${LEADS}/${id}`));
      const call = rpcRequest('tools/call', { name: 'list_leads', arguments: {} });
      expect((await mcp.post(call, session)).status).toBe(200);
    }
    const { replica: onReplica, primary: onPrimary } = await readsOf(servers[1]!);
    // The primary runs the reads that find the replica late.
    expect(onReplica + onPrimary - before.replica - before.primary).toBe(3 * READS);
    expect(onReplica).toBeGreaterThan(before.replica);
  });

  it('show each organization only its own records', async () => {
    await createLead(clientOf(0), { first_name: 'Ours' });
    await untilReplicated(servers[1]!);
    const before = await readsOf(servers[1]!);
    const theirs = new ApiClient(servers[1]!.url, stranger);
    for (const query of ['', '?search=Ours', '?sort_by=first_name']) {
      const { body } = await theirs.get(LEADS + query);
      expect(body).toMatchObject({ data: [], meta: { total: 0 } });
    }
    expect((await readsOf(servers[1]!)).replica - before.replica).toBe(3);
  });

  it('that are some milliseconds behind show every write at once', async () => {
    await replica.set({ recovery_min_apply_delay: '5ms' });
    const before = await readsOf(servers[1]!);
    for (let n = 0; n < READS; n++) await writeAndRead(`delayed${n}`);
    // On a slow machine, the primary may run all of them.
    if (CHECKS_TIMES) expect((await readsOf(servers[1]!)).replica).toBeGreaterThan(before.replica);
    await replica.set({ recovery_min_apply_delay: '0' });
  });

  it('that lag too far are left out until they have caught up', async () => {
    await replica.sql('select pg_wal_replay_pause()');
    const lines = logLines(servers[1]!, 'a read replica is left out');
    for (let n = 0; n < READS; n++) await writeAndRead(`lagging${n}`);
    expect(await replicasUsed(servers[1]!)).toBe(false);
    expect(await readiness(servers[1]!)).toMatchObject({
      status: 'ok',
      warnings: expect.arrayContaining([
        'Read replica 1 is left out: it lags behind the primary.',
      ]) as string[],
    });
    expect(logLines(servers[1]!, 'a read replica is left out')).toBe(lines + 1);
    await until(async () => (await counted(servers[1]!, 'latitude_replica_lag_bytes')) > 0);

    await replica.sql('select pg_wal_replay_resume()');
    await untilReplicated(servers[1]!);
    const before = await readsOf(servers[1]!);
    await clientOf(1).get(LEADS);
    expect((await readsOf(servers[1]!)).replica).toBe(before.replica + 1);
  });

  it('that take the snapshot of a transaction before the check are left out', async () => {
    await replica.set({ default_transaction_isolation: 'repeatable read' });
    try {
      // On a busy machine, a check can time out first, which is another reason.
      const warning =
        'Read replica 1 is left out: its default_transaction_isolation is not read committed.';
      await until(async () => (await readiness(servers[1]!)).warnings?.includes(warning) === true);
    } finally {
      await replica.set({ default_transaction_isolation: 'read committed' });
    }
  });

  it('that cancel a read because of recovery leave it to the primary', async () => {
    await replica.set({ max_standby_streaming_delay: 0 });
    await primary.sql(`
      create function slow_on_standby() returns boolean language plpgsql as
        'begin if pg_is_in_recovery() then perform pg_sleep(1); end if; return true; end';
      create policy slow on tasks as restrictive using (slow_on_standby())`);
    dataOf(await clientOf(0).post('/api/v1/tasks', { title: 'Slow' }), 201);
    await untilReplicated(servers[1]!);
    const before = await readsOf(servers[1]!);
    const reading = clientOf(1).get('/api/v1/tasks?sort_by=due_date');
    await until(async () => (await sleeping()) > 0);
    // Its replay conflicts with every read of the table.
    await primary.sql('begin; lock table tasks in access exclusive mode; commit');
    expect(await reading).toMatchObject({ status: 200, body: { meta: { total: 1 } } });
    const { primary: onPrimary } = await readsOf(servers[1]!);
    expect(onPrimary).toBe(before.primary + 1);
    expect(await replicasUsed(servers[1]!)).toBe(true);
    await primary.sql('drop policy slow on tasks');
    await replica.set({ max_standby_streaming_delay: '30s' });
  });

  it('that are killed fail no request, and are used again after a restart', async () => {
    const lines = logLines(servers[1]!, 'a read replica is left out');
    const statuses = new Set<number>();
    let isOver = false;
    const readers = Array.from({ length: 8 }, async () => {
      while (!isOver) statuses.add((await clientOf(1).get(LEADS)).status);
    });
    await replica.kill();
    await until(async () => !(await replicasUsed(servers[1]!)));
    await replica.start();
    await until(() => replicasUsed(servers[1]!));
    isOver = true;
    await Promise.all(readers);
    expect(statuses).toEqual(new Set([200]));
    // The server refuses connections while it starts, which is another reason.
    const added = logLines(servers[1]!, 'a read replica is left out') - lines;
    expect(added).toBeGreaterThan(0);
    expect(added).toBeLessThan(4);
  });

  it('that are silent delay the reads that wait for them, and fail none', async () => {
    proxy.pauseTraffic();
    const started = performance.now();
    const answers = await Promise.all(Array.from({ length: 8 }, () => clientOf(1).get(LEADS)));
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expectShorter(performance.now() - started, MAX_REQUEST_MS);
    await until(async () => !(await replicasUsed(servers[1]!)));
    proxy.resumeTraffic();
    await until(() => replicasUsed(servers[1]!));
  });

  it('that are not replicas of the primary are left out with the reason, and the instance is ready', async () => {
    const urls = [primary.url(), replica.url('template1'), 'postgres://u@127.0.0.1:1/x'];
    const server = await product.start({
      DATABASE_REPLICA_URLS: [...urls, replica.url()].join(', '),
      DATABASE_PREPARED_STATEMENTS: 'off',
    });
    const { status, warnings } = await readiness(server);
    expect(status).toBe('ok');
    expect(warnings).toEqual(
      expect.arrayContaining([
        'Read replica 1 is left out: it is not a standby but a primary.',
        'Read replica 2 is left out: it is not a copy of the database of DATABASE_URL.',
        'Read replica 3 is left out: it does not reply.',
      ]),
    );
    const api = new ApiClient(server.url, keys[0]);
    await untilReplicated(server, 4);
    expect((await api.get(LEADS)).status).toBe(200);
    expect(await readsOf(server)).toEqual({ replica: 1, primary: 0 });
    expectError(await new ApiClient(server.url, 'none').get(LEADS), 401, 'unauthorized');
    await server.stop();
  });

  /** Waits until the replica has all writes and an instance uses it. */
  async function untilReplicated(server: RunningServer, number = 1): Promise<void> {
    await replica.untilReplayed(primary);
    await until(() => replicasUsed(server, number));
  }

  function clientOf(instance: 0 | 1): ApiClient {
    return new ApiClient(servers[instance]!.url, keys[instance]);
  }

  /** The number of reads that sleep on the replica. */
  async function sleeping(): Promise<number> {
    const [row] = await replica.sql<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where wait_event = 'PgSleep' and query like '%tasks%'`,
    );
    return row?.n ?? 0;
  }
});
