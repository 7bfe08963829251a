import { createLead, dataOf, expectError, expectInvalid } from '../../../src/testing/factories.js';
import { type Answer, ApiClient } from '../../../src/testing/api-client.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';
import {
  COUNT_DIFFERENCES,
  COUNT_OVERLAPS,
  RandomBookings,
} from '../../support/random-bookings.js';
import { TenantDatabase } from '../../../src/platform/data/gateway/tenant-database.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { McpHttpClient } from '../../../src/testing/mcp-client.js';

const RESOURCES = '/api/v1/resources';
const APPOINTMENTS = '/api/v1/appointments';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

interface Record_ {
  id: string;
  resource_id: string | null;
  status: string;
  start_time: string;
}
interface Detail {
  field: string;
  existing_id?: string;
  free?: { start_time: string; end_time: string; resource_id: string }[];
}

let app: TestServer;
let tenant: Tenant;
let lead_id: string;
/** Each test has a day of its own, a Monday to a Friday of far future. */
let days = 0;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
  lead_id = (await createLead(tenant.api)).id;
});

const WEEK = Object.fromEntries(
  ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'].map((day) => [
    day,
    [{ start: '09:00', end: '12:00' }],
  ]),
);

const resource = async (fields: object = {}) =>
  dataOf<{ id: string }>(await tenant.api.post(RESOURCES, { name: 'Crew', ...fields }), 201).id;

/** A Monday at 00:00. */
const monday = () => new Date(Date.UTC(2040, 0, 2) + 7 * 86_400_000 * days++);
const at = (day: Date, time: string) => `${day.toISOString().slice(0, 11)}${time}:00.000Z`;
const slot = (day: Date, start: string, end: string) => ({
  start_time: at(day, start),
  end_time: at(day, end),
});
const post = (body: object, api = tenant.api) => api.post(APPOINTMENTS, { lead_id, ...body });
const put = (id: string, body: object) => tenant.api.put(`${APPOINTMENTS}/${id}`, body);
const book = async (body: object) => dataOf<Record_>(await post(body), 201);
const detailOf = ({ body }: Answer) => (body as { error: { details: [Detail] } }).error.details[0];

function expectTaken(answer: Answer, existing?: string): Detail {
  expectError(answer, 409, 'slot_taken');
  const detail = detailOf(answer);
  expect(detail).toMatchObject({ field: 'start_time' });
  expect(detail.existing_id).toBe(existing);
  return detail;
}

describe('the time of a resource', () => {
  it('gets callers who wait for one another the answers that each would get alone', async () => {
    const resource_id = await resource({ hours: WEEK });
    const closed = await resource({ active: false });
    const day = monday();
    const held = slot(day, '10:00', '11:00');
    const body = { resource_id, ...held, seconds: 900 };
    const hold_id = dataOf<{ id: string }>(await tenant.api.post('/api/v1/holds', body), 201).id;
    const taken = slot(day, '09:00', '10:00');
    const first = await book({ resource_id, ...taken });
    const early = slot(day, '08:30', '09:30');
    const callers: [expected: number | string, send: () => Promise<Answer>][] = [
      ['slot_taken', () => post({ resource_id, ...taken })],
      ['slot_taken', () => post({ resource_id, ...early })],
      ['slot_taken', () => post({ any_of: [resource_id], ...taken })],
      ['slot_taken', () => tenant.api.post('/api/v1/holds', { ...body, ...taken })],
      ['outside_hours', () => post({ resource_id, ...early, within_hours: true })],
      ['resource_inactive', () => post({ any_of: [closed], ...taken })],
      ['slot_taken', () => post({ any_of: [closed, resource_id], ...early })],
      ['not_found', () => post({ any_of: [resource_id, UNKNOWN], ...taken })],
      ['lead_not_found', () => post({ lead_id: UNKNOWN, resource_id, ...taken })],
      [201, () => post({ resource_id, ...taken, status: 'cancelled' })],
      [201, () => post({ resource_id, hold_id })],
      [201, () => post({ resource_id, ...slot(day, '11:00', '12:00') })],
      ['slot_taken', () => put(first.id, slot(day, '10:30', '11:30'))],
    ];
    // All but the first one wait.
    const answers = await Promise.all(callers.map(([, send]) => send()));
    const outcomes = answers.map(({ status, body }) => {
      return (body as { error?: { code: string } }).error?.code ?? status;
    });
    expect(outcomes).toEqual(callers.map(([expected]) => expected));
    for (const answer of answers.slice(0, 2)) expectTaken(answer, first.id);
  });

  it('is taken by one appointment, and its neighbours may touch', async () => {
    const resource_id = await resource();
    const day = monday();
    const first = await book({ resource_id, ...slot(day, '09:00', '10:00') });
    expect(first.resource_id).toBe(resource_id);
    for (const [start, end] of [
      ['09:00', '10:00'],
      ['08:30', '09:01'],
      ['09:59', '11:00'],
      ['09:15', '09:30'],
      ['08:00', '12:00'],
    ]) {
      expectTaken(await post({ resource_id, ...slot(day, start!, end!) }), first.id);
    }
    await book({ resource_id, ...slot(day, '08:00', '09:00') });
    await book({ resource_id, ...slot(day, '10:00', '11:00') });
    // Without a resource, and for another one, the same time is free.
    await book(slot(day, '09:00', '10:00'));
    await book({ resource_id: await resource(), ...slot(day, '09:00', '10:00') });
    const { data } = (await tenant.api.get(`${APPOINTMENTS}?resource_id=${resource_id}`)).body as {
      data: Record_[];
    };
    expect(data).toHaveLength(3);
  });

  it('names the appointment in the way only to keys that read appointments', async () => {
    const resource_id = await resource();
    const day = monday();
    await book({ resource_id, ...slot(day, '09:00', '10:00') });
    const writer = await app.key(tenant.id, ['appointments:write']);
    expectTaken(await post({ resource_id, ...slot(day, '09:00', '10:00') }, writer.api));
  });

  it('has buffers, whose change rules later writes only', async () => {
    const resource_id = await resource({ buffer_before_minutes: 10, buffer_after_minutes: 20 });
    const day = monday();
    const first = await book({ resource_id, ...slot(day, '09:00', '10:00') });
    expectTaken(await post({ resource_id, ...slot(day, '10:29', '11:00') }), first.id);
    expectTaken(await post({ resource_id, ...slot(day, '08:00', '08:31') }), first.id);
    const second = await book({ resource_id, ...slot(day, '10:30', '11:00') });
    dataOf(await tenant.api.put(`${RESOURCES}/${resource_id}`, { buffer_before_minutes: 60 }));
    dataOf(await put(second.id, { status: 'confirmed', notes: 'Bring samples.' }));
    expectTaken(await put(second.id, slot(day, '10:31', '11:00')), first.id);
  });

  it('is freed by a cancellation, a no-show, another resource, none, and another time', async () => {
    const resource_id = await resource();
    const day = monday();
    const time = { resource_id, ...slot(day, '09:00', '10:00') };
    const frees: ((id: string) => Promise<Answer>)[] = [
      (id) => tenant.api.delete(`${APPOINTMENTS}/${id}`),
      (id) => put(id, { status: 'cancelled' }),
      (id) => put(id, { status: 'no_show' }),
      async (id) => put(id, { resource_id: await resource() }),
      (id) => put(id, { resource_id: null }),
      (id) => put(id, slot(day, '10:00', '11:00')),
    ];
    const freed: string[] = [];
    for (const free of frees) {
      const { id } = await book(time);
      expectTaken(await post(time), id);
      dataOf(await free(id));
      freed.push(id);
    }
    const { id } = await book(time);
    // A cancelled one that is scheduled again takes the time again.
    expectTaken(await put(freed[0]!, { status: 'scheduled' }), id);
    expectTaken(await put(freed[2]!, { status: 'completed', notes: 'Came late.' }), id);
    expectTaken(await put(freed[4]!, { resource_id }), id);
    expectTaken(await put(freed[5]!, slot(day, '09:30', '10:30')), id);
    dataOf(await tenant.api.delete(`${APPOINTMENTS}/${id}`));
    expect(dataOf<Record_>(await put(freed[0]!, { status: 'scheduled' })).status).toBe('scheduled');
    expectTaken(await post(time), freed[0]);
  });

  it('is not taken by an appointment that is created as cancelled', async () => {
    const time = { resource_id: await resource(), ...slot(monday(), '09:00', '10:00') };
    await book({ ...time, status: 'cancelled' });
    await book(time);
    await book({ ...time, status: 'no_show' });
  });

  it('is freed by the erasure of the lead', async () => {
    const time = { resource_id: await resource(), ...slot(monday(), '09:00', '10:00') };
    const eraser = await app.key(tenant.id, ['leads:erase']);
    const other = await createLead(tenant.api);
    await book({ ...time, lead_id: other.id });
    dataOf(await eraser.api.post(`/api/v1/leads/${other.id}/erase`, undefined));
    await book(time);
  });

  it('stays taken when the lead is merged or deleted, and when the resource is deleted', async () => {
    const resource_id = await resource();
    const day = monday();
    const [one, other] = [await createLead(tenant.api), await createLead(tenant.api)];
    const time = { resource_id, ...slot(day, '09:00', '10:00') };
    const { id } = await book({ ...time, lead_id: one.id });
    dataOf(await tenant.api.post(`/api/v1/leads/${other.id}/merge`, { lead_id: one.id }));
    expectTaken(await post(time), id);
    dataOf(await tenant.api.delete(`/api/v1/leads/${other.id}`));
    expectTaken(await post(time), id);
    dataOf(await tenant.api.delete(`${RESOURCES}/${resource_id}`));
    expectError(await post(time), 404, 'not_found');
    expectError(await put(id, slot(day, '10:00', '11:00')), 404, 'not_found');
    expect(dataOf<Record_>(await put(id, { status: 'completed' })).resource_id).toBe(resource_id);
  });
});

describe('a refusal', () => {
  it('proposes the next three free times within the hours, which do not overlap', async () => {
    const resource_id = await resource({ hours: WEEK, buffer_after_minutes: 30 });
    const day = monday();
    const { id } = await book({ resource_id, ...slot(day, '09:00', '10:00') });
    const { free } = expectTaken(await post({ resource_id, ...slot(day, '09:30', '10:30') }), id);
    const next = new Date(day.getTime() + 86_400_000);
    expect(free).toEqual([
      { resource_id, ...slot(day, '10:30', '11:30') },
      { resource_id, ...slot(next, '09:00', '10:00') },
      { resource_id, ...slot(next, '10:00', '11:00') },
    ]);
    for (const time of free!.slice(0, 2)) await book(time);
  });

  it('proposes nothing without hours, and fewer times if there are fewer', async () => {
    const day = monday();
    const closed = await resource();
    await book({ resource_id: closed, ...slot(day, '09:00', '10:00') });
    const none = await post({ resource_id: closed, ...slot(day, '09:00', '10:00') });
    expect(detailOf(none).free).toEqual([]);
    const date = new Date(day.getTime() + 86_400_000).toISOString().slice(0, 10);
    const once = await resource({
      exceptions: [{ date, hours: [{ start: '09:00', end: '10:00' }] }],
    });
    await book({ resource_id: once, ...slot(day, '09:00', '10:00') });
    const one = await post({ resource_id: once, ...slot(day, '09:00', '10:00') });
    expect(detailOf(one).free).toHaveLength(1);
  });

  it('comes after those of references, hours and inactive resources', async () => {
    const resource_id = await resource({ hours: WEEK });
    const day = monday();
    const taken = { resource_id, ...slot(day, '13:00', '14:00') };
    const { id } = await book(taken);
    dataOf(await tenant.api.put(`${RESOURCES}/${resource_id}`, { active: false }));
    expectError(await post({ ...taken, resource_id: UNKNOWN, lead_id: UNKNOWN }), 404, 'not_found');
    expectError(
      await post({ ...taken, lead_id: UNKNOWN, within_hours: true }),
      404,
      'lead_not_found',
    );
    expectError(await post({ ...taken, within_hours: true }), 422, 'outside_hours');
    expectError(await post(taken), 409, 'resource_inactive');
    // What was booked stays, and can be changed and freed.
    expect(dataOf<Record_>(await put(id, { status: 'confirmed' })).status).toBe('confirmed');
    expectError(await put(id, slot(day, '09:00', '10:00')), 409, 'resource_inactive');
    const any_of = [resource_id, await resource({ active: false })];
    expect((await post({ any_of, ...slot(day, '13:00', '14:00') })).body).toMatchObject({
      error: { message: 'None of the resources can be booked, because they are not active.' },
    });
    dataOf(await tenant.api.put(`${RESOURCES}/${resource_id}`, { active: true }));
    expectTaken(await post(taken), id);
    expectError(
      await put(id, { start_time: at(day, '12:30'), within_hours: true }),
      422,
      'outside_hours',
    );
    expectError(await put(UNKNOWN, { resource_id }), 404, 'not_found');
    expectError(
      await put(id, { resource_id: UNKNOWN, end_time: at(day, '08:00') }),
      404,
      'not_found',
    );
    expectInvalid(await put(id, { resource_id, end_time: at(day, '08:00') }), 'end_time');
    const stale = { headers: { 'If-Match': '"stale"' } };
    const moved = { start_time: at(day, '12:30'), within_hours: true };
    expectError(
      await tenant.api.put(`${APPOINTMENTS}/${id}`, moved, stale),
      412,
      'precondition_failed',
    );
    dataOf(await put(id, { ...slot(day, '09:00', '10:00'), within_hours: true }));
  });

  it('never compares centuries with hours', async () => {
    const day = [{ start: '00:00', end: '24:00' }];
    const names = [...Object.keys(WEEK), 'saturday', 'sunday'];
    const hours = Object.fromEntries(names.map((name) => [name, day]));
    const resource_id = await resource({ hours });
    const start = monday();
    const until = (days: number) => ({
      start_time: at(start, '00:00'),
      end_time: new Date(Date.parse(at(start, '00:00')) + days * 86_400_000).toISOString(),
    });
    const ever = { start_time: '0001-01-01T00:00:00Z', end_time: '9999-12-31T00:00:00Z' };
    for (const time of [ever, until(63)]) {
      const outside = await post({ resource_id, within_hours: true, ...time });
      expectError(outside, 422, 'outside_hours');
      expectTaken(await post({ any_of: [resource_id], ...time }));
    }
    dataOf(await post({ any_of: [resource_id], within_hours: true, ...until(62) }), 201);
  });

  it('is within the years 0001 to 9999 with its buffers, and nothing else is proposed', async () => {
    const always = [{ start: '00:00', end: '24:00' }];
    const names = [...Object.keys(WEEK), 'saturday', 'sunday'];
    const hours = Object.fromEntries(names.map((name) => [name, always]));
    const buffers = { buffer_before_minutes: 120, buffer_after_minutes: 120 };
    const resource_id = await resource({ hours, ...buffers, time_zone: 'Pacific/Kiritimati' });
    const last = { start_time: '9999-12-31T20:00:00.000Z', end_time: '9999-12-31T21:00:00.000Z' };
    const late = { start_time: '9999-12-31T22:00Z', end_time: '9999-12-31T23:00Z' };
    const early = { start_time: '0001-01-01T01:00Z', end_time: '0001-01-01T02:00Z' };
    const hold = (body: object) => tenant.api.post('/api/v1/holds', { ...body, seconds: 60 });
    for (const which of [{ resource_id }, { any_of: [resource_id] }]) {
      for (const send of [post, hold]) {
        expectInvalid(await send({ ...which, ...late }), 'end_time');
        expectInvalid(await send({ ...which, ...early }), 'start_time');
      }
    }
    const { id } = await book({ resource_id, ...last });
    expect(expectTaken(await post({ resource_id, ...last }), id).free).toEqual([]);
    expectInvalid(await put(id, late), 'end_time');
    const window = 'from=9999-12-30&to=9999-12-31T23:59:59.999Z&duration_minutes=60';
    const path = `/api/v1/availability?resource_id=${resource_id}&${window}`;
    const [found] = dataOf<{ slots: { local_start: string }[] }[]>(await tenant.api.get(path));
    // The local day ends before the last one of UTC.
    expect(found!.slots.at(-1)!.local_start).toBe('9999-12-31T22:30:00.000+14:00');
  });

  it('of another organization tells nothing', async () => {
    const stranger = await app.organization();
    const resource_id = await resource();
    const lead = await createLead(stranger.api);
    const foreign = { resource_id, ...slot(monday(), '09:00', '10:00'), lead_id: lead.id };
    expectError(await stranger.api.post(APPOINTMENTS, foreign), 404, 'not_found');
  });
});

it('an Idempotency-Key replays a booking, also when the resource cannot be booked any more', async () => {
  const resource_id = await resource();
  const time = { lead_id, resource_id, ...slot(monday(), '09:00', '10:00') };
  const headers = { 'Idempotency-Key': `booking-${resource_id}` };
  const first = await tenant.api.post(APPOINTMENTS, time, { headers });
  dataOf(await tenant.api.put(`${RESOURCES}/${resource_id}`, { active: false }));
  const second = await tenant.api.post(APPOINTMENTS, time, { headers });
  expect(second.body).toEqual(first.body);
  expect(second.headers.get('Idempotency-Replayed')).toBe('true');
});

it('an Idempotency-Key replays a booking to callers who wait for its resource', async () => {
  const resource_id = await resource();
  const day = monday();
  const booking = { lead_id, resource_id, ...slot(day, '09:00', '10:00') };
  const hold = { resource_id, ...slot(day, '10:00', '11:00'), seconds: 900 };
  const send = (path: string, body: object, key: string) =>
    tenant.api.post(path, body, { headers: { 'Idempotency-Key': `${key}-${resource_id}` } });
  const earlier = await send(APPOINTMENTS, booking, 'earlier');
  const held = { ...hold, ...slot(day, '11:00', '12:00') };
  dataOf(await send('/api/v1/holds', held, 'held'), 201);
  const [first, second, replayed, reused, ...refused] = await Promise.all([
    send('/api/v1/holds', hold, 'hold'),
    send('/api/v1/holds', hold, 'hold'),
    send(APPOINTMENTS, booking, 'earlier'),
    send('/api/v1/holds', { ...held, seconds: 60 }, 'held'),
    send(APPOINTMENTS, booking, 'new'),
    send('/api/v1/holds', hold, 'other'),
  ]);
  expect(second.body).toEqual({ data: dataOf(first, 201) });
  expect(replayed.body).toEqual(earlier.body);
  expectError(reused, 422, 'idempotency_key_reused');
  for (const answer of refused) expectError(answer, 409, 'slot_taken');
});

it('each item of a batch takes or frees time', async () => {
  const resource_id = await resource();
  const day = monday();
  const { id } = await book({ resource_id, ...slot(day, '09:00', '10:00') });
  const create = (start: string, end: string) => ({
    action: 'create',
    data: { lead_id, resource_id, ...slot(day, start, end) },
  });
  const answer = await tenant.api.post(`${APPOINTMENTS}/batch`, {
    items: [
      create('09:30', '10:30'),
      { action: 'update', id, data: slot(day, '11:00', '12:00') },
      create('09:30', '10:30'),
      create('10:00', '11:00'),
      { action: 'delete', id: (await book({ resource_id, ...slot(day, '15:00', '16:00') })).id },
      create('15:30', '16:30'),
      { action: 'create', data: { lead_id, ...slot(day, '09:30', '10:30') } },
    ],
  });
  expect(answer.status).toBe(207);
  const statuses = (answer.body.data as { status: string }[]).map(({ status }) => status);
  expect(statuses).toEqual([
    'failed',
    'updated',
    'created',
    'failed',
    'cancelled',
    'created',
    'created',
  ]);
  expect(answer.body.data).toMatchObject([
    { error: { code: 'slot_taken', details: [{ field: 'data.start_time', existing_id: id }] } },
    ...Array<object>(6).fill({}),
  ]);
  const atomic = await tenant.api.post(`${APPOINTMENTS}/batch`, {
    atomic: true,
    items: [create('12:00', '13:00'), create('12:30', '13:30')],
  });
  expectError(atomic, 409, 'slot_taken');
  await book({ resource_id, ...slot(day, '12:00', '13:30') });
});

it('tools take time as REST does', async () => {
  const resource_id = await resource();
  const client = new McpHttpClient(app.url, tenant.key.key);
  const time = { lead_id, resource_id, ...slot(monday(), '09:00', '10:00') };
  const call = async (name: string, args: object) => {
    const { body } = await client.statelessRpc('tools/call', { name, arguments: args }, 1);
    return (
      body as {
        result: {
          isError?: boolean;
          structuredContent: { id: string };
          content: { text: string }[];
        };
      }
    ).result;
  };
  const booked = await call('create_appointment', time);
  expect(booked.isError).toBeFalsy();
  const refused = await call('create_appointment', time);
  expect(refused).toMatchObject({ isError: true });
  expect(refused.content[0]!.text).toContain('slot_taken');
  await call('cancel_appointment', { id: booked.structuredContent.id });
  expect((await call('create_appointment', time)).isError).toBeFalsy();
});

describe('any_of', () => {
  it('takes the one with the fewest appointments that day, and by order otherwise', async () => {
    const day = monday();
    const [busy, second, third, closed] = [
      await resource({ hours: WEEK }),
      await resource({ hours: WEEK }),
      await resource({ hours: WEEK }),
      await resource(),
    ];
    await book({ resource_id: busy, ...slot(day, '11:00', '12:00') });
    // It is of another day.
    await book({
      resource_id: second,
      ...slot(new Date(day.getTime() + 86_400_000), '11:00', '12:00'),
    });
    const any_of = [closed, busy, second, third];
    const chosen: (string | null)[] = [];
    for (let n = 0; n < 3; n++) {
      chosen.push((await book({ any_of, ...slot(day, '09:00', '10:00') })).resource_id);
    }
    expect(chosen).toEqual([second, third, busy]);
    const { free, existing_id } = expectTaken(
      await post({ any_of, ...slot(day, '09:00', '10:00') }),
    );
    expect(existing_id).toBeUndefined();
    expect(free).toEqual([
      { resource_id: busy, ...slot(day, '10:00', '11:00') },
      { resource_id: second, ...slot(day, '11:00', '12:00') },
      { resource_id: busy, ...slot(new Date(day.getTime() + 86_400_000), '09:00', '10:00') },
    ]);
  });

  it('counts the days of each zone', async () => {
    const day = monday();
    const hours = {
      sunday: [{ start: '00:00', end: '24:00' }],
      monday: [{ start: '00:00', end: '24:00' }],
    };
    const [here, there] = [
      await resource({ hours, time_zone: 'UTC' }),
      await resource({ hours, time_zone: 'America/New_York' }),
    ];
    // 02:00 UTC on Monday is Sunday in New York, as is 04:00 UTC.
    for (const resource_id of [here, there])
      await book({ resource_id, ...slot(day, '06:00', '07:00') });
    const { resource_id } = await book({ any_of: [here, there], ...slot(day, '02:00', '03:00') });
    expect(resource_id).toBe(there);
  });

  it('refuses unknown resources, bad lists, and times outside of all hours', async () => {
    const time = slot(monday(), '18:00', '19:00');
    const [open, inactive] = [
      await resource({ hours: WEEK }),
      await resource({ hours: WEEK, active: false }),
    ];
    expectError(await post({ any_of: [open, UNKNOWN], ...time }), 404, 'not_found');
    expectInvalid(await post({ any_of: [], ...time }), 'any_of');
    expectInvalid(await post({ any_of: ['x'], ...time }), 'any_of');
    expectInvalid(await post({ any_of: [open], resource_id: open, ...time }), 'any_of');
    const many = Array.from({ length: 21 }, (_, n) => UNKNOWN.slice(0, -2) + String(n + 10));
    expectInvalid(await post({ any_of: many, ...time }), 'any_of');
    const outside = await post({ any_of: [open, inactive], within_hours: true, ...time });
    expectError(outside, 422, 'outside_hours');
    expect(outside.body).toMatchObject({
      error: { message: 'The time is outside of the hours of all of the resources.' },
    });
    expectTaken(await post({ any_of: [open], ...time }));
    expectError(
      await post({ any_of: [inactive], ...slot(monday(), '09:00', '10:00') }),
      409,
      'resource_inactive',
    );
  });
});

it('of concurrent requests for one slot, one gets it', async () => {
  const resource_id = await resource({ hours: WEEK });
  const time = { resource_id, ...slot(monday(), '09:00', '10:00') };
  const answers = await Promise.all(Array.from({ length: 12 }, () => post(time)));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([201, ...Array<number>(11).fill(409)]);
});

it('batches that meet in opposite orders end with slot_taken', async () => {
  const ids = [await resource(), await resource(), await resource()];
  const time = slot(monday(), '09:00', '10:00');
  const batch = (order: string[]) =>
    tenant.api.post(`${APPOINTMENTS}/batch`, {
      items: order.map((resource_id) => ({
        action: 'create',
        data: { lead_id, resource_id, ...time },
      })),
    });
  const answers = await Promise.all([batch(ids), batch(ids.toReversed()), batch(ids)]);
  const results = answers.flatMap(
    ({ body }) => body.data as { status: string; error?: { code: string } }[],
  );
  expect(results.filter(({ status }) => status === 'created')).toHaveLength(3);
  expect(results.flatMap(({ error }) => error?.code ?? [])).toEqual(
    Array<string>(6).fill('slot_taken'),
  );
});

it('a conflict of a batch proposes no time that an earlier item has taken', async () => {
  const resource_id = await resource({ hours: WEEK });
  const day = monday();
  await book({ resource_id, ...slot(day, '09:00', '10:00') });
  const { id } = await book({ resource_id, ...slot(day, '11:00', '12:00') });
  const create = (start: string, end: string) => ({
    action: 'create',
    data: { lead_id, resource_id, ...slot(day, start, end) },
  });
  const conflict = create('09:00', '10:00');
  const later = slot(new Date(day.getTime() + 86_400_000), '09:00', '10:00');
  const items = [
    conflict,
    create('10:00', '11:00'),
    conflict,
    { action: 'update', id, data: later },
    create('11:00', '12:00'),
    conflict,
  ];
  const { body } = await tenant.api.post(`${APPOINTMENTS}/batch`, { items });
  const results = body.data as { status: string; error?: { details: [Detail] } }[];
  const failed = ['failed', 'created', 'failed', 'updated', 'created', 'failed'];
  expect(results.map(({ status }) => status)).toEqual(failed);
  const first = results.map(({ error }) => error?.details[0].free?.[0]?.start_time.slice(8, 16));
  const [monday_, tuesday] = [at(day, '10:00'), later.start_time].map((time) => time.slice(8, 11));
  expect(first).toEqual([
    ...[`${monday_}10:00`, undefined, `${tuesday}09:00`],
    ...[undefined, undefined, `${tuesday}10:00`],
  ]);
});

describe('two instances', () => {
  let instances: TestApp[];
  let owner: Tenant;

  beforeAll(async () => {
    const first = await TestApp.start();
    instances = [first, await TestApp.start({ database: first.database })];
    owner = await first.organization();
  });
  afterAll(async () => {
    for (const instance of instances.toReversed()) await instance.stop();
  });

  const apiOf = (n: number) => new ApiClient(instances[n % 2]!.url, owner.key.key);

  it('give one slot to one of their callers', async () => {
    const made = await owner.api.post(RESOURCES, { name: 'Crew', hours: WEEK });
    const resource_id = dataOf<{ id: string }>(made, 201).id;
    const lead = await createLead(owner.api);
    const time = { lead_id: lead.id, resource_id, ...slot(monday(), '09:00', '10:00') };
    const call = (_: unknown, n: number) => apiOf(n).post(APPOINTMENTS, time);
    const statuses = (await Promise.all(Array.from({ length: 16 }, call))).map(
      ({ status }) => status,
    );
    expect(statuses.sort()).toEqual([201, ...Array<number>(15).fill(409)]);
  });

  it('read the coming time of resources once for the conflicts of a batch', async () => {
    const create = async () =>
      dataOf<{ id: string }>(await owner.api.post(RESOURCES, { name: 'Crew', hours: WEEK }), 201)
        .id;
    const any_of = [await create(), await create()];
    const lead = await createLead(owner.api);
    const day = monday();
    const times = [slot(day, '09:00', '10:00'), slot(day, '10:00', '11:00')];
    const batch = async (fields: object) => {
      const items = Array.from({ length: 20 }, (_, n) => ({
        action: 'create',
        data: { lead_id: lead.id, ...times[n % 2], ...fields },
      }));
      const { body } = await owner.api.post(`${APPOINTMENTS}/batch`, { items });
      const results = body.data as { status: string; error?: { code: string } }[];
      return results.map(({ status, error }) => error?.code ?? status);
    };
    const taken = Array<string>(20).fill('slot_taken');
    expect(await batch({ any_of })).toEqual([
      ...Array<string>(4).fill('created'),
      ...taken.slice(4),
    ]);
    const reads = jest.spyOn(instances[0]!.app.get(TenantDatabase), 'read');
    expect(await batch({ any_of })).toEqual(taken);
    expect(await batch({ resource_id: any_of[0] })).toEqual(taken);
    // Others are windows of a day, or of one appointment.
    const isLong = ([, { text, values }]: Parameters<TenantDatabase['read']>) =>
      text.includes('busy_times') && Number(values[3]) - Number(values[2]) > 60 * 86_400_000;
    const long = reads.mock.calls.filter(isLong);
    reads.mockRestore();
    expect(long.length).toBeGreaterThan(0);
    expect(long.length).toBeLessThanOrEqual(4);
  });

  it('never let appointments overlap, whatever callers do', async () => {
    const hours = { monday: [{ start: '00:00', end: '24:00' }] };
    const create = async () =>
      dataOf<{ id: string }>(await owner.api.post(RESOURCES, { name: 'Crew', hours }), 201).id;
    const { id } = await createLead(owner.api);
    const bookings = new RandomBookings(id, [await create(), await create()]);
    const isOver = () => bookings.requests >= 120;
    await Promise.all(Array.from({ length: 8 }, (_, n) => bookings.run(() => apiOf(n), isOver)));
    const known = ['ok', 'slot_taken', 'not_found', 'too_many_holds'];
    expect([...bookings.codes.keys()].filter((code) => !known.includes(code))).toEqual([]);
    for (const sql of [COUNT_OVERLAPS, COUNT_DIFFERENCES]) {
      const [row] = await instances[0]!.sql<object>(sql);
      expect(Object.values(row!)).toEqual([0]);
    }
    expect(await bookings.lost(owner.api)).toEqual([]);
  });
});
