import pg from 'pg';
import { planConnections } from '../../../../src/platform/data/connection/connection-plan.js';
import {
  Deadline,
  TimeBudget,
  UnlimitedTimeBudget,
} from '../../../../src/platform/data/gateway/policies.js';
import { TenantDatabase } from '../../../../src/platform/data/gateway/tenant-database.js';
import type { Answer } from '../../../../src/testing/api-client.js';
import { createLead, errorOf, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { TEST_SETTINGS } from '../../../../src/testing/test-settings.mjs';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { until } from '../../../support/servers/product.js';

// Broken on purpose for docs/operating/runbook.md#a-lock-blocks-requests

/** The lock timeout of a statement that blocks other statements of its connection (milliseconds). */
const BRIEF_LOCK_MS = '100';

/** How many statements of one organization may wait longer for a lock: all but one, which is for the others. */
const MAX_WAITING = Math.max(1, planConnections(TEST_SETTINGS.databaseMaxConnections).waiting - 1);

/** The time budget of a server whose operations retry after a lock timeout without a deadline. */
class EndlessTimeBudget extends UnlimitedTimeBudget {
  override startDeadline(): Deadline {
    return new EndlessDeadline(Infinity);
  }
}

class EndlessDeadline extends Deadline {
  override timeouts(wait: string): readonly [string, string, string] {
    return [wait === 'long' ? '0' : BRIEF_LOCK_MS, '0', '0'];
  }
}

let app: TestApp;
let endless: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ timeBudget: new TimeBudget() });
  endless = await TestApp.start({ database: app.database, timeBudget: new EndlessTimeBudget() });
  tenant = await app.organization();
});
afterAll(async () => {
  await endless.stop();
  await app.stop();
});

/** Expects answers that are successful or overloaded. */
async function expectOverloaded(asked: readonly Promise<Answer>[]): Promise<void> {
  for (const answer of await Promise.all(asked)) {
    if (answer.status < 300) continue;
    expect(errorOf(answer)).toMatchObject({ code: 'overloaded', retryable: true });
    expect(answer.headers.get('Retry-After')).toBe('1');
  }
}

describe('a row that is locked by another client', () => {
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

  /** Returns the number of statements that wait longer than the lock timeout. */
  async function longWaiting(): Promise<number> {
    const waiting = await app.sql(`select from pg_stat_activity where wait_event_type = 'Lock'
      and datname = current_database() and now() - query_start > interval '150 milliseconds'`);
    return waiting.length;
  }

  it('blocks only the requests that write the row or others that are locked', async () => {
    const others = await createLead(tenant.api);
    const ids = [id];
    while (ids.length < MAX_WAITING + 2) ids.push((await createLead(tenant.api)).id);
    await holder.query('select from leads where id = any($1) for update', [ids]);
    const api = endless.client(tenant.key.key);
    let waiting = 40;
    const writes = Array.from({ length: waiting }, (_, i) =>
      api.put(`${LEADS}/${ids[i % ids.length]}`, { company: `C${i}` }).finally(() => waiting--),
    );
    await until(async () => (await longWaiting()) === MAX_WAITING);
    // A new key is not cached and has to be looked up.
    const uncached = await endless.key(tenant.id);
    expect((await uncached.api.get(`${LEADS}/${id}`)).status).toBe(200);
    expect((await uncached.api.post(LEADS, { first_name: 'A' })).status).toBe(201);
    expect((await uncached.api.put(`${LEADS}/${others.id}`, { company: 'C' })).status).toBe(200);
    expect((await uncached.api.delete(`${LEADS}/${others.id}`)).status).toBe(200);
    expect((await endless.client().get('/health/ready')).status).toBe(200);
    expect(waiting).toBe(40);
    await holder.query('rollback');
    for (const { status } of await Promise.all(writes)) expect(status).toBe(200);
  });

  it('lets one of the requests that write the row wait in the database', async () => {
    const api = endless.client(tenant.key.key);
    const writes = Array.from({ length: 40 }, (_, i) =>
      api.put(`${LEADS}/${id}`, { company: `C${i}` }),
    );
    await until(async () => (await longWaiting()) === 1);
    await holder.query('rollback');
    for (const { status } of await Promise.all(writes)) expect(status).toBe(200);
  });

  it('makes writes of the row overloaded while it is locked', async () => {
    await expectOverloaded(
      Array.from({ length: 40 }, (_, i) => tenant.api.put(`${LEADS}/${id}`, { company: `C${i}` })),
    );
  });

  it('blocks updates and idempotent creates until it is unlocked', async () => {
    const api = endless.client(tenant.key.key);
    let blocked = 2;
    const change = api.put(`${LEADS}/${id}`, { company: 'C' }).finally(() => blocked--);
    const once = { headers: { 'Idempotency-Key': 'once' } };
    const body = { lead_id: id, start_time: '2030-01-01', end_time: '2030-01-02' };
    const creation = api.post('/api/v1/appointments', body, once).finally(() => blocked--);
    await until(async () => (await longWaiting()) === Math.min(2, MAX_WAITING));
    expect(blocked).toBe(2);
    await holder.query('rollback');
    expect((await change).status).toBe(200);
    expect((await creation).status).toBe(201);
  });
});

describe('a statement that exceeds its time budget', () => {
  it('is cancelled by PostgreSQL, and the response is overloaded', async () => {
    const database = app.app.get(TenantDatabase);
    const statement = { text: 'select pg_sleep(3600) as asleep', values: [] };
    await expect(database.read({ tenant }, statement)).rejects.toMatchObject({
      code: 'overloaded',
    });
    await expect(
      database.transaction({ tenant }, ({ transaction }) => transaction.query(statement)),
    ).rejects.toMatchObject({ code: 'overloaded' });
    const asleep = await app.sql(`select from pg_stat_activity where state = 'active'
      and datname = current_database() and query like '%as asleep%' and pid <> pg_backend_pid()`);
    expect(asleep).toEqual([]);
  });
});
