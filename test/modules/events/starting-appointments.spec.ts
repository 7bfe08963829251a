import { ScheduledEvents } from '../../../src/modules/events/scheduled-events.js';
import { createLead, dataOf, expectInvalid } from '../../../src/testing/factories.js';
import { McpHttpClient } from '../../../src/testing/mcp-client.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { readAllEvents, readEvents } from '../../support/events.js';

const APPOINTMENTS = '/api/v1/appointments';
const RESOURCES = '/api/v1/resources';
const STARTING = 'types=appointment.starting';
const MINUTE = 60_000;

interface Appointment {
  readonly id: string;
  readonly start_time: string;
  readonly updated_at: string;
}

let app: TestApp;
let tenant: Tenant;
let lead_id: string;

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  tenant = await app.organization({ scopes: app.scopes.every });
  ({ id: lead_id } = await createLead(tenant.api));
});
afterAll(() => app.stop());

/** Times of an appointment that starts in some minutes. */
function startsIn(minutes: number) {
  const start = Date.now() + minutes * MINUTE;
  return {
    start_time: new Date(start).toISOString(),
    end_time: new Date(start + 30 * MINUTE).toISOString(),
  };
}

/** Creates an appointment that starts in a week. */
async function create(body: object = {}): Promise<Appointment> {
  const appointment = { lead_id, ...startsIn(7 * 24 * 60), ...body };
  return dataOf<Appointment>(await tenant.api.post(APPOINTMENTS, appointment), 201);
}

async function change({ id }: Appointment, changes: object): Promise<Appointment> {
  return dataOf<Appointment>(await tenant.api.put(`${APPOINTMENTS}/${id}`, changes));
}

/** Lets time pass until an appointment starts in some minutes, with the moments that were kept until then. */
async function becomeNear({ id }: Appointment, minutes: number): Promise<void> {
  await app.sql(`
    begin;
    create temporary table kept on commit drop as
      select moment.*, start_time - due_at as ahead from scheduled_events moment
      join appointments on id = record_id where id = '${id}';
    update appointments set start_time = date_trunc('milliseconds', now() + interval '${minutes} minutes'),
      end_time = now() + interval '${minutes + 30} minutes' where id = '${id}';
    delete from scheduled_events where record_id = '${id}';
    insert into scheduled_events (organization_id, record_id, type, due_at)
      select kept.organization_id, record_id, kept.type, start_time - ahead from kept join appointments on id = record_id;
    commit`);
}

const minutesKept = async ({ id }: Appointment) => {
  const rows = await app.sql<{ minutes: number }>(
    `select (extract(epoch from start_time - due_at) / 60)::int as minutes from scheduled_events
     join appointments on id = record_id where id = $1 order by due_at`,
    [id],
  );
  return rows.map(({ minutes }) => minutes);
};

/** Writes what is due, and returns the reminders. */
async function reminders(count: number) {
  await app.app.get(ScheduledEvents).writeDue();
  const events = await readAllEvents(tenant.api, count, STARTING);
  return events.map(({ record, remind_before_minutes }) => [record.id, remind_before_minutes]);
}

/** Expects these reminders, and no further ones. */
async function expectReminders(...expected: [Appointment, number][]): Promise<void> {
  const last = await create({ remind_before_minutes: [7] });
  await becomeNear(last, 6);
  const ids = [...expected, [last, 7] as const].map(([{ id }, minutes]) => [id, minutes]);
  expect(await reminders(ids.length)).toEqual(ids);
}

describe('remind_before_minutes of an appointment', () => {
  it('takes up to five integers of minutes, each once', async () => {
    const made = await create({ remind_before_minutes: [60, 1440, 60] });
    expect(made).toMatchObject({ remind_before_minutes: [60, 1440] });
    expect(await create()).toMatchObject({ remind_before_minutes: null });
    const path = `${APPOINTMENTS}/${made.id}`;
    const invalid = [[0], [43_201], [1.5], ['60'], [1, 2, 3, 4, 5, 6], 60, '60', { 0: 60 }, [null]];
    for (const remind_before_minutes of invalid) {
      const answer = await tenant.api.put(path, { remind_before_minutes });
      expectInvalid(answer, 'remind_before_minutes');
    }
    expect(await change(made, { remind_before_minutes: [1, 2, 3, 4, 43_200] })).toMatchObject({
      remind_before_minutes: [1, 2, 3, 4, 43_200],
    });
    expect(await minutesKept(made)).toEqual([4, 3, 2, 1]);
    expect(await change(made, { remind_before_minutes: [] })).toMatchObject({
      remind_before_minutes: [],
    });
    expect(await minutesKept(made)).toEqual([]);
  });

  it('writes appointment.starting once for each, with the record as it is stored', async () => {
    const made = await create({ remind_before_minutes: [60, 1440], status: 'confirmed' });
    await becomeNear(made, 1439);
    await reminders(1);
    await becomeNear(made, 59);
    expect(await reminders(2)).toEqual([
      [made.id, 1440],
      [made.id, 60],
    ]);
    const [, event] = (await readEvents(tenant.api, STARTING)).data;
    const stored = dataOf<Appointment>(await tenant.api.get(`${APPOINTMENTS}/${made.id}`));
    expect(stored.updated_at).toBe(made.updated_at);
    expect(event).toMatchObject({ record: stored, changed: [], contactable: true });
    const { api } = await app.key(tenant.id, ['events:read', 'appointments:read']);
    const [seen] = (await readEvents(api, STARTING)).data;
    expect(seen).toMatchObject({ remind_before_minutes: 1440 });
    expect(seen).not.toHaveProperty('contactable');
    await expectReminders([made, 1440], [made, 60]);
  });

  it('reaches the subscribers of the appointment in /mcp', async () => {
    const made = await create({ remind_before_minutes: [60] });
    const uri = `appointment://${made.id}`;
    const caller = new McpHttpClient(app.url, tenant.key.key);
    const session = await caller.openSession();
    await caller.rpc(session, 'resources/subscribe', { uri });
    const stream = await caller.openStream(session);
    const listener = await caller.openStatelessStream({ resourceSubscriptions: [uri] });
    await Promise.all([stream.next(), listener.next()]);
    await becomeNear(made, 59);
    await app.app.get(ScheduledEvents).writeDue();
    const updated = { method: 'notifications/resources/updated', params: { uri } };
    expect((await stream.nextMessage()).message).toMatchObject(updated);
    expect((await listener.nextMessage()).message).toMatchObject(updated);
    await caller.delete(session);
    listener.disconnect();
  });

  it('writes nothing for what was past when it was made, or after the start', async () => {
    const soon = await create({ ...startsIn(30), remind_before_minutes: [60, 10] });
    expect(await minutesKept(soon)).toEqual([10]);
    const started = await create({ remind_before_minutes: [5] });
    await becomeNear(started, -1);
    await change(soon, { remind_before_minutes: [45] });
    expect(await minutesKept(soon)).toEqual([]);
    await expectReminders();
  });

  it.each(['completed', 'cancelled', 'no_show'])(
    'writes nothing while it is %s',
    async (status) => {
      const before = await create({ remind_before_minutes: [60] });
      await change(before, { status });
      expect(await minutesKept(before)).toEqual([]);
      // As if it had changed after the moment, and before its claim.
      const after = await create({ remind_before_minutes: [60] });
      await becomeNear(after, 59);
      await app.sql(`alter table appointments disable trigger appointments_schedule_update`);
      await app.sql('update appointments set status = $2 where id = $1', [after.id, status]);
      await app.sql(`alter table appointments enable trigger appointments_schedule_update`);
      await expectReminders();
      await change(before, { status: 'scheduled' });
      expect(await minutesKept(before)).toEqual([60]);
    },
  );

  it('writes another event for a new time', async () => {
    const made = await create({ remind_before_minutes: [60] });
    await becomeNear(made, 59);
    await reminders(1);
    await change(made, startsIn(3 * 24 * 60));
    expect(await minutesKept(made)).toEqual([60]);
    await becomeNear(made, 59);
    await expectReminders([made, 60], [made, 60]);
  });
});

describe('remind_before_minutes of a resource', () => {
  const createResource = async (body: object) =>
    dataOf<{ id: string }>(await tenant.api.post(RESOURCES, { name: 'Crew 1', ...body }), 201);

  it('counts for its appointments that have none of their own', async () => {
    const resource = await createResource({ remind_before_minutes: [120, 30] });
    const resource_id = resource.id;
    const plain = await create({ resource_id });
    const own = await create({ resource_id, ...startsIn(9 * 1440), remind_before_minutes: [15] });
    const none = await create({ resource_id, ...startsIn(8 * 1440), remind_before_minutes: [] });
    expect(await minutesKept(plain)).toEqual([120, 30]);
    expect(await minutesKept(own)).toEqual([15]);
    expect(await minutesKept(none)).toEqual([]);
    await becomeNear(plain, 119);
    await reminders(1);
    const path = `${RESOURCES}/${resource_id}`;
    dataOf(await tenant.api.put(path, { remind_before_minutes: [45] }));
    expect(await minutesKept(plain)).toEqual([45]);
    expect(await minutesKept(own)).toEqual([15]);
    await change(own, { remind_before_minutes: null });
    expect(await minutesKept(own)).toEqual([45]);
    await change(own, { resource_id: null });
    expect(await minutesKept(own)).toEqual([]);
    await expectReminders([plain, 120]);
    const invalid = await tenant.api.put(path, { remind_before_minutes: [0] });
    expectInvalid(invalid, 'remind_before_minutes');
  });
});
