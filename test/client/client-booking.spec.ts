import { LatitudeClient, LatitudeError, type SyncState } from '../../src/client/index.js';
import { EventPublisher } from '../../src/modules/events/event-publisher.js';
import { TestApp } from '../../src/testing/test-app.js';

let app: TestApp;
let client: LatitudeClient;

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  const { key } = await app.organization({ scopes: app.scopes.every });
  client = new LatitudeClient({ baseUrl: app.url, apiKey: key.key });
});
afterAll(() => app.stop());

// The 3rd of January 2040 is a Tuesday.
const hours = { tuesday: [{ start: '09:00', end: '12:00' }] };
const TUESDAY = { from: '2040-01-03', to: '2040-01-04' };
const NINE = { start_time: '2040-01-03T09:00:00Z', end_time: '2040-01-03T10:00:00Z' };
const TEN = { start_time: '2040-01-03T10:00:00Z', end_time: '2040-01-03T11:00:00Z' };

const crew = async (name = 'Crew') => (await client.resources.create({ name, hours })).id;
const lead = async () => (await client.leads.create({ first_name: 'Grace' })).id;

it('client.resources writes, reads, lists and syncs resources', async () => {
  const first = await client.resources.create({ name: 'Crew 1', time_zone: 'Europe/Berlin' });
  expect(await client.resources.get(first.id)).toEqual(first);
  const changed = await client.resources.update(first.id, { active: false });
  expect(changed).toMatchObject({ name: 'Crew 1', active: false });
  const batch = await client.resources.batch([
    { action: 'create', data: { name: 'Crew 2', hours } },
    { action: 'update', id: first.id, data: { buffer_after_minutes: 15 } },
  ]);
  expect(batch.meta).toMatchObject({ failed: 0 });
  expect((await client.resources.list({ active: true })).data).toMatchObject([{ name: 'Crew 2' }]);
  await app.app.get(EventPublisher).publish();
  let state: SyncState | undefined;
  const names = new Map<string, string>();
  for await (const page of client.resources.sync()) {
    for (const { id, name } of page.changed) names.set(id, name);
    state = page.state;
  }
  expect([...names.values()]).toEqual(['Crew 1', 'Crew 2']);
  expect(await client.resources.delete(first.id)).toEqual({ id: first.id, deleted: true });
  await app.app.get(EventPublisher).publish();
  for await (const { deleted } of client.resources.sync(state)) expect(deleted).toEqual([first.id]);
});

it('client.resources.calendars(id) creates, lists and revokes calendars', async () => {
  const calendars = client.resources.calendars(await crew());
  const { url = '', ...calendar } = await calendars.create({ details: true });
  expect(await calendars.get(calendar.id)).toEqual(calendar);
  expect((await calendars.list()).data).toEqual([calendar]);
  expect(await (await fetch(url)).text()).toMatch(/^BEGIN:VCALENDAR/);
  expect(await calendars.delete(calendar.id)).toEqual({ id: calendar.id, deleted: true });
  expect((await fetch(url)).status).toBe(404);
  expect(() => client.resources.calendars('..')).toThrow('id must be the id of a record');
});

it('client.availability answers the free times of one and of several resources', async () => {
  const ids = [await crew('Crew 1'), await crew('Crew 2')];
  const { data, meta } = await client.availability({
    resource_id: ids,
    duration_minutes: 60,
    step_minutes: 60,
    ...TUESDAY,
  });
  expect(data.map(({ resource_id }) => resource_id)).toEqual(ids);
  expect(data[0]!.slots).toHaveLength(3);
  expect(meta.from).toBe('2040-01-03T00:00:00.000Z');
  const one = { resource_id: ids[0]!, duration_minutes: 180, ...TUESDAY };
  expect((await client.availability(one)).data[0]!.slots).toMatchObject([
    { local_start: '2040-01-03T09:00:00.000+00:00' },
  ]);
});

it('client.holds keeps a time, which an appointment with hold_id takes', async () => {
  const resource_id = await crew();
  const hold = await client.holds.create({ resource_id, ...NINE, seconds: 300 });
  expect(await client.holds.get(hold.id)).toEqual(hold);
  const appointment = await client.appointments.create({ lead_id: await lead(), hold_id: hold.id });
  expect(appointment).toMatchObject({ resource_id, start_time: hold.start_time });
  const other = await client.holds.create({ any_of: [resource_id], ...TEN, seconds: 300 });
  expect(await client.holds.delete(other.id)).toEqual({ id: other.id, deleted: true });
});

it('client.appointments books any of several resources, and a conflict names times that are free', async () => {
  const any_of = [await crew()];
  const fields = { lead_id: await lead(), any_of, within_hours: true };
  const { id } = await client.appointments.create({ ...fields, ...NINE });
  const error = await client.appointments
    .create({ ...fields, ...NINE })
    .catch((reason: unknown) => reason as LatitudeError);
  expect(error).toMatchObject({ code: 'slot_taken', status: 409, retryable: false });
  const { details } = error as LatitudeError;
  expect(details[0]!.free![0]).toMatchObject({ start_time: '2040-01-03T10:00:00.000Z' });
  await client.appointments.create({ ...fields, ...details[0]!.free![0], any_of: undefined });
  await expect(
    client.appointments.update(id, {
      start_time: '2040-01-03T20:00:00Z',
      end_time: '2040-01-03T21:00:00Z',
      within_hours: true,
    }),
  ).rejects.toMatchObject({ code: 'outside_hours' });
  const { data } = await client.appointments.counts({ by: 'resource_id' });
  expect(data).toEqual([{ value: any_of[0], count: 2 }]);
});
