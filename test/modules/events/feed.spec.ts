import { randomUUID } from 'node:crypto';
import { CredentialStore } from '../../../src/platform/access/credential-store.js';
import { EventFollower } from '../../../src/modules/events/event-follower.js';
import { eventIdOf } from '../../../src/modules/events/event-id.js';
import { EventPublisher } from '../../../src/modules/events/event-publisher.js';
import {
  buildLead,
  createLead,
  dataOf,
  expectError,
  expectInvalid,
  getLead,
  LEADS,
} from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { EVENTS, readAllEvents, readEvents } from '../../support/events.js';
import { until } from '../../support/servers/product.js';
import { expectShorter } from '../../support/times.js';

/** The longest wait that a request may ask for. */
const MAX_WAIT_SECONDS = 25;

const TASKS = '/api/v1/tasks';
const APPOINTMENTS = '/api/v1/appointments';
const TIMES = { start_time: '2026-05-04T09:00:00Z', end_time: '2026-05-04T10:00:00Z' };

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => app.stop());

describe('GET /api/v1/events', () => {
  it('lists the changes of a lead, with the record as GET returned it', async () => {
    const headers = { 'X-Request-Id': 'create-ada' };
    const lead = dataOf(await tenant.api.post(LEADS, buildLead(), { headers }), 201);
    const created = await getLead(tenant.api, lead.id);
    await tenant.api.put(`${LEADS}/${lead.id}`, { email: 'new@example.com' });
    const updated = await getLead(tenant.api, lead.id);
    await tenant.api.delete(`${LEADS}/${lead.id}`);

    const events = await readAllEvents(tenant.api, 3);
    expect(events.map(({ type }) => type)).toEqual([
      'lead.created',
      'lead.updated',
      'lead.deleted',
    ]);
    expect(events.map(({ record }) => record)).toEqual([created, updated, updated]);
    expect(events[0]).toEqual({
      id: expect.stringMatching(/^[\da-f-]{36}$/) as string,
      type: 'lead.created',
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) as string,
      record: created,
      changed: [],
      actor: {
        key_id: tenant.key.id,
        key_name: 'k',
        channel: 'api',
        request_id: 'create-ada',
        grant_id: null,
        client_id: null,
      },
    });
    expect(events[1]?.changed).toEqual(expect.arrayContaining(['email']));
    const ids = events.map(({ id }) => id);
    expect([...ids].sort()).toEqual(ids);
  });

  it('names the cancellation of an appointment and the completion of a task', async () => {
    const { id: lead_id } = await createLead(tenant.api);
    const appointment = dataOf(await tenant.api.post(APPOINTMENTS, { lead_id, ...TIMES }), 201);
    await tenant.api.delete(`${APPOINTMENTS}/${appointment.id}`);
    const task = dataOf(await tenant.api.post(TASKS, { title: 'Call' }), 201);
    await tenant.api.put(`${TASKS}/${task.id}`, { status: 'completed' });
    await tenant.api.put(`${TASKS}/${task.id}`, { title: 'Call again' });

    const events = await readAllEvents(tenant.api, 6);
    expect(events.map(({ type }) => type)).toEqual([
      ...['lead.created', 'appointment.created', 'appointment.cancelled'],
      ...['task.created', 'task.completed', 'task.updated'],
    ]);
  });

  it('lists events of the given types only', async () => {
    const { id } = await createLead(tenant.api);
    await tenant.api.post(TASKS, { title: 'Call' });
    await tenant.api.delete(`${LEADS}/${id}`);
    const events = await readAllEvents(tenant.api, 2, 'types=lead.deleted,task.created&');
    expect(events.map(({ type }) => type)).toEqual(['task.created', 'lead.deleted']);
  });

  it('continues after meta.next and after the id of an event', async () => {
    for (let i = 0; i < 5; i++) await createLead(tenant.api);
    const all = await readAllEvents(tenant.api, 5);
    const first = await readEvents(tenant.api, 'limit=2');
    expect(first).toEqual({ data: all.slice(0, 2), meta: { next: all[1]?.id, has_more: true } });
    const second = await readEvents(tenant.api, `after=${first.meta.next}&limit=3`);
    expect(second).toMatchObject({ data: all.slice(2), meta: { has_more: false } });
    const third = await readEvents(tenant.api, `after=${all[2]?.id}`);
    expect(third.data).toEqual(all.slice(3));
    expect((await readEvents(tenant.api, `after=${second.meta.next}`)).data).toEqual([]);
  });

  it('begins with the next event after `latest`', async () => {
    await createLead(tenant.api);
    await readAllEvents(tenant.api, 1);
    const { data, meta } = await readEvents(tenant.api, 'after=latest');
    expect(data).toEqual([]);
    const { id } = await createLead(tenant.api);
    const page = await readEvents(tenant.api, `after=${meta.next}&wait=10`);
    expect(page.data.map(({ record }) => record.id)).toEqual([id]);
  });

  it('returns the cursor of the next request even if there is no event yet', async () => {
    const { meta } = await readEvents(tenant.api);
    const { id } = await createLead(tenant.api);
    const page = await readEvents(tenant.api, `after=${meta.next}&wait=10`);
    expect(page.data.map(({ record }) => record.id)).toEqual([id]);
  });

  it('lists no event of another organization', async () => {
    await createLead((await app.organization()).api);
    await createLead(tenant.api);
    expect(await readAllEvents(tenant.api, 1)).toHaveLength(1);
  });

  it('has no event of a change that was rolled back, made no difference or was a dry run', async () => {
    const lead = await createLead(tenant.api, { email: 'ada@example.com' });
    await tenant.api.post(LEADS, buildLead({ email: 'ada@example.com' }));
    await tenant.api.put(`${LEADS}/${lead.id}`, { email: 'ada@example.com' });
    await tenant.api.put(`${LEADS}/${lead.id}`, { notes: 'x' }, { headers: { 'If-Match': '"y"' } });
    await tenant.api.post(TASKS, { title: 'Call', contact_id: randomUUID() });
    await createLead(tenant.api);
    const events = await readAllEvents(tenant.api, 2);
    expect(events.map(({ type }) => type)).toEqual(['lead.created', 'lead.created']);
  });
});

describe('the scopes of GET /api/v1/events', () => {
  it('answers 403 without events:read', async () => {
    const { api } = await app.key(tenant.id, ['leads:read']);
    expectError(await api.get(EVENTS), 403, 'insufficient_scope');
  });

  it('leaves out the kinds of records that the key cannot read', async () => {
    await createLead(tenant.api);
    await tenant.api.post(TASKS, { title: 'Call' });
    await readAllEvents(tenant.api, 2);
    const { api } = await app.key(tenant.id, ['events:read', 'tasks:read']);
    expect((await readEvents(api)).data.map(({ type }) => type)).toEqual(['task.created']);
    expect((await readEvents(api, 'types=lead.created')).data).toEqual([]);
  });
});

describe('the parameters of GET /api/v1/events', () => {
  it.each([
    ['types', 'types=lead.renamed'],
    ['types', 'types=lead.created,'],
    ['after', 'after=1'],
    ['after', `after=${randomUUID()}`],
    ['after', `after=${eventIdOf(8e15)}`],
    ['limit', 'limit=0'],
    ['limit', 'limit=101'],
    ['wait', 'wait=26'],
    ['wait', 'wait=-1'],
    ['page', 'page=1'],
  ])('names %s in the error for %s', async (field, query) => {
    expectInvalid(await tenant.api.get(`${EVENTS}?${query}`), field);
  });

  it('does not expire for a reader of all events, however long ago the last one was', async () => {
    const other = await TestApp.start();
    const { api } = await other.organization();
    await createLead(api);
    await readAllEvents(api, 1);
    await other.sql('update event_position set expired_before = last + 3600000000');
    await other.app.get(EventPublisher).publish();
    const { meta } = (await api.get(`${EVENTS}?after=latest`)).body as { meta: { next: string } };
    const answer = await api.get(`${EVENTS}?after=${meta.next}`);
    expect(answer.body).toEqual({ data: [], meta: { next: meta.next, has_more: false } });
    await other.stop();
  });

  it('answers 410 cursor_expired to a position before the stored events', async () => {
    const other = await TestApp.start();
    const { api } = await other.organization();
    await other.sql('update event_position set expired_before = 1000000000');
    await createLead(api);
    await readAllEvents(api, 1);
    expectError(await api.get(`${EVENTS}?after=${eventIdOf(1e9 - 1)}`), 410, 'cursor_expired');
    expect((await readEvents(api, `after=${eventIdOf(1e9)}`)).data).toHaveLength(1);
    await other.stop();
  });
});

describe('`wait` of GET /api/v1/events', () => {
  it('answers when a record is changed', async () => {
    const waiting = tenant.api.get(`${EVENTS}?wait=25`);
    const { id } = await createLead(tenant.api);
    const { body } = await waiting;
    expect(body).toMatchObject({ data: [{ type: 'lead.created', record: { id } }] });
  });

  it('continues to wait after events of other types', async () => {
    const waiting = tenant.api.get(`${EVENTS}?wait=25&types=task.created`);
    await createLead(tenant.api);
    await readAllEvents(tenant.api, 1);
    await tenant.api.post(TASKS, { title: 'Call' });
    expect((await waiting).body).toMatchObject({ data: [{ type: 'task.created' }] });
  });

  it('answers with an empty page after the time', async () => {
    const { data, meta } = await readEvents(tenant.api, 'wait=1');
    expect(data).toEqual([]);
    expect(meta).toEqual({ next: expect.any(String) as string, has_more: false });
  });

  it('ends when the server stops', async () => {
    const other = await TestApp.start();
    const { api } = await other.organization();
    const begun = performance.now();
    const waiting = api.get(`${EVENTS}?wait=${MAX_WAIT_SECONDS}`);
    await readEvents(api);
    const [{ status }] = await Promise.all([waiting, other.stop()]);
    expect(status).toBe(200);
    expect(performance.now() - begun).toBeLessThan(MAX_WAIT_SECONDS * 1_000);
  });
});

describe('a request that waits for events', () => {
  let reader: Tenant;
  let waiting: ReturnType<Tenant['api']['get']>;

  beforeEach(async () => {
    reader = await app.key(tenant.id);
    const waits = jest.spyOn(app.app.get(EventFollower), 'waitForNext');
    waiting = reader.api.get(`${EVENTS}?after=latest&wait=25`);
    await until(() => Promise.resolve(waits.mock.calls.length > 0));
    jest.restoreAllMocks();
  });

  const changeKey = (change: string) =>
    app.sql(`update api_keys set ${change} where id = '${reader.key.id}'`);

  it.each([
    ['revoked', 'revoked_at = now()'],
    ['expired', 'expires_at = now()'],
  ])('is refused within about a second after its key is %s', async (_, change) => {
    await changeKey(change);
    const changedAt = performance.now();
    expectError(await waiting, 401, 'unauthorized');
    expectShorter(performance.now() - changedAt, 3_000);
  });

  it('gets no events of records that its key can no longer read', async () => {
    await changeKey("scopes = '{events:read,tasks:read}'");
    await scopesApply();
    await createLead(tenant.api);
    await tenant.api.post(TASKS, { title: 'Call' });
    expect((await waiting).body).toMatchObject({ data: [{ type: 'task.created' }] });
  });

  it('is answered 403 when its key can no longer read events', async () => {
    await changeKey("scopes = '{leads:read}'");
    await scopesApply();
    await createLead(tenant.api);
    expectError(await waiting, 403, 'insufficient_scope');
  });

  /** Waits until the instance has looked up the keys of waiting requests again. */
  async function scopesApply(): Promise<void> {
    const lookups = jest.spyOn(app.app.get(CredentialStore), 'findScopes');
    await until(() => Promise.resolve(lookups.mock.results.length > 1));
    await Promise.all(lookups.mock.results.map(({ value }) => value as unknown));
    jest.restoreAllMocks();
  }
});
