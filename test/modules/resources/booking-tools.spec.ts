import { createLead, dataOf } from '../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { McpHttpClient, STATELESS_META } from '../../../src/testing/mcp-client.js';
import {
  type Agent,
  connectAgent,
  failureOf,
  stopWithAgents,
  textOf,
} from '../../support/mcp/agent.js';

interface Slot {
  start_time: string;
  end_time: string;
  local_start: string;
}
interface Found {
  resources: { resource_id: string; name: string; time_zone: string; slots: Slot[] }[];
  has_more: boolean;
}
type Row = Record<string, unknown> & { id: string };

// The 5th of January 2040 is a Thursday.
const HOURS = { thursday: [{ start: '09:00', end: '17:00' }] };
const AFTERNOON = { from: '2040-01-05T13:00', to: '2040-01-05T15:00' };
const HOUR = { duration_minutes: 60, step_minutes: 60 };

let app: TestServer;
let tenant: Tenant;
let agent: Agent;
let anna: string;
let crew: string;

beforeAll(async () => {
  app = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await app.organization();
  agent = await connectAgent(app, tenant);
  anna = await resource({ name: 'Anna', time_zone: 'America/New_York' });
  crew = await resource({ name: 'Crew', time_zone: 'Europe/Berlin' });
});
afterEach(() => agent.close());
afterAll(() => stopWithAgents(app));

const resource = async (fields: object) =>
  dataOf<Row>(await tenant.api.post('/api/v1/resources', { hours: HOURS, ...fields }), 201).id;
const find = (args: object) => agent.succeed<Found>('find_free_slots', { ...HOUR, ...args });

describe('find_free_slots', () => {
  it('reads times without an offset in the zone of each active resource', async () => {
    await resource({ name: 'Closed', hours: null });
    await resource({ name: 'Away', active: false });
    const slot = (start_time: string, end_time: string, local_start: string) => ({
      ...{ start_time: `2040-01-05T${start_time}Z`, end_time: `2040-01-05T${end_time}Z` },
      local_start: `2040-01-05T${local_start}`,
    });
    expect(await find(AFTERNOON)).toEqual({
      resources: [
        {
          ...{ resource_id: anna, name: 'Anna', time_zone: 'America/New_York' },
          slots: [slot('18:00', '19:00', '13:00-05:00'), slot('19:00', '20:00', '14:00-05:00')],
        },
        {
          ...{ resource_id: crew, name: 'Crew', time_zone: 'Europe/Berlin' },
          slots: [slot('12:00', '13:00', '13:00+01:00'), slot('13:00', '14:00', '14:00+01:00')],
        },
      ],
      has_more: false,
    });
    const sameMoment = { from: '2040-01-05T13:00Z', to: '2040-01-05T14:00:00-01:00' };
    const { resources } = await find(sameMoment);
    expect(resources).toMatchObject([
      { name: 'Anna', slots: [{ local_start: '2040-01-05T09:00-05:00' }] },
      { name: 'Crew', slots: [{ start_time: '2040-01-05T13:00Z' }, {}] },
    ]);
  });

  it('tells the 40 earliest slots of the next seven days, and whether there are more', async () => {
    const daily = [{ start: '00:00', end: '24:00' }];
    const days = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
    const hours = Object.fromEntries(days.map((day) => [day, daily]));
    const any_of = [await resource({ name: 'Always', hours })];
    const every = await find({ any_of });
    expect(every.has_more).toBe(true);
    expect(every.resources[0]!.slots).toHaveLength(40);
    const [first] = every.resources[0]!.slots as [Slot];
    expect(Date.parse(first.start_time) - Date.now()).toBeLessThan(2 * 3_600_000);
    const week = await find({ any_of, duration_minutes: 1_440, step_minutes: 1_440 });
    expect(week).toMatchObject({ has_more: false });
    expect(week.resources[0]!.slots.length).toBeGreaterThanOrEqual(6);
    expect((await find({ any_of, ...AFTERNOON })).resources).toMatchObject([{ slots: [{}, {}] }]);
  });

  it.each([
    [{ from: 'next Thursday' }, /^from must be an ISO 8601 date-time .*relative times/],
    [{ from: '2040-01-05', to: '2040-01-05' }, /^to must be after from/],
    [{ from: '2040-01-05', to: '2040-03-08' }, /^to must be at most 62 days after from/],
    [{ duration_minutes: 0 }, /^duration_minutes must be/],
    [{ from: '9999-12-31T23:00' }, /^from must be from the year 0001 to 9999 in UTC/],
    [{ from: '9999-12-31', to: '9999-12-31T23:00' }, /^to must be from the year 0001 to 9999/],
  ])('refuses %j', async (args, message) => {
    const error = await agent.fail('find_free_slots', { ...HOUR, ...args });
    expect(error).toMatchObject({ code: 'validation_error' });
    expect(error.message).toMatch(message);
  });

  it('refuses an unknown resource, and asks for resources where more than 100 are active', async () => {
    const any_of = ['00000000-0000-4000-8000-000000000000'];
    expect(await agent.fail('find_free_slots', { ...HOUR, any_of })).toMatchObject({
      code: 'not_found',
    });
    const items = Array.from({ length: 99 }, () => ({ action: 'create', data: { name: 'Room' } }));
    await tenant.api.post('/api/v1/resources/batch', { items });
    const { message } = await agent.fail('find_free_slots', HOUR);
    expect(message).toBe('any_of is required, because there are more than 100 active resources.');
    expect((await find({ any_of: [crew], ...AFTERNOON })).resources).toHaveLength(1);
  });
});

describe('an agent', () => {
  let lead_id: string;

  beforeEach(async () => {
    lead_id = (await createLead(tenant.api, { first_name: 'Grace', last_name: 'Hopper' })).id;
  });

  it('books a slot with anybody in three calls, and in one more after slot_taken', async () => {
    const { data } = await agent.succeed<{ data: Row[] }>('list_leads', { search: 'Grace' });
    const { resources } = await find(AFTERNOON);
    const [{ start_time, end_time }] = resources[1]!.slots as [Slot];
    const booking = { lead_id: data[0]!.id, start_time, end_time, any_of: [crew, anna] };
    expect(await agent.succeed('create_appointment', booking)).toMatchObject({
      ...{ resource_id: crew, resource_name: 'Crew', time_zone: 'Europe/Berlin' },
      ...{ start_time: '2040-01-05T12:00:00.000Z', local_start: '2040-01-05T13:00+01:00' },
      ...{ local_end: '2040-01-05T14:00+01:00', booked_by: 'ai' },
    });
    const refused = await agent.call('create_appointment', booking);
    const text = textOf(refused);
    expect(text).toMatch(/^slot_taken: The time is not free\. The next free times: \[.+\]\. /);
    const [free] = JSON.parse(/\[.+\]/.exec(text)![0]) as [Slot];
    expect(free).toEqual({
      start_time: '2040-01-05T14:00+01:00',
      end_time: '2040-01-05T15:00+01:00',
      resource_id: crew,
    });
    const booked = await agent.succeed('create_appointment', { lead_id, ...free });
    expect(booked).toMatchObject({ start_time: '2040-01-05T13:00:00.000Z' });
    expect((await find(AFTERNOON)).resources).toMatchObject([{ name: 'Anna' }]);
  });

  it('keeps a slot with hold_slot, and books it by hold_id', async () => {
    const nine = { start_time: '2040-01-05T09:00+01:00', end_time: '2040-01-05T10:00+01:00' };
    const hold = await agent.succeed('hold_slot', { any_of: [crew], ...nine, seconds: 300 });
    expect(hold).toMatchObject({
      ...{ resource_id: crew, resource_name: 'Crew', local_start: '2040-01-05T09:00+01:00' },
      expires_at: expect.any(String) as string,
    });
    const error = await agent.fail('hold_slot', { resource_id: crew, ...nine, seconds: 300 });
    expect(error).toMatchObject({ code: 'slot_taken' });
    const { id } = await agent.succeed<Row>('create_appointment', { lead_id, hold_id: hold.id });
    const moved = { id, start_time: '2040-01-05T14:00Z', end_time: '2040-01-05T15:00Z' };
    expect(
      await agent.succeed('update_appointment', { ...moved, resource_id: anna }),
    ).toMatchObject({ resource_name: 'Anna', local_start: '2040-01-05T09:00-05:00' });
    expect(await agent.succeed('get_appointment', { id })).toMatchObject({
      ...{ time_zone: 'America/New_York', local_end: '2040-01-05T10:00-05:00' },
    });
    const page = await agent.succeed<{ data: Row[] }>('list_appointments', { fields: ['type'] });
    expect(page.data).toMatchObject([{ id, resource_name: 'Anna', time_zone: 'America/New_York' }]);
    expect(page.data[0]).not.toHaveProperty('resource_id');
  });

  it('gets no names and zones of resources that its key may not read', async () => {
    const writer = await connectAgent(app, await app.key(tenant.id, ['appointments:write']));
    const ten = { start_time: '2040-01-05T10:00Z', end_time: '2040-01-05T11:00Z' };
    const booking = { lead_id, resource_id: crew, ...ten };
    const appointment = await writer.succeed('create_appointment', booking);
    expect(appointment).toMatchObject({ resource_id: crew });
    expect(appointment).not.toHaveProperty('resource_name');
    expect(appointment).not.toHaveProperty('local_start');
  });

  /** Books once for an idempotency key. @returns the id of the appointment, or the code of the error */
  async function bookOnce(key: string, booking: object): Promise<string> {
    const _meta = { ...STATELESS_META, 'latitude/idempotency_key': key };
    const params = { name: 'create_appointment', arguments: { lead_id, ...booking }, _meta };
    const caller = new McpHttpClient(app.url, tenant.key.key);
    const { status, body } = await caller.statelessRpc('tools/call', params);
    expect(status).toBe(200);
    const { result } = body as { result: CallToolResult };
    return result.isError ? failureOf(result).code : (result.structuredContent as Row).id;
  }

  it('books once for an idempotency key, also with calls at the same time', async () => {
    const nine = { start_time: '2040-01-05T09:00+01:00', end_time: '2040-01-05T10:00+01:00' };
    const booking = { any_of: [crew], ...nine };
    const booked = await Promise.all(Array.from({ length: 5 }, () => bookOnce('one', booking)));
    const id = await bookOnce('one', booking);
    expect(new Set([...booked, id, 'idempotency_key_in_use'])).toEqual(
      new Set([id, 'idempotency_key_in_use']),
    );
    expect(booked).toContain(id);
    expect(await agent.succeed('list_appointments')).toMatchObject({ data: [{ id }] });
  });

  it('gets slot_taken if others with keys of their own book the slot at the same time', async () => {
    const nine = { start_time: '2040-01-05T14:00Z', end_time: '2040-01-05T15:00Z' };
    const book = (which: object) =>
      Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          bookOnce(`${Object.keys(which).join()}-${index}`, { ...which, ...nine }),
        ),
      );
    const taken = (answers: string[]) => answers.filter((answer) => answer === 'slot_taken');
    const ofCrew = await book({ resource_id: crew });
    expect(taken(ofCrew)).toHaveLength(19);
    const ofAny = await book({ any_of: [crew, anna] });
    expect(taken(ofAny)).toHaveLength(19);
    const { meta } = await agent.succeed<{ meta: object }>('list_appointments');
    expect(meta).toMatchObject({ total: 2 });
  });
});
