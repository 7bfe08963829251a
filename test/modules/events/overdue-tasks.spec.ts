import { ScheduledEvents } from '../../../src/modules/events/scheduled-events.js';
import { createLead, dataOf } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { readAllEvents, readEvents } from '../../support/events.js';
import { mcpHelpers } from '../../support/mcp/mcp-helpers.js';
import { resourceUpdated, Subscriber } from '../../support/mcp/resource-subscriber.js';
import { becomeOverdue } from '../../support/scheduled-events.js';

const TASKS = '/api/v1/tasks';
const OVERDUE = 'types=task.overdue';
const PAST = '2020-01-01T00:00:00Z';

interface Task {
  readonly id: string;
  readonly due_date: string;
  readonly updated_at: string;
}

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => app.stop());

const { callerOf } = mcpHelpers(() => app);
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

async function createTask(body: object = {}): Promise<Task> {
  const task = { title: 'Call', due_date: inMs(3_600_000), ...body };
  return dataOf<Task>(await tenant.api.post(TASKS, task), 201);
}

async function changeTask({ id }: Task, changes: object): Promise<Task> {
  return dataOf<Task>(await tenant.api.put(`${TASKS}/${id}`, changes));
}

/** Writes what is due, and returns the events of overdue tasks. */
async function overdue(count: number) {
  await app.app.get(ScheduledEvents).writeDue();
  return readAllEvents(tenant.api, count, OVERDUE);
}

/** Expects that no other task than these has become overdue, in this order. */
async function expectOverdue(...ids: string[]): Promise<void> {
  const { id } = await createTask();
  await becomeOverdue(app, tenant, id);
  const events = await overdue(ids.length + 1);
  expect(events.map(({ record }) => record.id)).toEqual([...ids, id]);
}

describe('a task whose due_date passes', () => {
  it.each(['open', 'in_progress'])('writes task.overdue once while it is %s', async (status) => {
    const { id, updated_at } = await createTask({ status });
    await becomeOverdue(app, tenant, id);
    const [event] = await overdue(1);
    const stored = dataOf<Task>(await tenant.api.get(`${TASKS}/${id}`));
    expect(stored.updated_at).toBe(updated_at);
    expect(event).toMatchObject({ type: 'task.overdue', record: stored, changed: [] });
    expect(Object.values(event!.actor)).toEqual([null, null, null, null, null, null]);
    const { body } = await tenant.api.get(`${TASKS}/${id}/events`);
    expect(body).toMatchObject({ data: [{ type: 'task.created' }, { type: 'task.overdue' }] });
    await expectOverdue(id);
  });

  it('writes the event by itself', async () => {
    const { id } = await createTask();
    await becomeOverdue(app, tenant, id);
    expect(await readAllEvents(tenant.api, 1, OVERDUE)).toMatchObject([{ record: { id } }]);
  });

  it.each(['sessions', 'stateless'] as const)('notifies its subscribers (%s)', async (mode) => {
    const { id } = await createTask();
    const uri = `task://${id}`;
    const subscriber = await Subscriber.of(mode, callerOf(tenant), [uri]);
    await becomeOverdue(app, tenant, id);
    await app.app.get(ScheduledEvents).writeDue();
    expect(await subscriber.next()).toEqual(resourceUpdated(uri));
    subscriber.disconnect();
  });

  it('writes nothing if it was completed, cancelled, moved or deleted before', async () => {
    const [completed, cancelled, unset, deleted, moved] = await Promise.all(
      Array.from({ length: 5 }, () => createTask()),
    );
    await changeTask(completed!, { status: 'completed' });
    await changeTask(cancelled!, { status: 'cancelled' });
    await changeTask(unset!, { due_date: null });
    await tenant.api.delete(`${TASKS}/${deleted!.id}`);
    const left = await app.sql('select from scheduled_events where organization_id = $1', [
      tenant.id,
    ]);
    expect(left).toHaveLength(1);
    // As if the changes had come after the moments, and before their claims.
    await app.sql(
      `insert into scheduled_events (organization_id, record_id, type, due_at)
       select organization_id, id, 'task.overdue', now() - interval '1 second' from tasks
       where organization_id = $1`,
      [tenant.id],
    );
    await expectOverdue();
    const moments = 'select record_id from scheduled_events where organization_id = $1';
    expect(await app.sql(moments, [tenant.id])).toEqual([{ record_id: moved!.id }]);
  });

  it('writes nothing if it had passed when it was set', async () => {
    const old = await createTask({ due_date: PAST });
    await changeTask(await createTask(), { due_date: PAST });
    const completed = await createTask({ status: 'completed', due_date: PAST });
    await changeTask(completed, { status: 'open' });
    await changeTask(old, { status: 'in_progress' });
    await expectOverdue();
  });

  it('writes another event after a new due_date, or after it was opened again in time', async () => {
    const task = await createTask();
    await becomeOverdue(app, tenant, task.id);
    await overdue(1);
    await changeTask(task, { due_date: inMs(3_600_000) });
    await becomeOverdue(app, tenant, task.id);
    await overdue(2);
    const other = await createTask({ status: 'completed' });
    await changeTask(other, { status: 'open' });
    const moments = 'select record_id from scheduled_events where organization_id = $1';
    expect(await app.sql(moments, [tenant.id])).toEqual([{ record_id: other.id }]);
    await expectOverdue(task.id, task.id);
  });

  it('writes the event, with the newest record, if the task changes otherwise before it', async () => {
    const { id } = await createTask();
    await app.sql(`
      begin;
      update tasks set due_date = now() - interval '1 second' where id = '${id}';
      insert into scheduled_events (organization_id, record_id, type, due_at)
        select organization_id, id, 'task.overdue', due_date from tasks where id = '${id}';
      update tasks set status = 'in_progress', title = 'Call again', due_date = due_date where id = '${id}';
      commit`);
    const [event] = await overdue(1);
    const { body } = await tenant.api.get(`${TASKS}/${id}`);
    expect(event).toMatchObject({ record: (body as { data: object }).data });
    expect(event).toMatchObject({ record: { title: 'Call again' } });
  });

  it('writes the event when its organization is no longer suspended', async () => {
    const { id } = await createTask();
    const suspend = 'update organizations set suspended = $2 where id = $1';
    await app.sql(suspend, [tenant.id, true]);
    await becomeOverdue(app, tenant, id);
    await app.app.get(ScheduledEvents).writeDue();
    const written = `select from event_outbox where organization_id = $1 and type = 'task.overdue'
      union all select from events where organization_id = $1 and type = 'task.overdue'`;
    expect(await app.sql(written, [tenant.id])).toEqual([]);
    await app.sql(suspend, [tenant.id, false]);
    const { api } = await app.key(tenant.id);
    await app.app.get(ScheduledEvents).writeDue();
    expect(await readAllEvents(api, 1, OVERDUE)).toMatchObject([{ record: { id } }]);
  });
});

describe('contactable in task.overdue', () => {
  it('says whether the lead may be contacted, to keys that read leads', async () => {
    const leads = await Promise.all([
      createLead(tenant.api),
      createLead(tenant.api, { sms_opted_out: true }),
      createLead(tenant.api, { on_dnc_list: true }),
    ]);
    const expected = [];
    for (const contact_id of [null, ...leads.map(({ id }) => id)]) {
      const { id } = await createTask({ contact_id });
      await becomeOverdue(app, tenant, id);
      expected.push({ id, contactable: expected.length < 2 });
    }
    const events = await overdue(4);
    const said = events.map(({ record: { id }, contactable }) => ({ id, contactable }));
    expect(said).toHaveLength(4);
    expect(said).toEqual(expect.arrayContaining(expected));
    expect(Object.keys(events[0]!).slice(0, 3)).toEqual(['id', 'type', 'contactable']);
    const { api } = await app.key(tenant.id, ['events:read', 'tasks:read']);
    const { data } = await readEvents(api, OVERDUE);
    expect(data.map((event) => 'contactable' in event)).toEqual([false, false, false, false]);
    const ofRecord = await readEvents(api, '', `${TASKS}/${expected[2]!.id}/events`);
    expect(ofRecord.data.map(({ type }) => type)).toEqual(['task.created', 'task.overdue']);
    expect(ofRecord.data.at(-1)).not.toHaveProperty('contactable');
  });
});
