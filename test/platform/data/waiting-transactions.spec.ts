import pg from 'pg';
import { LeadsRepository } from '../../../src/modules/leads/leads.repository.js';
import { TenantDatabase } from '../../../src/platform/data/gateway/tenant-database.js';
import { TurnNeeded } from '../../../src/platform/data/gateway/turns.js';
import { configOf } from '../../../src/testing/databases.js';
import { createLead, dataOf, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { until } from '../../support/servers/product.js';

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
});
afterAll(() => app.stop());
beforeEach(async () => {
  tenant = await app.organization();
});

/** Whether a statement waits for this client for longer than a first attempt may. */
async function waitsLong(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const waiters = await app.sql(
    `select from pg_stat_activity
      where $1 = any(pg_blocking_pids(pid)) and clock_timestamp() - query_start > '100 ms'`,
    [rows[0]!.pid],
  );
  return waiters.length > 0;
}

describe('an organization whose records are locked', () => {
  let holder: pg.Client;
  let locker: pg.Client;

  beforeEach(async () => {
    holder = new pg.Client(configOf(app.database));
    locker = new pg.Client(configOf(app.database));
    await Promise.all([holder.connect(), locker.connect()]);
    await holder.query('begin');
  });
  afterEach(() => Promise.all([holder.end(), locker.end()]));

  it('leaves other organizations a connection that waits for a lock', async () => {
    const leads = await Promise.all(Array.from({ length: 12 }, () => createLead(tenant.api)));
    await holder.query('select from leads where id = any($1) for update', [
      leads.map(({ id }) => id),
    ]);
    const stranger = await app.organization();
    const { id } = await createLead(stranger.api);
    await locker.query('begin');
    await locker.query('select from leads where id = $1 for update', [id]);
    const company = 'C';
    const own = leads.map((lead) => tenant.api.put(`${LEADS}/${lead.id}`, { company }));
    await until(() => waitsLong(holder));
    const update = stranger.api.put(`${LEADS}/${id}`, { company });
    await until(() => waitsLong(locker));
    await locker.query('rollback');
    expect((await update).status).toBe(200);
    await holder.query('rollback');
    for (const { status } of await Promise.all(own)) expect(status).toBe(200);
  });
});

describe('a transaction that updates a record of another one', () => {
  it('runs again after it without a wait for its locks, also if its work catches errors', async () => {
    const { id } = await createLead(tenant.api);
    const database = app.app.get(TenantDatabase);
    const leads = app.app.get(LeadsRepository);
    const call = { tenant: { id: tenant.id } };
    const errors: unknown[] = [];
    let second: Promise<void> | undefined;
    await database.transaction(call, async (inner) => {
      await leads.update(inner, id, { company: 'First' });
      await new Promise<void>((resolve) => {
        second = database.transaction(call, async (its) => {
          await leads.update(its, id, { company: 'Second' }).catch((error: unknown) => {
            errors.push(error);
          });
          resolve();
        });
      });
    });
    await second;
    expect(errors).toEqual([expect.any(TurnNeeded)]);
    expect(dataOf(await tenant.api.get(`${LEADS}/${id}`)).company).toBe('Second');
  });
});
