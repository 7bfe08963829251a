import { randomUUID } from 'node:crypto';
import {
  buildLead,
  createLead,
  dataOf,
  expectError,
  LEADS,
} from '../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';
import { readAllEvents } from '../../support/events.js';
import { createWebhook, untilDeliveries } from '../../support/webhooks.js';

const TIMES = { start_time: '2030-01-01T10:00:00Z', end_time: '2030-01-01T11:00:00Z' };

interface Row {
  id: string;
}

type PersonalData = Record<'leads' | 'appointments' | 'tasks' | 'events' | 'deliveries', Row[]> & {
  other_records: object;
};

let app: TestServer;
let tenant: Tenant;
let api: Tenant['api'];

beforeAll(async () => {
  app = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await app.organization({ scopes: [...app.scopes.ordinary, 'leads:erase'] });
  ({ api } = tenant);
});

const read = async (id: string) =>
  dataOf<PersonalData>(await api.get(`${LEADS}/${id}/personal-data`));

const idsOf = (rows: Row[]) => rows.map(({ id }) => id);

describe('GET /api/v1/leads/:id/personal-data', () => {
  it('has the lead, its appointments and tasks, their events and the deliveries of these', async () => {
    const url = 'https://receiver.invalid/hook';
    const webhook = await createWebhook(tenant, url, { types: ['lead.created'] });
    const lead = await createLead(api, buildLead());
    await createLead(api, buildLead());
    const post = async (path: string, body: object) =>
      dataOf<Row>(await api.post(`/api/v1/${path}`, body), 201);
    const appointment = await post('appointments', { ...TIMES, lead_id: lead.id });
    const task = await post('tasks', { title: 'Call', contact_id: lead.id });
    await post('tasks', { title: 'Unrelated' });
    const events = await readAllEvents(api, 5);
    const deliveries = await untilDeliveries(tenant, webhook.id, (all) => all.length === 2);
    const data = await read(lead.id);
    expect(data.leads).toEqual([{ ...lead, deleted_at: null, merged_into: null }]);
    expect(data.appointments).toEqual([appointment]);
    expect(data.tasks).toEqual([task]);
    const ids = [lead.id, appointment.id, task.id];
    expect(data.events).toEqual(events.filter(({ record }) => ids.includes(record.id)));
    const own = deliveries.filter((delivery) => delivery.record_id === lead.id);
    expect(idsOf(data.deliveries)).toEqual(idsOf(own));
    expect(data.other_records).toEqual({});
  });

  it('has deleted records, and every lead that was merged', async () => {
    const [a, b, c] = [await createLead(api), await createLead(api), await createLead(api)];
    const task = dataOf<Row>(
      await api.post('/api/v1/tasks', { title: 'Call', contact_id: a.id }),
      201,
    );
    await api.delete(`/api/v1/tasks/${task.id}`);
    for (const [target, source] of [
      [b, a],
      [c, b],
    ] as const) {
      dataOf(await api.post(`${LEADS}/${target.id}/merge`, { lead_id: source.id }));
    }
    await api.delete(`${LEADS}/${c.id}`);
    for (const { id } of [a, b, c]) {
      const data = await read(id);
      expect(data.leads).toMatchObject([
        { id: a.id, merged_into: b.id, deleted_at: expect.any(String) as string },
        { id: b.id, merged_into: c.id, deleted_at: expect.any(String) as string },
        { id: c.id, merged_into: null, deleted_at: expect.any(String) as string },
      ]);
      expect(idsOf(data.tasks)).toEqual([task.id]);
    }
  });

  it('does not find an unknown, foreign or erased lead', async () => {
    const stranger = await app.organization({ scopes: [...app.scopes.ordinary, 'leads:erase'] });
    const erased = await createLead(api);
    dataOf(await api.post(`${LEADS}/${erased.id}/erase`, undefined));
    for (const id of [randomUUID(), (await createLead(stranger.api)).id, erased.id]) {
      expectError(await api.get(`${LEADS}/${id}/personal-data`), 404, 'not_found');
    }
  });

  const READS = [
    'leads:read',
    'appointments:read',
    'tasks:read',
    'events:read',
    'webhooks:read',
  ] as const;

  it.each(READS)('needs %s among the read scopes', async (missing) => {
    const { id } = await createLead(api);
    const path = `${LEADS}/${id}/personal-data`;
    const { api: reader } = await app.key(tenant.id, READS);
    dataOf(await reader.get(path));
    const { api: limited } = await app.key(
      tenant.id,
      READS.filter((scope) => scope !== missing),
    );
    expectError(await limited.get(path), 403, 'insufficient_scope');
  });
});
