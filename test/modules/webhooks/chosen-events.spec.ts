import type { Answer } from '../../../src/testing/api-client.js';
import { createLead, dataOf, errorOf, expectError, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import {
  createWebhook,
  deliveriesOf,
  untilDeliveries,
  type WebhookRecord,
  WEBHOOKS,
} from '../../support/webhooks.js';

let app: TestApp;
let tenant: Tenant;

/** An address that has no receiver. */
const URL = 'https://receiver.invalid/hook';
const TASKS = '/api/v1/tasks';
const LEAD_TYPES = ['lead.created', 'lead.updated', 'lead.deleted'];

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => app.stop());

const create = (fields: object, types: readonly string[] = LEAD_TYPES) =>
  createWebhook(tenant, URL, { types, ...fields });

const update = async (id: string, changes: object) =>
  dataOf(await tenant.api.put(`${LEADS}/${id}`, changes));

/** What each webhook has received when one without a choice has received a number of events. */
async function received(all: WebhookRecord, count: number, ...webhooks: WebhookRecord[]) {
  await untilDeliveries(tenant, all.id, (deliveries) => deliveries.length === count);
  const lists = webhooks.map(async ({ id }) => {
    const deliveries = await deliveriesOf(tenant, id);
    return deliveries.map(({ type, record_id }) => `${type} ${record_id}`);
  });
  return Promise.all(lists);
}

describe('a webhook with changed', () => {
  it('receives updates of any of these fields, creations that set one, and deletions', async () => {
    const all = await create({});
    const status = await create({ changed: ['status', 'tags'] });
    const ada = await createLead(tenant.api, { first_name: 'Ada' });
    const bob = await createLead(tenant.api, { first_name: 'Bob', status: 'new' });
    await update(ada.id, { city: 'Graz' });
    await update(ada.id, { city: 'Wien', status: 'new' });
    await update(ada.id, { status: 'new' });
    await update(ada.id, { add_tags: ['roof'] });
    await tenant.api.post(`${LEADS}/upsert`, {
      match_on: ['id'],
      data: { id: ada.id, status: 'won' },
    });
    await tenant.api.delete(`${LEADS}/${bob.id}`);
    const [events] = await received(all, 6, status);
    expect(events).toEqual([
      `lead.created ${bob.id}`,
      `lead.updated ${ada.id}`,
      `lead.updated ${ada.id}`,
      `lead.deleted ${bob.id}`,
    ]);
  });
});

describe('a webhook with a filter', () => {
  it('receives the events whose record matches after the change', async () => {
    const all = await create({});
    const hot = await create({ filter: { temperature: 'hot' } });
    const roof = await create({
      filter: {
        'custom_fields.roof_age': { gte: 20 },
        or: [{ city: { contains: 'GRÄZ' } }, { phone: '+1 (415) 555-0132' }],
      },
      changed: ['custom_fields', 'city'],
    });
    const updates = await create({ filter: { temperature: { ne: 'hot' } } }, ['lead.updated']);
    const ada = await createLead(tenant.api, { city: 'Graz', custom_fields: { roof_age: 25 } });
    const bob = await createLead(tenant.api, { temperature: 'hot', phone: '415-555-0132' });
    await update(ada.id, { temperature: 'hot' });
    await update(bob.id, { custom_fields: { roof_age: 20 } });
    await update(bob.id, { temperature: 'cold' });
    await update(bob.id, { custom_fields: { roof_age: '30' } });
    await tenant.api.delete(`${LEADS}/${ada.id}`);
    const events = await received(all, 7, hot, roof, updates);
    expect(events).toEqual([
      [
        `lead.created ${bob.id}`,
        `lead.updated ${ada.id}`,
        `lead.updated ${bob.id}`,
        `lead.deleted ${ada.id}`,
      ],
      [`lead.created ${ada.id}`, `lead.updated ${bob.id}`, `lead.deleted ${ada.id}`],
      [`lead.updated ${bob.id}`, `lead.updated ${bob.id}`],
    ]);
  });

  it('can be about tasks and appointments', async () => {
    const types = ['task.created', 'task.completed'];
    const all = await create({}, types);
    const urgent = await create({ filter: { priority: 'urgent', status: 'completed' } }, types);
    const createTask = async (fields: object) =>
      dataOf<{ id: string }>(await tenant.api.post(TASKS, { title: 'Call', ...fields }), 201);
    const { id } = await createTask({ priority: 'urgent' });
    const other = await createTask({});
    for (const task of [id, other.id]) {
      dataOf(await tenant.api.put(`${TASKS}/${task}`, { status: 'completed' }));
    }
    expect(await received(all, 4, urgent)).toEqual([[`task.completed ${id}`]]);
    await create({ filter: { lead_id: ada(), start_time: { gt: '2026-01-01' } } }, [
      'appointment.created',
    ]);
  });

  it('compares defined custom fields by their types, and is disabled when its filter does not fit them any more', async () => {
    const { api } = await app.key(tenant.id, ['fields:write', 'leads:read']);
    const define = async (key: string, type: string) =>
      dataOf(await api.post('/api/v1/custom-fields', { key, label: key, type }), 201);
    const all = await create({});
    const broken = await create({ filter: { 'custom_fields.age': '20' } });
    await define('age', 'number');
    await define('seen', 'datetime');
    const seen = await create({ filter: { 'custom_fields.seen': { lt: '2026-01-31' } } });
    const path = `${WEBHOOKS}/${seen.id}`;
    expect(
      detailsOf(await tenant.api.put(path, { filter: { 'custom_fields.seen': { lt: 5 } } })),
    ).toMatchObject([{ field: 'filter.custom_fields.seen.lt' }]);
    const custom_fields = { seen: '2026-01-31T01:00:00+02:00', age: 20 };
    const { id } = await createLead(tenant.api, { custom_fields });
    expect(await received(all, 1, seen)).toEqual([[`lead.created ${id}`]]);
    expect(await received(all, 1, broken)).toEqual([[]]);
    const webhook = async () =>
      dataOf<WebhookRecord>(await tenant.api.get(`${WEBHOOKS}/${broken.id}`));
    expect(await webhook()).toMatchObject({ enabled: false, disabled_reason: 'invalid_filter' });
  });

  it('compares dates of a defined field, also when its definition has changed', async () => {
    const { api } = await app.key(tenant.id, ['fields:write', 'leads:read']);
    const body = { key: 'since', label: 'Since', type: 'date' };
    const definition = dataOf<{ id: string }>(await api.post('/api/v1/custom-fields', body), 201);
    const redefine = async (changes: object) =>
      dataOf(await api.put(`/api/v1/custom-fields/${definition.id}`, changes));
    const all = await create({});
    const filter = { 'custom_fields.since': { gte: '2026-01-01' } };
    const since = await create({ filter });
    const early = await create({ filter: { 'custom_fields.since': { lt: '2026-01-01' } } });
    const path = `${WEBHOOKS}/${since.id}`;
    for (const gte of ['2026-02-30', 5]) {
      const invalid = { filter: { 'custom_fields.since': { gte } } };
      expect(detailsOf(await tenant.api.put(path, invalid))).toMatchObject([
        { field: 'filter.custom_fields.since.gte' },
      ]);
    }
    const withSince = (value?: unknown) =>
      createLead(tenant.api, { custom_fields: { since: value, other: 1 } });
    const [last, first] = [await withSince('2025-12-31'), await withSince('2026-01-01')];
    await withSince(null);
    await withSince();
    await update(last.id, { custom_fields: { since: '2026-05-01' } });
    const expected = [`lead.created ${first.id}`, `lead.updated ${last.id}`];
    expect(await received(all, 5, since, early)).toEqual([expected, [`lead.created ${last.id}`]]);

    await redefine({ label: 'Customer since', filterable: true });
    await update(first.id, { custom_fields: { since: '2025-06-01' } });
    const matching = await withSince('2027-01-01');
    expected.push(`lead.created ${matching.id}`);
    expect(await received(all, 7, since)).toEqual([expected]);

    await redefine({ type: 'datetime' });
    await withSince('2026-01-01T00:30:00+01:00');
    const later = await withSince('2025-12-31T23:30:00-01:00');
    expected.push(`lead.created ${later.id}`);
    expect(await received(all, 9, since)).toEqual([expected]);
    expect(dataOf(await tenant.api.get(path))).toMatchObject({ filter, enabled: true });

    await redefine({ type: 'text' });
    await withSince('2026-06-01');
    expect(await received(all, 10, since)).toEqual([expected]);
    const disabled = { enabled: false, disabled_reason: 'invalid_filter' };
    expect(dataOf(await tenant.api.get(path))).toMatchObject(disabled);
  });
});

const ada = () => '01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43';

/** The problems of a refused request. */
function detailsOf(answer: Answer): unknown {
  expectError(answer, 400, 'validation_error');
  return errorOf(answer).details;
}

const ONE_KIND =
  'needs types that are all of one kind of record: of leads, of appointments or of tasks';

describe('POST and PUT /api/v1/webhooks', () => {
  it.each<[object, { field: string; message: unknown }[]]>([
    [{ filter: 5 }, [{ field: 'filter', message: 'must be an object' }]],
    [
      { filter: { city: { gt: 'a' }, town: 'Graz' } },
      [
        { field: 'filter.city.gt', message: expect.stringMatching(/^is no operator of city/) },
        {
          field: 'filter.town',
          message: expect.stringMatching(/^is unknown; the fields are id, /),
        },
      ],
    ],
    [
      { filter: { tasks: { some: { status: 'open' } } } },
      [{ field: 'filter.tasks', message: expect.not.stringContaining('relations are') }],
    ],
    [
      { filter: { or: [{ 'custom_fields.a': { gt: 'x' } }] } },
      [{ field: 'filter.or[0].custom_fields.a.gt', message: 'must be a number' }],
    ],
    [
      { filter: { notes: 'x'.repeat(9_000) } },
      [{ field: 'filter', message: 'must be at most 8192 bytes as JSON' }],
    ],
    [{ changed: [] }, [{ field: 'changed', message: 'must have at least one field' }]],
    [
      { changed: ['city', 'town'] },
      [
        {
          field: 'changed',
          message: expect.stringMatching(/^has town, .* these are first_name, /),
        },
      ],
    ],
    [
      { changed: ['custom_fields.a'] },
      [{ field: 'changed', message: expect.stringMatching(/^has custom_fields.a, /) }],
    ],
    [
      { types: ['lead.updated', 'task.updated'], filter: { id: ada() }, changed: ['status'] },
      [
        { field: 'filter', message: ONE_KIND },
        { field: 'changed', message: ONE_KIND },
      ],
    ],
    [
      { types: ['organization.updated'], changed: ['name'] },
      [{ field: 'changed', message: ONE_KIND }],
    ],
  ])('refuses %j', async (fields, details) => {
    const body = { url: URL, types: LEAD_TYPES, ...fields };
    expect(detailsOf(await tenant.api.post(WEBHOOKS, body))).toEqual(details);
    const { id } = await create({});
    const path = `${WEBHOOKS}/${id}`;
    expect(detailsOf(await tenant.api.put(path, fields))).toEqual(details);
  });

  it('returns the choice as it was given, and removes it', async () => {
    const choice = { filter: { city: { in: ['Graz'] } }, changed: ['city', 'zip'] };
    const {
      id,
      secret: _secret,
      ...webhook
    } = await create({ ...choice, changed: ['city', 'zip', 'city'] });
    expect(webhook).toMatchObject(choice);
    const path = `${WEBHOOKS}/${id}`;
    const put = async (changes: object) =>
      dataOf<WebhookRecord>(await tenant.api.put(path, changes));
    expect(await put({ description: 'Graz' })).toMatchObject(choice);
    expect(await put({ filter: {} })).toMatchObject({ filter: null, changed: choice.changed });
    expect(await put({ changed: null })).toMatchObject({ filter: null, changed: null });
    expect(await create({ filter: {}, changed: null })).toMatchObject({ filter: null });
  });

  it('checks a stored choice when the types change', async () => {
    const { id } = await create({ filter: { city: 'Graz' } });
    const put = (changes: object) => tenant.api.put(`${WEBHOOKS}/${id}`, changes);
    const types = ['task.created'];
    expect(detailsOf(await put({ types }))).toEqual([
      { field: 'filter.city', message: expect.stringMatching(/^is unknown/) },
    ]);
    expect(dataOf(await put({ types, filter: { title: 'Call' } }))).toMatchObject({ types });
  });
});
