import pg from 'pg';
import { TenantDatabase } from '../../src/database/gateway/tenant-database.js';
import type { Answer } from '../../src/testing/api-client.js';
import { createLead, errorOf, LEADS } from '../../src/testing/factories.js';
import { TestApp, type Tenant } from '../../src/testing/test-app.js';
import { until } from '../support/product.js';

/** No request takes longer, whatever the database does (milliseconds). */
const LONGEST_MS = 5_000;

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
});
afterAll(() => app.stop());

/** Expects answers in time that have succeeded or may be asked for again. */
async function expectRetryable(asked: readonly Promise<Answer>[]): Promise<void> {
  const started = performance.now();
  for (const answer of await Promise.all(asked)) {
    if (answer.status < 300) continue;
    expect(errorOf(answer)).toMatchObject({
      code: expect.stringMatching(/^(query|create)_failed$/) as string,
      retryable: true,
    });
  }
  expect(performance.now() - started).toBeLessThan(LONGEST_MS);
}

describe('a row that someone else holds', () => {
  let holder: pg.Client;
  let id: string;

  beforeEach(async () => {
    ({ id } = await createLead(tenant.api));
    holder = new pg.Client(
      'url' in app.database ? { connectionString: app.database.url } : app.database,
    );
    await holder.connect();
    await holder.query('begin');
    await holder.query('select from leads where id = $1 for update', [id]);
  });
  afterEach(() => holder.end());

  /** How many statements are past the time in which they give up to make room for others. */
  async function longWaiting(): Promise<number> {
    const waiting = await app.sql(`select from pg_stat_activity where wait_event_type = 'Lock'
      and datname = current_database() and now() - query_start > interval '150 milliseconds'`);
    return waiting.length;
  }

  it('keeps those who want it waiting, and no one else', async () => {
    const others = await createLead(tenant.api);
    let waiting = 40;
    const writes = Array.from({ length: waiting }, (_, i) =>
      tenant.api.put(`${LEADS}/${id}`, { company: `C${i}` }).finally(() => waiting--),
    );
    await until(async () => (await longWaiting()) === 4);
    // A key that no one has used yet has to be looked up.
    const newcomer = await app.key(tenant.id);
    expect((await newcomer.api.get(`${LEADS}/${id}`)).status).toBe(200);
    expect((await newcomer.api.post(LEADS, { first_name: 'A' })).status).toBe(201);
    expect((await newcomer.api.put(`${LEADS}/${others.id}`, { company: 'C' })).status).toBe(200);
    expect((await newcomer.api.delete(`${LEADS}/${others.id}`)).status).toBe(200);
    expect((await app.client().get('/health/ready')).status).toBe(200);
    expect(waiting).toBeGreaterThan(0);
    await expectRetryable(writes);
  });

  it('is waited for, by who wants to change it once too', async () => {
    const change = tenant.api.put(`${LEADS}/${id}`, { company: 'C' });
    const once = { headers: { 'Idempotency-Key': 'once' } };
    const body = { lead_id: id, start_time: '2030-01-01', end_time: '2030-01-02' };
    const creation = tenant.api.post('/api/v1/appointments', body, once);
    await until(async () => (await longWaiting()) === 2);
    await holder.query('rollback');
    expect((await change).status).toBe(200);
    expect((await creation).status).toBe(201);
  });
});

describe('a statement that does not end', () => {
  it('is given up by PostgreSQL, and its connection goes on', async () => {
    const database = app.app.get(TenantDatabase);
    const endless = { text: 'select pg_sleep(60) as asleep', values: [] };
    const started = performance.now();
    await expect(database.read(tenant, endless)).rejects.toMatchObject({ code: 'query_failed' });
    await expect(
      database.transaction(tenant, (transaction) => transaction.query(endless)),
    ).rejects.toMatchObject({ code: 'create_failed' });
    expect(performance.now() - started).toBeLessThan(2 * LONGEST_MS);
    const asleep = await app.sql(`select from pg_stat_activity where state = 'active'
      and datname = current_database() and query like '%as asleep%' and pid <> pg_backend_pid()`);
    expect(asleep).toEqual([]);
  });
});
