import { OrganizationRemovalService } from '../../../../src/modules/auth/organization-removal.service.js';
import { RecordRemoval } from '../../../../src/platform/data/records/record-removal.service.js';
import { createLead, dataOf, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { readAllEvents, readEvents } from '../../../support/events.js';

const TASKS = '/api/v1/tasks';
const DAY_MS = 86_400_000;
const TIMES = { start_time: '2026-05-04T09:00:00Z', end_time: '2026-05-04T10:00:00Z' };

let app: TestApp;
let tenant: Tenant;

/** A time after all deletions so far: those of this millisecond are not before now. */
const soon = () => new Date(Date.now() + 1_000);

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
    dataOf(await tenant.api.post('/api/v1/appointments', { lead_id: lead.id, ...TIMES }), 201);
    dataOf(await tenant.api.delete(`${LEADS}/${lead.id}`));
    await readAllEvents(tenant.api, 4);

    await app.app.get(RecordRemoval).purge({ tenant }, soon());

    expect(await recordsWithEvents()).toEqual([kept.id]);
    expect((await readEvents(tenant.api)).data.map(({ record }) => record.id)).toEqual([kept.id]);
  });

  it('writes an event for each task of a removed lead, unless the task is deleted', async () => {
    const lead = await createLead(tenant.api);
    const createTask = async () =>
      dataOf(await tenant.api.post(TASKS, { title: 'Call', contact_id: lead.id }), 201).id;
    const [task, deleted] = [await createTask(), await createTask()];
    for (const path of [`${TASKS}/${deleted}`, `${LEADS}/${lead.id}`]) {
      dataOf(await tenant.api.delete(path));
    }
    await app.sql(`update leads set deleted_at = now() - interval '31 days' where id = $1`, [
      lead.id,
    ]);

    await app.app.get(RecordRemoval).purge({ tenant }, new Date(Date.now() - 30 * DAY_MS));

    const columns = `record_id, changed, record->'contact_id' as contact_id, key_id`;
    const events = await app.sql(
      `select ${columns} from event_outbox where organization_id = $1 and type = 'task.updated'
       union all
       select ${columns} from events where organization_id = $1 and type = 'task.updated'`,
      [tenant.id],
    );
    expect(events).toEqual([
      { record_id: task, changed: ['contact_id'], contact_id: null, key_id: null },
    ]);
    const rest = await app.sql('select contact_id from tasks where id = $1', [deleted]);
    expect(rest).toEqual([{ contact_id: null }]);
  });

  it('removes events that are not published yet', async () => {
    const { id } = await createLead(tenant.api);
    dataOf(await tenant.api.delete(`${LEADS}/${id}`));
    await app.app.get(RecordRemoval).purge({ tenant }, soon());
    expect(await recordsWithEvents()).toEqual([]);
  });
});

describe('the removal of an organization', () => {
  it('removes its events and no others', async () => {
    const other = await app.organization();
    await createLead(tenant.api);
    const { id } = await createLead(other.api);

    await app.app.get(OrganizationRemovalService).remove(tenant.id);

    expect(await recordsWithEvents()).toEqual([]);
    expect(await recordsWithEvents(other)).toEqual([id]);
  });
});

/** The records with an event, published or not. Those of keys are left out. */
async function recordsWithEvents({ id } = tenant): Promise<string[]> {
  const rows = await app.sql<{ record_id: string }>(
    `select record_id from event_outbox where organization_id = $1 and type not like 'key.%'
     union select record_id from events where organization_id = $1 and type not like 'key.%'`,
    [id],
  );
  return rows.map(({ record_id }) => record_id);
}
