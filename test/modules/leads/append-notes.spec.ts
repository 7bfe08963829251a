import {
  createLead,
  dataOf,
  errorOf,
  expectInvalid,
  LEADS,
} from '../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';
import { readAllEvents } from '../../support/events.js';
import { connectAgent, stopWithAgents } from '../../support/mcp/agent.js';

const APPOINTMENTS = '/api/v1/appointments';
const TIMES = { start_time: '2026-05-04T09:00:00Z', end_time: '2026-05-04T10:00:00Z' };

interface Noted {
  id: string;
  notes: string | null;
  updated_at: string;
}

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => stopWithAgents(app));

describe.each([
  ['leads', LEADS, (notes?: string) => createLead(tenant.api, { notes })],
  [
    'appointments',
    APPOINTMENTS,
    async (notes?: string) => {
      const { id: lead_id } = await createLead(tenant.api);
      const body = { lead_id, notes, ...TIMES };
      return dataOf<Noted>(await tenant.api.post(APPOINTMENTS, body), 201);
    },
  ],
])('append_notes of %s', (_, path, make) => {
  const put = (id: string, body: object) => tenant.api.put(`${path}/${id}`, body);
  const append = async (id: string, append_notes: string) =>
    dataOf<Noted>(await put(id, { append_notes }));
  const create: (notes?: string) => Promise<Noted> = make;

  it('appends a line to the notes', async () => {
    const { id } = await create();
    expect((await append(id, ' First. ')).notes).toBe('First.');
    const answer = await append(id, 'Second.');
    expect(answer.notes).toBe('First.\nSecond.');
    expect(answer).not.toHaveProperty('append_notes');
    expect(dataOf(await tenant.api.get(`${path}/${id}`))).toEqual(answer);
    const events = await readAllEvents(tenant.api, path === LEADS ? 3 : 4);
    expect(events.at(-1)).toMatchObject({ changed: ['notes'] });
  });

  it('changes nothing if the notes end with the text already', async () => {
    const record = await create('Called.\nLeft a message.');
    for (const text of ['Left a message.', 'a message.', 'Called.\nLeft a message.']) {
      expect(await append(record.id, text)).toEqual(record);
    }
    expect((await append(record.id, 'Called.')).notes).toBe('Called.\nLeft a message.\nCalled.');
  });

  it('compares whole words', async () => {
    const { id } = await create('recall');
    expect((await append(id, 'call')).notes).toBe('recall\ncall');
  });

  it('appends beside a change of other fields', async () => {
    const { id } = await create('One.');
    const others = path === LEADS ? { city: 'Oslo' } : { status: 'completed', ...TIMES };
    const changed = dataOf<Noted>(await put(id, { append_notes: 'Two.', ...others }));
    expect(changed).toMatchObject({ notes: 'One.\nTwo.' });
  });

  it('keeps what concurrent requests append', async () => {
    const { id } = await create('0');
    await Promise.all(['1', '2', '3'].map((text) => append(id, text)));
    const { notes } = dataOf<Noted>(await tenant.api.get(`${path}/${id}`));
    expect(notes!.split('\n').sort()).toEqual(['0', '1', '2', '3']);
  });

  it.each([[null], ['late'], ['']])('is refused together with notes: %j', async (notes) => {
    const { id } = await create('kept');
    const answer = await put(id, { notes, append_notes: 'more' });
    expectInvalid(answer, 'append_notes');
    expect(errorOf(answer).message).toContain('cannot be given together with notes');
    expect(dataOf(await tenant.api.get(`${path}/${id}`))).toMatchObject({ notes: 'kept' });
  });

  it('keeps to 5,000 characters of notes', async () => {
    const { id } = await create('😀'.repeat(4_990));
    const tooLong = await put(id, { append_notes: 'x'.repeat(10) });
    expectInvalid(tooLong, 'append_notes');
    expect(errorOf(tooLong).message).toContain('at most 5000 characters; there would be 5001');
    expect((await append(id, 'x'.repeat(9))).notes).toHaveLength(4_990 * 2 + 10);
    for (const text of [null, '', 1, {}, 'x'.repeat(5_001), 'a\u0000']) {
      expectInvalid(await put(id, { append_notes: text }), 'append_notes');
    }
  });

  it('is an item of a batch', async () => {
    const { id } = await create('One.');
    const item = { action: 'update', id, data: { append_notes: 'Two.' } };
    const run = () => tenant.api.post(`${path}/batch`, { items: [item] });
    expect(await run()).toMatchObject({ body: { data: [{ status: 'updated' }] } });
    expect(await run()).toMatchObject({ body: { data: [{ status: 'unchanged' }] } });
    expect(dataOf(await tenant.api.get(`${path}/${id}`))).toMatchObject({ notes: 'One.\nTwo.' });
  });

  it('is unknown on create', async () => {
    const { id: lead_id } = await createLead(tenant.api);
    const body = path === LEADS ? { first_name: 'Ada' } : { lead_id, ...TIMES };
    const answer = await tenant.api.post(path, { ...body, append_notes: 'x' });
    expectInvalid(answer, 'append_notes');
  });

  it('is a parameter of the tool', async () => {
    const agent = await connectAgent(app, tenant);
    const { id } = await create('One.');
    const tool = path === LEADS ? 'update_lead' : 'update_appointment';
    const update = (more: object) => agent.succeed(tool, { id, ...more });
    expect(await update({ append_notes: null, notes: null })).toMatchObject({ notes: 'One.' });
    const args = { append_notes: 'Two.', notes: null };
    expect(await update(args)).toMatchObject({ notes: 'One.\nTwo.' });
    expect(await update(args)).toMatchObject({ notes: 'One.\nTwo.' });
    const refused = await agent.fail(tool, { id, append_notes: 'x', clear: ['notes'] });
    expect(refused.details).toMatchObject([{ field: 'append_notes' }]);
    const cleared = await agent.fail(tool, { id, clear: ['append_notes'] });
    expect(cleared.details).toMatchObject([{ field: 'clear' }]);
  });
});

describe('append_notes of an upsert', () => {
  const upsert = (data: object) =>
    tenant.api.post(`${LEADS}/upsert`, { match_on: ['external_id'], data });

  it('is the notes of a new lead, and is appended to those of another', async () => {
    const data = { external_id: 'crm-1', first_name: 'Ada' };
    const created = dataOf<Noted>(await upsert({ ...data, append_notes: 'One.' }), 201);
    expect(created.notes).toBe('One.');
    expect(dataOf(await upsert({ ...data, append_notes: 'Two.' }))).toMatchObject({
      notes: 'One.\nTwo.',
    });
    const again = await upsert({ ...data, append_notes: 'Two.' });
    expect(again.body).toMatchObject({ meta: { action: 'unchanged' } });
    expectInvalid(await upsert({ ...data, notes: 'x', append_notes: 'y' }), 'data.append_notes');
  });
});
