import { randomUUID } from 'node:crypto';
import {
  createLead,
  dataOf,
  expectError,
  LEADS,
  updateLead,
} from '../../../src/testing/factories.js';
import { TestServer, type Tenant } from '../../../src/testing/test-server.js';
import { readAllEvents, readEvents } from '../../support/events.js';

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => app.stop());

const pathOf = (id: string) => `${LEADS}/${id}/events`;

describe('GET /api/v1/leads/:id/events', () => {
  it('lists who changed the lead, also after its deletion, and nothing of other records', async () => {
    const other = await app.key(tenant.id);
    const lead = await createLead(tenant.api);
    await createLead(tenant.api);
    await updateLead(other.api, lead.id, { notes: 'Prefers letters.' });
    dataOf(await other.api.delete(`${LEADS}/${lead.id}`));
    const all = await readAllEvents(tenant.api, 4);

    const { data, meta } = await readEvents(tenant.api, '', pathOf(lead.id));
    expect(data).toEqual(all.filter(({ record }) => record.id === lead.id));
    expect(data.map(({ type, actor }) => [type, actor.key_id])).toEqual([
      ['lead.created', tenant.key.id],
      ['lead.updated', other.key.id],
      ['lead.deleted', other.key.id],
    ]);
    expect((await readEvents(tenant.api, `after=${meta.next}`, pathOf(lead.id))).data).toEqual([]);
  });

  it('names the tags that an update adds or removes', async () => {
    const { id } = await createLead(tenant.api, { tags: ['a'] });
    await updateLead(tenant.api, id, { add_tags: ['b'], remove_tags: ['a'] });
    await updateLead(tenant.api, id, { add_tags: ['b'] });
    await updateLead(tenant.api, id, { notes: 'Last.' });
    const [, first, second] = await readAllEvents(tenant.api, 3);
    expect(first).toMatchObject({ changed: ['tags'], record: { tags: ['b'] } });
    expect(second).toMatchObject({ changed: ['notes'] });
  });

  it('continues after a page', async () => {
    const { id } = await createLead(tenant.api);
    for (const notes of ['a', 'b']) await updateLead(tenant.api, id, { notes });
    const all = await readAllEvents(tenant.api, 3);
    const { data, meta } = await readEvents(tenant.api, 'limit=2', pathOf(id));
    expect({ data, meta }).toEqual({
      data: all.slice(0, 2),
      meta: { next: all[1]?.id, has_more: true },
    });
    const rest = await readEvents(tenant.api, `after=${meta.next}`, pathOf(id));
    expect(rest).toMatchObject({ data: all.slice(2), meta: { has_more: false } });
  });

  it('is empty for a key that cannot read leads, and 404 for a lead that never existed', async () => {
    const { id } = await createLead(tenant.api);
    await readAllEvents(tenant.api, 1);
    const { api } = await app.key(tenant.id, ['events:read', 'tasks:read']);
    expect((await readEvents(api, '', pathOf(id))).data).toEqual([]);
    expectError(await tenant.api.get(pathOf(randomUUID())), 404, 'not_found');
  });
});

it.each(['leads', 'appointments', 'tasks'])(
  'GET /api/v1/%s/:id/events is 404 with the id of a record of another kind',
  async (kind) => {
    const { id: lead_id } = await createLead(tenant.api);
    const times = { start_time: '2026-05-04T09:00:00Z', end_time: '2026-05-04T10:00:00Z' };
    const appointment = await tenant.api.post('/api/v1/appointments', { lead_id, ...times });
    const task = await tenant.api.post('/api/v1/tasks', { title: 'Call' });
    dataOf(await tenant.api.delete(`/api/v1/tasks/${dataOf(task, 201).id}`));
    await readAllEvents(tenant.api, 4);
    const ids = {
      leads: lead_id,
      appointments: dataOf(appointment, 201).id,
      tasks: dataOf(task, 201).id,
    };
    const reader = await app.key(tenant.id, ['events:read']);
    for (const [of, id] of Object.entries(ids)) {
      for (const { api } of [tenant, reader]) {
        const answer = await api.get(`/api/v1/${kind}/${id}/events`);
        if (of === kind) expect(answer.status).toBe(200);
        else expectError(answer, 404, 'not_found');
      }
    }
  },
);

it.each(['appointments', 'tasks'])('GET /api/v1/%s/:id/events lists its events', async (kind) => {
  const { id: lead_id } = await createLead(tenant.api);
  const body = {
    appointments: {
      ...{ lead_id, start_time: '2026-05-04T09:00:00Z', end_time: '2026-05-04T10:00:00Z' },
    },
    tasks: { title: 'Call' },
  }[kind];
  const { id } = dataOf(await tenant.api.post(`/api/v1/${kind}`, body), 201);
  const [, created] = await readAllEvents(tenant.api, 2);
  const { data } = await readEvents(tenant.api, '', `/api/v1/${kind}/${id}/events`);
  expect(data).toEqual([created]);
});
