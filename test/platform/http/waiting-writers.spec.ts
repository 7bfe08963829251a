import pg from 'pg';
import { TimeBudget } from '../../../src/platform/data/gateway/policies.js';
import { configOf } from '../../../src/testing/databases.js';
import { buildLead, createLead, errorOf, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { until } from '../../support/servers/product.js';

const TASKS = '/api/v1/tasks';

let app: TestApp;
let other: TestApp;
let tenant: Tenant;
let holder: pg.Client;

beforeAll(async () => {
  app = await TestApp.start();
  other = await TestApp.start({ database: app.database });
});
afterAll(async () => {
  await other.stop();
  await app.stop();
});

beforeEach(async () => {
  tenant = await app.organization();
  holder = new pg.Client(configOf(app.database));
  await holder.connect();
  await holder.query('begin');
});
afterEach(() => holder.end());

interface Result {
  status: string;
  error?: object;
}

const resultsOf = ({ body }: { body: unknown }) => (body as { data: Result[] }).data;

/** The number of connections of both servers that wait for a lock. */
async function waiting(): Promise<number> {
  const rows = await app.sql(`select from pg_stat_activity where wait_event_type = 'Lock'
    and datname = current_database() and application_name like 'latitude%'`);
  return rows.length;
}

/** Holds everything that writes leads, until the transaction of the holder ends. */
const holdLeads = () => holder.query('lock table leads in exclusive mode');

const upsertOf = (email: string, data: object = {}) => ({
  match_on: ['email'],
  data: { email, first_name: 'Ada', ...data },
});

const clients = () => [app, other].map((server) => server.client(tenant.key.key));

async function countLeads(): Promise<number> {
  return (await tenant.api.get(LEADS)).body.meta.total as number;
}

describe('upserts of one value over two instances', () => {
  it.each([
    [20, 'with equal data', false, () => ({})],
    [50, 'with other data each', false, (n: number) => ({ company: `C${n}` })],
    [20, 'with an Idempotency-Key each', true, (n: number) => ({ company: `C${n}` })],
  ])('all succeed and make one lead: %d %s', async (count, _, isIdempotent, dataOf) => {
    await holdLeads();
    const upserts = Array.from({ length: count }, (_each, n) => {
      const headers: Record<string, string> = isIdempotent ? { 'Idempotency-Key': `k${n}` } : {};
      const body = upsertOf('one@example.com', dataOf(n));
      return clients()[n % 2]!.post(`${LEADS}/upsert`, body, { headers });
    });
    await until(async () => (await waiting()) >= 2);
    await holder.query('rollback');
    const statuses = (await Promise.all(upserts)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([...Array<number>(count - 1).fill(200), 201]);
    expect(await countLeads()).toBe(1);
  });
});

describe('batches of the same new leads', () => {
  const emails = Array.from({ length: 40 }, (_, n) => `lead-${n}@example.com`);
  const batchOf = (values: readonly string[], company: string, atomic: boolean) => ({
    atomic,
    items: values.map((email) => ({ action: 'upsert', ...upsertOf(email, { company }) })),
  });

  it.each([
    ['equal order', false, emails],
    ['opposite order', false, emails.toReversed()],
    ['opposite order, if they are atomic', true, emails.toReversed()],
  ])(
    'all succeed in %s: one creates the leads and the others update them',
    async (_, atomic, second) => {
      await holdLeads();
      const sent = [emails, second, emails, second].map((values, n) =>
        clients()[n % 2]!.post(`${LEADS}/batch`, batchOf(values, `C${n}`, atomic)),
      );
      await until(async () => (await waiting()) >= 2);
      await holder.query('rollback');
      const answers = await Promise.all(sent);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const counts = answers.map((answer) => {
        const statuses = resultsOf(answer).map(({ status }) => status);
        return [...new Set(statuses)].map((status) => `${statuses.length} ${status}`).join();
      });
      expect(counts.toSorted()).toEqual(['40 created', '40 updated', '40 updated', '40 updated']);
      expect(await countLeads()).toBe(40);
    },
  );

  it('wait for another writer that gives one of the values to a lead, and find this lead', async () => {
    const { id } = await createLead(tenant.api);
    const gives = 'update leads set email = $2, email_compared = $2 where id = $1';
    await holder.query(gives, [id, emails[5]]);
    const batch = tenant.api.post(`${LEADS}/batch`, batchOf(emails, 'C', false));
    await until(async () => (await waiting()) === 1);
    await holder.query('commit');
    const results = resultsOf(await batch);
    expect(results.map(({ status }) => status).filter((status) => status !== 'created')).toEqual([
      'updated',
    ]);
    expect(results[5]).toMatchObject({ status: 'updated', id });
  });
});

describe('batches of the same records', () => {
  it.each([
    ['leads', LEADS, () => ({ first_name: 'Ada' }), (n: number) => ({ first_name: `N${n}` })],
    ['tasks', TASKS, () => ({ title: 'Call' }), (n: number) => ({ title: `T${n}` })],
  ])('all succeed in any order, beside single updates: %s', async (table, path, create, change) => {
    const items = Array.from({ length: 20 }, () => ({ action: 'create', data: create() }));
    const created = resultsOf(await tenant.api.post(`${path}/batch`, { items }));
    const ids = created.map((result) => (result as unknown as { id: string }).id);
    await holder.query(`select from ${table} where id = $1 for update`, [ids[10]]);
    const orders = [ids, ids.toReversed(), [...ids.slice(10), ...ids.slice(0, 10)]];
    const batches = Array.from({ length: 12 }, (_, n) =>
      clients()[n % 2]!.post(`${path}/batch`, {
        atomic: n % 3 === 0,
        items: orders[n % 3]!.map((id) => ({ action: 'update', id, data: change(n) })),
      }),
    );
    const single = ids.map((id, n) => clients()[n % 2]!.put(`${path}/${id}`, change(100 + n)));
    await until(async () => (await waiting()) >= 2);
    await holder.query('rollback');
    const answers = await Promise.all([...batches, ...single]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });

  it('leave the connections to other organizations while they wait', async () => {
    const { id } = await createLead(tenant.api);
    // Handlers of events, which lock only the keys of leads, do not wait.
    await holder.query('select from leads where id = $1 for no key update', [id]);
    const update = { action: 'update', id, data: { first_name: 'Grace' } };
    const sent = Array.from({ length: 40 }, () =>
      tenant.api.post(`${LEADS}/batch`, { items: [update] }),
    );
    await until(async () => (await waiting()) === 1);
    const stranger = await app.organization();
    const batch = { items: [{ action: 'create', data: { first_name: 'Ada' } }] };
    expect((await stranger.api.post(`${LEADS}/batch`, batch)).status).toBe(200);
    expect(await waiting()).toBe(1);
    await holder.query('rollback');
    for (const { status } of await Promise.all(sent)) expect(status).toBe(200);
  });
});

describe('tasks of a lead that is merged', () => {
  it('do not deadlock with the merge, by a batch and by an update', async () => {
    const { api } = tenant;
    const [target, source] = [await createLead(api), await createLead(api)];
    const tasks = [];
    for (const contact_id of [source.id, source.id, target.id]) {
      tasks.push(
        (await api.post(TASKS, { title: 'Call', contact_id })).body.data as { id: string },
      );
    }
    await holder.query('select from leads where id = $1 for update', [source.id]);
    const items = tasks.map(({ id }) => ({
      action: 'update',
      id,
      data: { contact_id: target.id },
    }));
    const sent = [
      api.post(`${TASKS}/batch`, { items: items.toReversed() }),
      api.post(`${LEADS}/${target.id}/merge`, { lead_id: source.id }),
      api.put(`${TASKS}/${tasks[0]!.id}`, { contact_id: target.id }),
    ];
    await until(async () => (await waiting()) >= 1);
    await holder.query('rollback');
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200, 200]);
    const deadlocks = `select deadlocks::int from pg_stat_database where datname = current_database()`;
    expect(await app.sql(deadlocks)).toEqual([{ deadlocks: 0 }]);
  });
});

describe('what has waited until its deadline', () => {
  let hurried: TestApp;

  beforeAll(async () => {
    hurried = await TestApp.start({ database: app.database, timeBudget: new TimeBudget() });
  });
  afterAll(() => hurried.stop());

  it('is overloaded, and has changed nothing', async () => {
    const { id, email } = await createLead(tenant.api, buildLead());
    await holder.query('select from leads where id = $1 for update', [id]);
    const api = hurried.client(tenant.key.key);
    const update = { action: 'update', id, data: { company: 'C' } };
    const create = { action: 'create', data: { first_name: 'Never' } };
    const answers = await Promise.all([
      api.put(`${LEADS}/${id}`, { company: 'C' }),
      api.delete(`${LEADS}/${id}`),
      api.post(`${LEADS}/upsert`, upsertOf(email!, { company: 'C' })),
      api.post(`${LEADS}/batch`, { items: [create, update] }),
      api.post(`${LEADS}/batch`, { atomic: true, items: [create, update] }),
    ]);
    for (const answer of answers) {
      expect(answer.status).toBe(503);
      expect(errorOf(answer)).toMatchObject({ code: 'overloaded', retryable: true });
      expect(answer.headers.get('Retry-After')).toBe('1');
    }
    await holder.query('rollback');
    expect(await countLeads()).toBe(1);
  });
});
