import { randomUUID } from 'node:crypto';
import type { Answer } from '../../../src/testing/api-client.js';
import {
  buildLead,
  createLead,
  dataOf,
  errorOf,
  expectError,
  expectInvalid,
  getLead,
  type LeadBody,
  LEADS,
} from '../../../src/testing/factories.js';
import { BATCH_ROUTES, routeName } from '../../../src/testing/routes.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';
import { readAllEvents } from '../../support/events.js';

const BATCH = `${LEADS}/batch`;
const TASKS = '/api/v1/tasks';
const APPOINTMENTS = '/api/v1/appointments';

interface Result {
  readonly index: number;
  readonly status: string;
  readonly id: string | null;
  readonly error?: { code: string; details?: { field: string; existing_id?: string }[] };
}

interface BatchBody {
  readonly data: readonly Result[];
  readonly meta: { readonly succeeded: number; readonly failed: number };
}

let app: TestServer;
let tenant: Tenant;
let api: Tenant['api'];

beforeAll(async () => {
  app = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await app.organization();
  ({ api } = tenant);
});

type Item = Record<string, unknown>;

const create = (data: LeadBody = {}): Item => ({
  action: 'create',
  data: { first_name: 'Ada', ...data },
});

const send = (
  items: unknown,
  {
    path = BATCH,
    headers,
    ...more
  }: { path?: string; headers?: Record<string, string> } & Item = {},
) => api.post(path, { items, ...more }, { headers });

const resultsOf = ({ body }: Answer) => (body as BatchBody).data;
const metaOf = ({ body }: Answer) => (body as BatchBody).meta;

/** What came of each item: its status, or the code of its error with the fields at fault. */
const summaryOf = (answer: Answer) =>
  resultsOf(answer).map(({ status, error }) =>
    error ? [error.code, ...(error.details ?? []).map(({ field }) => field)].join(' ') : status,
  );

async function total(path = LEADS): Promise<number> {
  const { body } = await api.get(path);
  return (body as { meta: { total: number } }).meta.total;
}

describe('POST /api/v1/leads/batch', () => {
  it('creates, updates, upserts and deletes in the order of the items', async () => {
    const [a, b, c, d] = await Promise.all([
      createLead(api, { email: 'a@example.com' }),
      createLead(api),
      createLead(api, { external_id: 'c' }),
      createLead(api, { external_id: 'd', city: 'Rome' }),
    ]);
    const answer = await send([
      create({ email: 'new@example.com', custom_fields: { a: 1 } }),
      { action: 'update', id: a.id, data: { city: 'Paris', email: 'A@example.com' } },
      { action: 'delete', id: b.id.toUpperCase() },
      { action: 'upsert', match_on: ['external_id'], data: { external_id: 'c', city: 'Oslo' } },
      { action: 'upsert', match_on: ['external_id'], data: { external_id: 'd', city: 'Rome' } },
      { action: 'upsert', match_on: ['external_id'], data: { external_id: 'e', first_name: 'E' } },
    ]);
    expect(answer.status).toBe(200);
    const ids = resultsOf(answer).map(({ id }) => id);
    expect(answer.body).toEqual({
      data: ['created', 'updated', 'deleted', 'updated', 'unchanged', 'created'].map(
        (status, index) => ({ index, status, id: ids[index] }),
      ),
      meta: { succeeded: 6, failed: 0 },
    });
    expect(ids.slice(1, 5)).toEqual([a.id, b.id, c.id, d.id]);
    expect(await getLead(api, ids[0]!)).toMatchObject({ email: 'new@example.com', lead_score: 20 });
    expect(await getLead(api, a.id)).toMatchObject({ city: 'Paris', email: 'A@example.com' });
    expectError(await api.get(`${LEADS}/${b.id}`), 404, 'not_found');
    expect(await getLead(api, c.id)).toMatchObject({ city: 'Oslo' });
    expect(await getLead(api, d.id)).toEqual(d);
    expect(await getLead(api, ids[5]!)).toMatchObject({ first_name: 'E', source: 'api' });
  });

  it('answers each item on its own, with the errors of single requests', async () => {
    const taken = await createLead(api, { email: 'taken@example.com' });
    const { id } = await createLead(api, { external_id: 'old' });
    await createLead(api, { external_id: 'taken' });
    const answer = await send([
      create({ email: 'TAKEN@example.com' }),
      create({ first_name: null, zip: 5 }),
      create(),
      { action: 'update', id, data: { external_id: 'taken' } },
      { action: 'update', id: randomUUID(), data: {} },
      { action: 'delete', id: randomUUID() },
      { action: 'delete' },
      { action: 'update', id: 'x', data: {} },
      { action: 'upsert', match_on: ['email'], data: { phone: '123' } },
      { action: 'upsert', match_on: ['email'], data: { email: 'new@example.com' } },
      { action: 'merge' },
      { data: {} },
      'x',
      null,
      { action: 'create', id, data: { first_name: 'Ada' } },
      create({ custom_fields: 5 }),
    ]);
    expect(answer.status).toBe(207);
    expect(summaryOf(answer)).toEqual([
      'duplicate data.email',
      'validation_error data.first_name data.zip',
      'created',
      'duplicate data.external_id',
      'not_found',
      'not_found',
      'validation_error id',
      'validation_error id',
      'validation_error match_on',
      'validation_error data.first_name',
      'validation_error action',
      'validation_error action',
      'validation_error body',
      'validation_error body',
      'validation_error id',
      'validation_error data.custom_fields',
    ]);
    expect(metaOf(answer)).toEqual({ succeeded: 1, failed: 15 });
    const ids = resultsOf(answer).map((result) => result.id);
    expect([ids[1], ids[3], ids[7], ids[14]]).toEqual([null, id, null, id]);
    const [first, , , fourth] = resultsOf(answer);
    expect(first!.error!.details![0]!.existing_id).toBe(taken.id);
    expect([first!.id, fourth!.id]).toEqual([null, id]);
    expect(await total()).toBe(4);
  });

  it('writes one event for each change, and none for items that fail', async () => {
    await send([create(), create({ zip: 5 }), create()]);
    const events = await readAllEvents(api, 2);
    expect(events.map(({ type }) => type)).toEqual(['lead.created', 'lead.created']);
  });

  it('takes 100 items and not more', async () => {
    const items = Array.from({ length: 100 }, () => create());
    expect(metaOf(await send(items))).toEqual({ succeeded: 100, failed: 0 });
    for (const wrong of [[...items, create()], [], {}, 'x', null, undefined]) {
      expectInvalid(await send(wrong), 'items');
    }
    expectInvalid(await send([create()], { atomic: 'yes' }), 'atomic');
    expectInvalid(await send([create()], { colour: 'red' }), 'colour');
    expect(await total()).toBe(100);
  });

  it('lets an item take a value that an earlier one gives up', async () => {
    const { id } = await createLead(api, { email: 'moving@example.com' });
    const answer = await send([{ action: 'delete', id }, create({ email: 'moving@example.com' })]);
    expect(summaryOf(answer)).toEqual(['deleted', 'created']);
  });

  it('changes a record only if it has the given version', async () => {
    const { id } = await createLead(api);
    const etag = (await api.get(`${LEADS}/${id}`)).headers.get('etag');
    const other = await createLead(api);
    const answer = await send([
      { action: 'update', id, if_match: etag, data: { city: 'Paris' } },
      { action: 'delete', id: other.id, if_match: '"other"' },
      { action: 'delete', id: randomUUID(), if_match: 'x' },
    ]);
    expect(summaryOf(answer)).toEqual([
      'updated',
      'precondition_failed',
      'validation_error if_match',
    ]);
    expect(await getLead(api, other.id)).toEqual(other);
  });
});

describe('a record or a value in several items', () => {
  it('fails all of these items', async () => {
    const one = await createLead(api, { email: 'one@example.com' });
    const answer = await send([
      { action: 'update', id: one.id, data: { city: 'Paris' } },
      { action: 'delete', id: one.id.toUpperCase() },
      create({ phone: '+1 415 555 2671' }),
      create({ phone: '(415) 555-2671' }),
      create({ external_id: 'A' }),
      create({ external_id: 'a' }),
      create(),
    ]);
    expect(summaryOf(answer)).toEqual([
      'duplicate id',
      'duplicate id',
      'duplicate data.phone',
      'duplicate data.phone',
      ...['created', 'created', 'created'],
    ]);
    expect(await getLead(api, one.id)).toEqual(one);
  });

  it('fails an upsert and another item about the lead that it matches', async () => {
    const { id } = await createLead(api, { email: 'one@example.com' });
    const answer = await send([
      { action: 'update', id, data: { email: 'two@example.com' } },
      { action: 'upsert', match_on: ['email'], data: { email: 'ONE@example.com', city: 'Rome' } },
    ]);
    expect(summaryOf(answer)).toEqual(['duplicate id', 'duplicate match_on']);
  });

  it('fails an atomic batch', async () => {
    const answer = await send(
      [create({ email: 'a@example.com' }), create({ email: 'A@example.com' })],
      {
        atomic: true,
      },
    );
    expectError(answer, 409, 'duplicate');
    expect(errorOf(answer).details!.map(({ field }) => field)).toEqual(['items.0.data.email']);
    expect(await total()).toBe(0);
  });
});

describe('an atomic batch', () => {
  it('is carried out if no item fails', async () => {
    const answer = await send([create(), create()], { atomic: true });
    expect(answer).toMatchObject({ status: 200, body: { meta: { succeeded: 2, failed: 0 } } });
  });

  it.each<[string, (id: string) => Item, number, string, string]>([
    ['an invalid field', () => create({ zip: 5 }), 400, 'validation_error', 'items.1.data.zip'],
    [
      'a duplicate',
      () => create({ email: 'TAKEN@example.com' }),
      409,
      'duplicate',
      'items.1.data.email',
    ],
    [
      'an unknown record',
      () => ({ action: 'delete', id: randomUUID() }),
      404,
      'not_found',
      'items.1.id',
    ],
    [
      'another version',
      (id) => ({ action: 'update', id, if_match: '"x"', data: { city: 'Rome' } }),
      412,
      'precondition_failed',
      'items.1.if_match',
    ],
  ])(
    'has the error of %s, which names the item and the field, and no effect',
    async (_, item, status, code, field) => {
      const { id } = await createLead(api, { email: 'taken@example.com' });
      const answer = await send([create(), item(id), create()], { atomic: true });
      expectError(answer, status, code);
      const { details = [], message } = errorOf(answer);
      expect(details.map((one) => one.field)).toEqual([field]);
      expect(message).toContain('items.1');
      expect(await total()).toBe(1);
    },
  );

  it('names the invalid fields of all items', async () => {
    const answer = await send([create({ zip: 5 }), create(), { action: 'delete' }], {
      atomic: true,
    });
    expectInvalid(answer, 'items.0.data.zip', 'items.2.id');
  });
});

describe('batches of appointments and tasks', () => {
  it('create, update and cancel appointments', async () => {
    const { id: lead_id } = await createLead(api);
    const times = { start_time: '2026-05-04T09:00:00Z', end_time: '2026-05-04T10:00:00Z' };
    const made = dataOf<{ id: string }>(await api.post(APPOINTMENTS, { lead_id, ...times }), 201);
    const other = dataOf<{ id: string }>(await api.post(APPOINTMENTS, { lead_id, ...times }), 201);
    const answer = await send(
      [
        { action: 'create', data: { lead_id, ...times } },
        { action: 'create', data: { lead_id: randomUUID(), ...times } },
        { action: 'update', id: made.id, data: { end_time: '2026-05-04T08:00:00Z' } },
        { action: 'delete', id: other.id },
        { action: 'upsert', match_on: ['email'], data: {} },
      ],
      { path: `${APPOINTMENTS}/batch` },
    );
    expect(summaryOf(answer)).toEqual([
      'created',
      'lead_not_found data.lead_id',
      'validation_error data.end_time',
      'cancelled',
      'validation_error action',
    ]);
    expect(dataOf(await api.get(`${APPOINTMENTS}/${other.id}`))).toMatchObject({
      status: 'cancelled',
    });
    const [{ id }] = resultsOf(answer) as [Result];
    expect(dataOf(await api.get(`${APPOINTMENTS}/${id!}`))).toMatchObject({ booked_by: 'api' });
  });

  it('create, update and delete tasks', async () => {
    const made = dataOf<{ id: string }>(await api.post(TASKS, { title: 'A' }), 201);
    const other = dataOf<{ id: string }>(await api.post(TASKS, { title: 'B' }), 201);
    const answer = await send(
      [
        { action: 'create', data: { title: 'C' } },
        { action: 'create', data: { title: 'D', contact_id: randomUUID() } },
        { action: 'update', id: made.id, data: { status: 'completed' } },
        { action: 'delete', id: other.id },
      ],
      { path: `${TASKS}/batch` },
    );
    expect(summaryOf(answer)).toEqual([
      'created',
      'lead_not_found data.contact_id',
      'updated',
      'deleted',
    ]);
    const events = await readAllEvents(api, 5, 'types=task.created,task.completed,task.deleted');
    expect(events.map(({ type }) => type).toSorted()).toEqual([
      ...['task.completed', 'task.created', 'task.created', 'task.created', 'task.deleted'],
    ]);
  });
});

describe('access', () => {
  it.each(BATCH_ROUTES.map((route) => [routeName(route), route] as const))(
    '%s needs only its write scope',
    async (_, { pattern, access, body }) => {
      const reader = await app.key(tenant.id, ['leads:read', 'appointments:read', 'tasks:read']);
      const batch = await body!(tenant);
      expectError(await reader.api.post(pattern, batch), 403, 'insufficient_scope');
      const writer = await app.key(tenant.id, [access as 'leads:write']);
      expect(await writer.api.post(pattern, batch)).toMatchObject({ status: 200 });
    },
  );

  it('refuses only the upserts of a key without leads:read, and reveals nothing', async () => {
    const { id } = await createLead(api, { email: 'a@example.com' });
    const writer = await app.key(tenant.id, ['leads:write']);
    const upsert = { action: 'upsert', match_on: ['email'], data: { email: 'a@example.com' } };
    const answer = await writer.api.post(BATCH, { items: [upsert, create()] });
    expect(summaryOf(answer)).toEqual(['insufficient_scope', 'created']);
    expect(JSON.stringify(answer.body)).not.toContain(id);
    const atomic = await writer.api.post(BATCH, { atomic: true, items: [create(), upsert] });
    expectError(atomic, 403, 'insufficient_scope');
    expect(await total()).toBe(2);
  });

  it('does not find records of another organization', async () => {
    const stranger = await app.organization();
    const lead = await createLead(stranger.api, { email: 'theirs@example.com' });
    const answer = await send([
      { action: 'update', id: lead.id, data: { city: 'Rome' } },
      { action: 'delete', id: lead.id },
      create({ email: 'theirs@example.com' }),
    ]);
    expect(summaryOf(answer)).toEqual(['duplicate id', 'duplicate id', 'created']);
    const single = await send([{ action: 'delete', id: lead.id }]);
    expect(summaryOf(single)).toEqual(['not_found']);
    expect(await getLead(stranger.api, lead.id)).toEqual(lead);
  });
});

describe('Idempotency-Key', () => {
  it('replays the results, also those of items that failed', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const items = [create({ email: 'a@example.com' }), create({ zip: 5 })];
    const first = await send(items, { headers });
    const again = await send(items, { headers });
    expect(first.status).toBe(207);
    expect([again.status, again.body]).toEqual([207, first.body]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await total()).toBe(1);
    expectError(await send([create()], { headers }), 422, 'idempotency_key_reused');
  });

  it('keeps nothing of an atomic batch that failed', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const items = [create(), create({ email: 'taken@example.com' })];
    const { id } = await createLead(api, { email: 'taken@example.com' });
    expectError(await send(items, { headers, atomic: true }), 409, 'duplicate');
    expect(await total()).toBe(1);
    await api.delete(`${LEADS}/${id}`);
    expect(await send(items, { headers, atomic: true })).toMatchObject({ status: 200 });
  });
});

describe('concurrent batches', () => {
  it('with the same new values create each lead once', async () => {
    const leads = Array.from({ length: 20 }, () => buildLead());
    const answers = await Promise.all(
      [leads, leads.toReversed(), leads].map((each) => send(each.map((data) => create(data)))),
    );
    const created = answers.flatMap(resultsOf).filter(({ status }) => status === 'created');
    expect(created).toHaveLength(20);
    expect(await total()).toBe(20);
    const others = answers.flatMap(resultsOf).filter(({ status }) => status !== 'created');
    expect(new Set(others.map(({ error }) => error?.code))).toEqual(new Set(['duplicate']));
  });

  it('that change the same leads in another order all succeed', async () => {
    const leads = await Promise.all(Array.from({ length: 10 }, () => createLead(api)));
    const update = (city: string) => (lead: { id: string }) => {
      return { action: 'update', id: lead.id, data: { city } };
    };
    const answers = await Promise.all([
      send(leads.map(update('Paris'))),
      send(leads.toReversed().map(update('Rome'))),
    ]);
    for (const answer of answers) expect(metaOf(answer)).toEqual({ succeeded: 10, failed: 0 });
  });

  it('of upserts make one lead for each value', async () => {
    const items = Array.from({ length: 10 }, (_, index) => ({
      action: 'upsert',
      match_on: ['external_id'],
      data: { external_id: `${index}`, first_name: 'Ada' },
    }));
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(items)));
    for (const answer of answers) expect(metaOf(answer).failed).toBe(0);
    expect(await total()).toBe(10);
  });
});
