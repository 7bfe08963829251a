import { OrganizationRemovalService } from '../../src/auth/organization-removal.service.js';
import { PurgeService } from '../../src/database/records/purge.service.js';
import { createLead, dataOf, LEADS } from '../../src/testing/factories.js';
import { TestApp } from '../../src/testing/test-app.js';
import type { Tenant } from '../../src/testing/test-server.js';

const EVENT_TABLES = ['event_outbox', 'events'];
const TIMES = { start_time: '2026-05-04T09:00:00Z', end_time: '2026-05-04T10:00:00Z' };

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => app.stop());

describe('a purge', () => {
  it('removes the events of a lead and of its appointments, and keeps those of other records', async () => {
    const [lead, kept] = [await createLead(tenant.api), await createLead(tenant.api)];
    const { id } = dataOf<{ id: string }>(
      await tenant.api.post('/api/v1/appointments', { lead_id: lead.id, ...TIMES }),
      201,
    );
    dataOf(await tenant.api.delete(`${LEADS}/${lead.id}`));
    await app.sql(`delete from event_outbox where organization_id = $1`, [tenant.id]);
    for (const record of [lead.id, id, kept.id]) await storeEvents(record);

    await app.app.get(PurgeService).purge(tenant, new Date());

    expect(await recordsWithEvents('event_outbox')).toEqual([kept.id]);
    expect(await recordsWithEvents('events')).toEqual([kept.id]);
  });
});

describe('the removal of an organization', () => {
  it('removes its events and no others', async () => {
    const other = await app.organization();
    const record = '0198c0de-0000-7000-8000-000000000001';
    await storeEvents(record);
    await storeEvents(record, other);

    await app.app.get(OrganizationRemovalService).remove(tenant.id);

    for (const table of EVENT_TABLES) {
      expect(await recordsWithEvents(table)).toEqual([]);
      expect(await recordsWithEvents(table, other)).toEqual([record]);
    }
  });
});

/** Stores an event in the outbox and a published one. */
async function storeEvents(record: string, { id } = tenant): Promise<void> {
  await app.sql(
    `insert into event_outbox (organization_id, type, record_id, record, changed)
     values ($1, 'lead.created', $2, '{}', '{}')`,
    [id, record],
  );
  await app.sql(
    `insert into events (position, organization_id, type, record_id, record, changed)
     select coalesce(max(position), 0) + 1, $1, 'lead.created', $2, '{}', '{}' from events`,
    [id, record],
  );
}

async function recordsWithEvents(table: string, { id } = tenant): Promise<string[]> {
  const rows = await app.sql<{ record_id: string }>(
    `select record_id from ${table} where organization_id = $1`,
    [id],
  );
  return rows.map(({ record_id }) => record_id);
}
