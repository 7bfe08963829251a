import pg from 'pg';
import { SCOPES } from '../../../src/platform/access/scopes.js';
import { configOf } from '../../../src/testing/databases.js';
import {
  buildLead,
  createLead,
  dataOf,
  errorOf,
  expectError,
  expectInvalid,
  getLead,
  type LeadBody,
  type LeadRecord,
  LEADS,
} from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { idsByCursor, pageAfter } from '../../support/by-cursor.js';
import { readAllEvents } from '../../support/events.js';
import { until } from '../../support/servers/product.js';

const TASKS = '/api/v1/tasks';
const DELETED = { deleted: 'true' };

interface Row {
  readonly id: string;
  readonly updated_at: string;
}

let app: TestApp;
let tenant: Tenant;
let api: Tenant['api'];

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  tenant = await app.organization({ scopes: SCOPES });
  ({ api } = tenant);
});
afterAll(() => app.stop());

const restore = (path: string, id: string, headers: Record<string, string> = {}) =>
  api.post(`${path}/${id}/restore`, undefined, { headers });

const restoreLead = async (id: string) => dataOf(await restore(LEADS, id));

async function createTask(body: object = {}): Promise<Row> {
  return dataOf<Row>(await api.post(TASKS, { title: 'Call', ...body }), 201);
}

async function deleteRecord(path: string, id: string): Promise<void> {
  dataOf(await api.delete(`${path}/${id}`));
}

async function deletedLead(fields: LeadBody = buildLead()): Promise<LeadRecord> {
  const lead = await createLead(api, fields);
  await deleteRecord(LEADS, lead.id);
  return lead;
}

const KINDS = [
  {
    path: LEADS,
    create: () => createLead(api, buildLead()) as Promise<Row>,
    type: 'lead' as const,
  },
  { path: TASKS, create: () => createTask(), type: 'task' as const },
];

describe.each(KINDS)('deleted records of $path', ({ path, create, type }) => {
  /** Creates records, and deletes them in the same order. */
  async function createDeleted(count: number): Promise<string[]> {
    const ids: string[] = [];
    while (ids.length < count) {
      const { id } = await create();
      await deleteRecord(path, id);
      ids.push(id);
    }
    return ids;
  }

  it('are listed by cursor with deleted_at, the most recently deleted first', async () => {
    const live = await create();
    const list = dataOf<Row[]>(await api.get(path));
    const ids = await createDeleted(3);
    const first = await pageAfter(api, path, '', { ...DELETED, limit: '2' });
    expect(first.meta).toEqual({ next: expect.any(String) as string, has_more: true });
    expect(first.data.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    expect(await idsByCursor(api, path, { ...DELETED, limit: '1' })).toEqual(ids.toReversed());
    const [{ deleted_at, ...item }] = first.data as unknown as [{ deleted_at: string }];
    expect(Object.keys(item)).toEqual(Object.keys(list[0]!));
    expect(new Date(deleted_at).toISOString()).toBe(deleted_at);
    expect(await idsByCursor(api, path)).toEqual([live.id]);
    const { body } = await api.get(`${path}?deleted=false`);
    expect(body).toMatchObject({ data: [{ id: live.id }], meta: { total: 1 } });
  });

  it('that were deleted at the same time are in the order of their ids, each once', async () => {
    const ids = await createDeleted(5);
    await app.sql(`update ${path.split('/').at(-1)} set deleted_at = now() where id = any($1)`, [
      ids,
    ]);
    const listed = await idsByCursor(api, path, { ...DELETED, limit: '2' });
    expect(listed).toEqual(ids.toSorted().reverse());
  });

  it('are listed without any other parameter, which is named', async () => {
    const parameters = {
      ...{ status: 'open', updated_after: '2026-01-01', filter: '{"id":{"is_empty":true}}' },
      ...{ page: '1', sort_by: 'created_at', sort_dir: 'desc', fields: '*', search: 'ada' },
      include: path === LEADS ? 'open_task_count' : 'lead',
    };
    for (const [name, value] of Object.entries(parameters)) {
      if (name === 'search' && path === TASKS) continue;
      const query = new URLSearchParams({ ...DELETED, [name]: value });
      expectInvalid(await api.get(`${path}?${query}`), name);
    }
    expectInvalid(await api.get(`${path}?deleted=yes`), 'deleted');
    expectInvalid(await api.get(`${path}?deleted=true&after=x`), 'after');
    expectInvalid(await api.get(`${path}/counts?by=status&deleted=true`), 'deleted');
  });

  it('are restored with their values, a new updated_at and an ETag', async () => {
    const before = await create();
    await deleteRecord(path, before.id);
    const answer = await restore(path, before.id);
    const { updated_at, ...restored } = dataOf<Row>(answer);
    const { updated_at: earlier, ...values } = before;
    expect(restored).toEqual(values);
    expect(Date.parse(updated_at)).toBeGreaterThan(Date.parse(earlier));
    const read = await api.get(`${path}/${before.id}`);
    expect(read.body).toEqual(answer.body);
    expect(read.headers.get('etag')).toBe(answer.headers.get('etag'));
    expect((await api.get(path)).body).toMatchObject({ meta: { total: 1 } });
    expect(await idsByCursor(api, path, DELETED)).toEqual([]);
  });

  it('write an update that names deleted_at when they are restored', async () => {
    const { id } = await create();
    await deleteRecord(path, id);
    const record = dataOf(await restore(path, id));
    const [, deletion, restored] = await readAllEvents(
      api,
      3,
      `types=${type}.created,${type}.deleted,${type}.updated`,
    );
    expect(deletion).toMatchObject({ type: `${type}.deleted`, record: { id } });
    expect(restored).toMatchObject({ type: `${type}.updated`, record, changed: ['deleted_at'] });
    expect(restored!.actor).toMatchObject({ key_id: tenant.key.id, channel: 'api' });
    const found = await api.get(`${path}?updated_after=${record.updated_at}`);
    expect(found.body).toMatchObject({ data: [{ id }] });
  });

  it('are restored once by several requests, and once with an Idempotency-Key', async () => {
    const { id } = await create();
    await deleteRecord(path, id);
    const answers = await Promise.all(Array.from({ length: 5 }, () => restore(path, id)));
    const records = answers.map((answer) => dataOf(answer));
    expect(new Set(records.map(({ updated_at }) => updated_at)).size).toBe(1);
    await deleteRecord(path, id);
    const again = dataOf(await restore(path, id, { 'Idempotency-Key': 'once' }));
    await deleteRecord(path, id);
    const replayed = await restore(path, id, { 'Idempotency-Key': 'once' });
    expect(replayed.headers.get('idempotency-replayed')).toBe('true');
    expect(dataOf(replayed)).toEqual(again);
    expectError(await api.get(`${path}/${id}`), 404, 'not_found');
    await readAllEvents(api, 6, `types=${type}.created,${type}.deleted,${type}.updated`);
  });

  it('are restored only with the entity tag that If-Match names', async () => {
    const { id } = await create();
    const tag = (await api.get(`${path}/${id}`)).headers.get('etag')!;
    await deleteRecord(path, id);
    expectError(await restore(path, id, { 'If-Match': '"other"' }), 412, 'precondition_failed');
    expect(await idsByCursor(api, path, DELETED)).toEqual([id]);
    dataOf(await restore(path, id, { 'If-Match': tag }));
    expectError(await restore(path, id, { 'If-Match': tag }), 412, 'precondition_failed');
  });

  it('are left as they are if they are not deleted', async () => {
    const record = await create();
    expect(dataOf(await restore(path, record.id))).toEqual(record);
    await readAllEvents(api, 1, `types=${type}.created,${type}.updated`);
  });

  it('need the scopes of the record', async () => {
    const [id] = await createDeleted(1);
    const reader = await app.key(tenant.id, [`${type}s:read`]);
    const writer = await app.key(tenant.id, [`${type}s:write`]);
    const action = `${path}/${id}/restore`;
    expectError(await reader.api.post(action, undefined), 403, 'insufficient_scope');
    expectError(await writer.api.get(`${path}?deleted=true`), 403, 'insufficient_scope');
    expect(await idsByCursor(reader.api, path, DELETED)).toEqual([id]);
    expectInvalid(await writer.api.post(action, { title: 'x' }), 'title');
    dataOf(await writer.api.post(action, {}));
  });

  it('of another organization are neither listed nor restored', async () => {
    const [id] = await createDeleted(1);
    const other = await app.organization();
    expect(await idsByCursor(other.api, path, DELETED)).toEqual([]);
    expectError(await other.api.post(`${path}/${id}/restore`, undefined), 404, 'not_found');
    expect(await idsByCursor(api, path, DELETED)).toEqual([id]);
  });

  it('that a purge removes first are not found', async () => {
    const [id] = await createDeleted(1);
    const holder = new pg.Client(configOf(app.database));
    await holder.connect();
    await holder.query('begin');
    await holder.query(`delete from ${path.split('/').at(-1)} where id = $1`, [id]);
    const answer = restore(path, id!);
    await until(async () => {
      const rows = await app.sql(`select from pg_stat_activity where wait_event_type = 'Lock'
        and datname = current_database() and application_name like 'latitude%'`);
      return rows.length > 0;
    });
    await holder.query('commit');
    await holder.end();
    expectError(await answer, 404, 'not_found');
    expect(await idsByCursor(api, path, DELETED)).toEqual([]);
  });
});

describe('a restored lead', () => {
  it('is found by search, filters, counts and its records again', async () => {
    const lead = await createLead(api, buildLead());
    const task = await createTask({ contact_id: lead.id });
    await deleteRecord(LEADS, lead.id);
    await restoreLead(lead.id);
    const filter = encodeURIComponent(JSON.stringify({ lead: { status: 'new' } }));
    for (const query of [
      'search=lovelace',
      'status=new',
      'tag=POET',
      `external_id=${String(lead.external_id)}`,
    ]) {
      const { body } = await api.get(`${LEADS}?${query}`);
      expect(body).toMatchObject({ data: [{ id: lead.id }], meta: { total: 1 } });
    }
    const tasks = await api.get(`${TASKS}?include=lead&filter=${filter}`);
    expect(tasks.body).toMatchObject({ data: [{ id: task.id, lead: { id: lead.id } }] });
    const counts = await api.get(`${LEADS}/counts?by=status`);
    expect(counts.body).toMatchObject({ data: [{ value: 'new', count: 1 }], meta: { total: 1 } });
  });

  it('has its compared forms, search text and score computed again', async () => {
    const lead = await deletedLead();
    await app.sql(
      `update leads set search_text = '', email_compared = null, phone_compared = null, lead_score = 1 where id = $1`,
      [lead.id],
    );
    expect(await restoreLead(lead.id)).toMatchObject({ lead_score: lead.lead_score });
    const found = await api.get(`${LEADS}?search=${encodeURIComponent(String(lead.phone))}`);
    expect(found.body).toMatchObject({ data: [{ id: lead.id }] });
    const again = await api.post(LEADS, buildLead({ email: lead.email, phone: lead.phone }));
    expectError(again, 409, 'duplicate');
    const [, , restored] = await readAllEvents(
      api,
      3,
      'types=lead.created,lead.deleted,lead.updated',
    );
    expect(restored!.changed).toEqual(['deleted_at', 'lead_score']);
  });

  it('is a likely duplicate again', async () => {
    const person = { last_name: 'Lovelace', zip: '1' };
    const one = await createLead(api, person);
    await createLead(api, person);
    const groups = async () => dataOf<object[]>(await api.get(`${LEADS}/duplicates`)).length;
    await until(async () => (await groups()) === 1);
    await deleteRecord(LEADS, one.id);
    await until(async () => (await groups()) === 0);
    await restoreLead(one.id);
    await until(async () => (await groups()) === 1);
  });

  it.each(['email', 'phone', 'external_id'] as const)(
    'is refused while another has its %s',
    async (field) => {
      const lead = await deletedLead();
      const holder = await createLead(api, buildLead({ [field]: lead[field] }));
      const refused = await restore(LEADS, lead.id);
      expectError(refused, 409, 'duplicate');
      expect(errorOf(refused).details).toMatchObject([{ field, existing_id: holder.id }]);
      const writer = await app.key(tenant.id, ['leads:write']);
      const { details } = errorOf(await writer.api.post(`${LEADS}/${lead.id}/restore`, undefined));
      expect(details).toEqual([{ field, message: 'belongs to another lead' }]);
      expect(await idsByCursor(api, LEADS, DELETED)).toEqual([lead.id]);
      await deleteRecord(LEADS, holder.id);
      expect(await restoreLead(lead.id)).toMatchObject({ [field]: lead[field] });
    },
  );

  it('has the values of unique and filterable fields again, unless another lead took one', async () => {
    for (const field of [
      { key: 'badge', type: 'text', unique: true },
      { key: 'age', type: 'number', filterable: true, required: true },
    ]) {
      dataOf(await api.post('/api/v1/custom-fields', field), 201);
    }
    const lead = await deletedLead({ custom_fields: { badge: 'A1', age: 7 } });
    const holder = await createLead(api, { custom_fields: { badge: 'A1', age: 8 } });
    const refused = await restore(LEADS, lead.id);
    expectError(refused, 409, 'duplicate');
    const details = [{ field: 'custom_fields.badge', existing_id: holder.id }];
    expect(errorOf(refused).details).toMatchObject(details);
    await deleteRecord(LEADS, holder.id);
    await restoreLead(lead.id);
    const filter = encodeURIComponent(JSON.stringify({ 'custom_fields.age': { lt: 8 } }));
    const found = await api.get(`${LEADS}?filter=${filter}`);
    expect(found.body).toMatchObject({ data: [{ id: lead.id }] });
    const taken = await api.post(LEADS, {
      first_name: 'Ada',
      custom_fields: { badge: 'A1', age: 9 },
    });
    expectError(taken, 409, 'duplicate');
  });

  it('is refused if a definition does not allow a value of it, and not if it lacks a required one', async () => {
    const lead = await deletedLead({ custom_fields: { age: 'old' } });
    const definition = { key: 'age', type: 'number' };
    const { id } = dataOf<Row>(await api.post('/api/v1/custom-fields', definition), 201);
    const required = { key: 'roof', type: 'text', required: true };
    dataOf(await api.post('/api/v1/custom-fields', required), 201);
    const refused = await restore(LEADS, lead.id);
    expectError(refused, 409, 'definition_conflicts');
    expect(errorOf(refused).details).toMatchObject([{ field: 'custom_fields.age' }]);
    dataOf(await api.delete(`/api/v1/custom-fields/${id}`));
    expect(await restoreLead(lead.id)).toMatchObject({ custom_fields: { age: 'old' } });
  });

  it('is refused if it was merged, with the lead that has taken it in, and is not listed', async () => {
    const [one, two, three] = [await createLead(api), await createLead(api), await createLead(api)];
    const merge = async (target: LeadRecord, source: LeadRecord) =>
      dataOf(await api.post(`${LEADS}/${target.id}/merge`, { lead_id: source.id }));
    const expectMerged = async (headers = {}) => {
      const refused = await restore(LEADS, one.id, headers);
      expectError(refused, 409, 'merged');
      expect(errorOf(refused).details).toMatchObject([{ field: 'id', merged_into: three.id }]);
    };
    await merge(two, one);
    await merge(three, two);
    await expectMerged();
    await expectMerged({ 'Idempotency-Key': 'merged' });
    await deleteRecord(LEADS, three.id);
    await expectMerged();
    expect(await idsByCursor(api, LEADS, DELETED)).toEqual([three.id]);
    const writer = await app.key(tenant.id, ['leads:write']);
    const refused = await writer.api.post(`${LEADS}/${one.id}/restore`, undefined);
    expectError(refused, 409, 'merged');
    expect(errorOf(refused).details).toBeUndefined();
    expect(await getLead(api, (await restoreLead(three.id)).id)).toMatchObject({ id: three.id });
  });

  it('is not found after an erasure', async () => {
    const lead = await deletedLead();
    dataOf(await api.post(`${LEADS}/${lead.id}/erase`, undefined));
    expectError(await restore(LEADS, lead.id), 404, 'not_found');
    expect(await idsByCursor(api, LEADS, DELETED)).toEqual([]);
  });

  it('that is erased at the same time is gone, and its last event is a deletion or none', async () => {
    for (let round = 0; round < 5; round++) {
      const lead = await deletedLead();
      const [restored, erased] = await Promise.all([
        restore(LEADS, lead.id),
        api.post(`${LEADS}/${lead.id}/erase`, undefined),
      ]);
      dataOf(erased);
      const types = ['lead.created', 'lead.deleted'];
      if (restored.status === 200) types.push('lead.updated', 'lead.deleted');
      else expectError(restored, 404, 'not_found');
      expectError(await api.get(`${LEADS}/${lead.id}`), 404, 'not_found');
      const events = async () => {
        const all = await api.get('/api/v1/events?limit=100');
        const data = dataOf<{ type: string; record: { id: string } }[]>(all);
        return data.filter(({ record }) => record.id === lead.id).map(({ type }) => type);
      };
      await until(async () => (await events()).length === types.length);
      expect(await events()).toEqual(types);
    }
  });

  it('that a lead with its phone is created beside is one of both', async () => {
    for (let round = 0; round < 5; round++) {
      const lead = await deletedLead();
      const [restored, created] = await Promise.all([
        restore(LEADS, lead.id),
        api.post(LEADS, buildLead({ phone: lead.phone })),
      ]);
      const statuses = [restored.status, created.status];
      expect([JSON.stringify([200, 409]), JSON.stringify([409, 201])]).toContain(
        JSON.stringify(statuses),
      );
    }
  });

  it('is sent to webhooks that choose changes of a field which it has', async () => {
    const lead = await deletedLead({ city: 'Oslo' });
    const webhook = async (changed: string) => {
      const body = {
        url: 'https://receiver.invalid/x',
        types: ['lead.updated'],
        changed: [changed],
      };
      return dataOf<Row>(await api.post('/api/v1/webhooks', body), 201).id;
    };
    const [ofCity, ofPhone] = [await webhook('city'), await webhook('phone')];
    await restoreLead(lead.id);
    const deliveries = async (id: string) =>
      dataOf<object[]>(await api.get(`/api/v1/webhooks/${id}/deliveries`));
    await until(async () => (await deliveries(ofCity)).length > 0);
    expect(await deliveries(ofCity)).toMatchObject([{ type: 'lead.updated', record_id: lead.id }]);
    expect(await deliveries(ofPhone)).toEqual([]);
  });
});

describe('a restored task', () => {
  it('keeps its contact, also if that lead is deleted', async () => {
    const lead = await createLead(api);
    const task = await createTask({ contact_id: lead.id });
    await deleteRecord(TASKS, task.id);
    await deleteRecord(LEADS, lead.id);
    expect(dataOf(await restore(TASKS, task.id))).toMatchObject({ contact_id: lead.id });
    const { body } = await api.get(`${TASKS}/${task.id}?include=lead`);
    expect(body).toMatchObject({ data: { lead: null } });
  });

  it('is overdue at a due_date that is still ahead, and not at one that has passed', async () => {
    const [ahead, passed] = [
      await createTask({ due_date: '2099-01-01T00:00:00Z' }),
      await createTask({ due_date: '2020-01-01T00:00:00Z' }),
    ];
    for (const { id } of [ahead, passed]) {
      await deleteRecord(TASKS, id);
      dataOf(await restore(TASKS, id));
    }
    const moments = 'select record_id from scheduled_events where organization_id = $1';
    expect(await app.sql(moments, [tenant.id])).toEqual([{ record_id: ahead.id }]);
  });

  it('of an erased lead has neither its texts nor its contact', async () => {
    const lead = await createLead(api);
    const task = await createTask({ contact_id: lead.id, title: 'Call Ada' });
    await deleteRecord(TASKS, task.id);
    dataOf(await api.post(`${LEADS}/${lead.id}/erase`, undefined));
    const restored = dataOf(await restore(TASKS, task.id));
    expect(restored).toMatchObject({ title: 'erased', contact_id: null });
  });
});
