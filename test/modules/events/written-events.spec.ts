import { randomUUID } from 'node:crypto';
import { buildLead, createLead, dataOf, LEADS } from '../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';
import { connectAgent, stopWithAgents } from '../../support/mcp/agent.js';

const TASKS = '/api/v1/tasks';
const APPOINTMENTS = '/api/v1/appointments';

interface WrittenEvent {
  type: string;
  record_id: string;
  record: { id: string };
  changed: string[];
  key_id: string | null;
  channel: string | null;
  request_id: string | null;
}

let server: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  server = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await server.organization();
});
afterAll(() => stopWithAgents(server));

/** The events of the organization, published and not, in the order of their changes. */
const events = () =>
  server.sql<WrittenEvent>(
    `select * from (
      select 0 as part, position as number, type, record_id, record, changed, key_id, channel, request_id
      from events where organization_id = $1
      union all
      select 1, seq, type, record_id, record, changed, key_id, channel, request_id
      from event_outbox where organization_id = $1) written
     where type not like 'key.%' order by part, number`,
    [tenant.id],
  );

const types = async () => (await events()).map(({ type }) => type);

describe('a change over REST', () => {
  it('writes one event with the record, the changed fields and who changed it', async () => {
    const { api, key } = tenant;
    const created = await api.post(LEADS, buildLead());
    const lead = dataOf(created, 201);
    const path = `${LEADS}/${lead.id}`;
    const updated = await api.put(path, {
      first_name: 'Grace',
      tags: ['new'],
      last_name: lead.last_name,
    });
    const deleted = await api.delete(path);
    const requestIds = [created, updated, deleted].map(({ headers }) =>
      headers.get('x-request-id'),
    );
    const actor = { record_id: lead.id, key_id: key.id, channel: 'api' };
    const stored = dataOf<object>(updated);
    expect(await events()).toEqual([
      expect.objectContaining({ type: 'lead.created', record: lead, changed: [], ...actor }),
      expect.objectContaining({ type: 'lead.updated', record: stored, ...actor }),
      expect.objectContaining({ type: 'lead.deleted', record: stored, changed: [], ...actor }),
    ]);
    const [, update] = await events();
    expect(update!.changed.sort()).toEqual(['first_name', 'tags']);
    expect((await events()).map(({ request_id }) => request_id)).toEqual(requestIds);
  });

  it('names computed fields whose value changes', async () => {
    const { id, lead_score: before } = await createLead(tenant.api, { first_name: 'Ada' });
    const after = dataOf(await tenant.api.put(`${LEADS}/${id}`, buildLead({ first_name: 'Ada' })));
    expect(after.lead_score).not.toBe(before);
    const [, { changed }] = (await events()) as [WrittenEvent, WrittenEvent];
    expect(changed).toContain('lead_score');
    expect(changed).not.toContain('first_name');
    expect(changed).not.toContain('updated_at');
  });

  it('writes an event of its own type if it completes a task or cancels an appointment', async () => {
    const { api } = tenant;
    const task = dataOf(await api.post(TASKS, { title: 'Call' }), 201);
    await api.put(`${TASKS}/${task.id}`, { status: 'completed', title: 'Called' });
    await api.put(`${TASKS}/${task.id}`, { status: 'open' });
    await api.delete(`${TASKS}/${task.id}`);
    const lead = await createLead(api);
    const times = { start_time: '2030-01-01T10:00:00Z', end_time: '2030-01-01T11:00:00Z' };
    const booking = { lead_id: lead.id, ...times };
    const appointment = dataOf(await api.post(APPOINTMENTS, booking), 201);
    await api.put(`${APPOINTMENTS}/${appointment.id}`, { notes: 'Second visit' });
    await api.delete(`${APPOINTMENTS}/${appointment.id}`);
    expect(await types()).toEqual([
      ...['task.created', 'task.completed', 'task.updated', 'task.deleted'],
      ...['lead.created', 'appointment.created', 'appointment.updated', 'appointment.cancelled'],
    ]);
  });

  it('writes no event if nothing changes or the change is refused', async () => {
    const { api } = tenant;
    const lead = await createLead(api, buildLead());
    const path = `${LEADS}/${lead.id}`;
    await api.put(path, { first_name: lead.first_name });
    await api.put(path, { first_name: 'X' }, { headers: { 'If-Match': '"another"' } });
    await api.post(LEADS, { first_name: 'Twin', email: lead.email });
    await api.post(APPOINTMENTS, { lead_id: randomUUID() });
    expect(await types()).toEqual(['lead.created']);
  });

  it('writes one event for all requests with the same Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const post = () => tenant.api.post(LEADS, { first_name: 'Ada' }, { headers });
    await Promise.all([1, 2, 3].map(post));
    await post();
    expect(await types()).toEqual(['lead.created']);
  });
});

describe('a change by an agent', () => {
  it('writes the event of the channel ai, without computed fields', async () => {
    const lead = await createLead(tenant.api);
    const agent = await connectAgent(server, tenant);
    const answer = await agent.succeed('create_task', { title: 'Call', contact_id: lead.id });
    expect(answer).toHaveProperty('contact_name');
    const [, event] = await events();
    const task = dataOf(await tenant.api.get(`${TASKS}/${event!.record_id}`));
    expect(event).toMatchObject({ type: 'task.created', channel: 'ai', key_id: tenant.key.id });
    expect(event!.record).toEqual(task);
  });

  it('writes no event in a dry run', async () => {
    const { id } = await createLead(tenant.api);
    const agent = await connectAgent(server, tenant);
    await agent.succeed('delete_lead', { id, dry_run: true });
    expect(await types()).toEqual(['lead.created']);
  });
});
