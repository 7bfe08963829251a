import { etagOf, type LeadFilter, LatitudeClient } from '../../src/client/index.js';
import type { SearchableFields } from '../../src/client/filters.js';
import type { LeadCountBy } from '../../src/client/types.js';
import { APPOINTMENTS } from '../../src/modules/appointments/appointment.dto.js';
import { LEAD_GROUPINGS, LEADS } from '../../src/modules/leads/lead.dto.js';
import { TASKS } from '../../src/modules/tasks/task.dto.js';
import { groupingNames } from '../../src/platform/data/lists/grouping.js';
import { TestApp } from '../../src/testing/test-app.js';
import { until } from '../support/servers/product.js';

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

/** Collects what a generator yields. */
async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

describe('the types of filters', () => {
  const TARGETS = { lead: LEADS, appointment: APPOINTMENTS, task: TASKS };
  type Names = { [Kind in keyof SearchableFields]: Record<SearchableFields[Kind], true> };
  const SEARCHABLE: Names = {
    lead: {
      ...{ first_name: true, last_name: true, company: true, email: true, phone: true },
      ...{ city: true, zip: true },
    },
    appointment: { type: true, location: true },
    task: { title: true },
  };

  it.each(['lead', 'appointment', 'task'] as const)(
    'know which fields of a %s are searchable and which are times',
    (kind) => {
      const fields = [...TARGETS[kind].fields.values()];
      const searchable = fields.filter((field) => field.isSearchable).map(({ name }) => name);
      expect(searchable.sort()).toEqual(Object.keys(SEARCHABLE[kind]).sort());
      // The pattern of `TimeName`.
      const times = fields.filter(({ name }) => /_(at|date|time)$/.test(name));
      expect(times).toEqual(fields.filter((field) => field.kind === 'time'));
    },
  );

  it('know what leads are counted by', () => {
    const known = [
      ...['status', 'temperature', 'source', 'tag', 'city', 'created_day', 'created_week'],
      ...['created_month', 'custom_fields.KEY'],
    ] as const satisfies readonly LeadCountBy[];
    expect(groupingNames(LEAD_GROUPINGS)).toEqual(known);
  });
});

describe('a filter as an object', () => {
  it('selects the same records in a list, an iteration, an export and counts', async () => {
    const roof = (roof_age: number) => ({ custom_fields: { roof_age } });
    const lead = { temperature: 'hot', city: 'Graz' } as const;
    const old = await client.leads.create({ first_name: 'Ada', ...lead, ...roof(30) });
    const busy = await client.leads.create({ first_name: 'Grace', ...lead, ...roof(40) });
    await client.leads.create({ first_name: 'Kurt', ...lead, ...roof(10) });
    await client.leads.create({ first_name: 'Øyvind & "Co"', temperature: 'hot', ...roof(30) });
    await client.tasks.create({ title: 'Call', contact_id: busy.id });
    const filter: LeadFilter = {
      temperature: 'hot',
      'custom_fields.roof_age': { gte: 20 },
      or: [{ city: 'Graz' }, { zip: { starts_with: '80' } }],
      tasks: { none: { status: 'open' } },
    };
    expect((await client.leads.list({ filter })).data).toMatchObject([{ id: old.id }]);
    expect((await client.leads.list({ filter, after: '' })).data).toMatchObject([{ id: old.id }]);
    expect(await all(client.leads.all({ filter, limit: 1 }))).toMatchObject([{ id: old.id }]);
    const file = await client.leads.export({ filter, format: 'ndjson' });
    expect(file.trim().split('\n')).toEqual([expect.stringContaining(old.id)]);
    expect(await client.leads.counts({ by: 'custom_fields.roof_age', filter })).toEqual({
      data: [{ value: 30, count: 1 }],
      meta: { total: 1, other: 0 },
    });
    const quoted = await client.leads.list({ filter: { first_name: 'Øyvind & "Co"' } });
    expect(quoted.meta.total).toBe(1);
  });

  it('selects tasks and appointments by their lead', async () => {
    const { id } = await client.leads.create({ first_name: 'Ada', temperature: 'hot' });
    const times = { start_time: '2026-03-02T10:00:00Z', end_time: '2026-03-02T11:00:00Z' };
    const visit = await client.appointments.create({ lead_id: id, ...times });
    const call = await client.tasks.create({ title: 'Call', contact_id: id, priority: 'high' });
    await client.tasks.create({ title: 'Order slate' });
    const filter = { lead: { temperature: 'hot' } } as const;
    expect((await client.tasks.list({ filter })).data).toMatchObject([{ id: call.id }]);
    expect((await client.appointments.list({ filter })).data).toMatchObject([{ id: visit.id }]);
    const counted = await client.tasks.counts({ by: 'priority', filter });
    expect(counted.data).toEqual([{ value: 'high', count: 1 }]);
    const days = await client.appointments.counts({ by: 'start_day', filter, time_zone: 'UTC' });
    expect(days.data).toEqual([{ value: '2026-03-02', count: 1 }]);
  });

  it('is refused by the server with the path of what is invalid', async () => {
    const filter = { or: [{ colour: 'red' }] } as unknown as LeadFilter;
    await expect(client.leads.list({ filter })).rejects.toMatchObject({
      code: 'validation_error',
      details: [{ field: 'filter.or[0].colour' }],
    });
  });
});

it('include adds related records to lists and to one record', async () => {
  const { id } = await client.leads.create({ first_name: 'Ada' });
  const { id: task } = await client.tasks.create({ title: 'Call', contact_id: id });
  const [lead] = (await client.leads.list({ include: 'next_appointment,open_task_count' })).data;
  expect(lead).toMatchObject({ id, next_appointment: null, open_task_count: 1 });
  expect((await client.tasks.list({ include: 'lead' })).data[0]?.lead?.first_name).toBe('Ada');
  expect((await client.tasks.get(task, { include: 'lead', maxAttempts: 1 })).lead?.id).toBe(id);
  expect(await client.tasks.get(task)).not.toHaveProperty('lead');
});

it('client.customFields creates, checks, lists, changes and deletes definitions', async () => {
  await client.leads.create({ first_name: 'Ada', custom_fields: { roof_age: 'old' } });
  const fields = { key: 'roof_age', type: 'number', label: 'Roof age' } as const;
  await expect(client.customFields.create({ ...fields, dry_run: true })).rejects.toMatchObject({
    code: 'definition_conflicts',
  });
  const { id } = await client.customFields.create({ ...fields, type: 'text' });
  await client.customFields.update(id, { filterable: true });
  expect(await client.customFields.get(id)).toMatchObject({ type: 'text', filterable: true });
  expect(await all(client.customFields.all())).toMatchObject([{ id, key: 'roof_age' }]);
  expect(await client.customFields.delete(id)).toEqual({ id, deleted: true });
  expect((await client.customFields.list()).meta.total).toBe(0);
});

it('client.leads.duplicates yields every group, whose merge can be tried and then made', async () => {
  const create = (email: string) => client.leads.create({ first_name: 'Ada', email });
  const ada = await create('ada@example.com');
  await create('ada+roof@example.com');
  await create('grace@example.com');
  await create('grace+roof@example.com');
  const groups = () => all(client.leads.duplicates({ limit: 1 }));
  await until(async () => (await groups()).length === 2);
  const group = (await groups()).find(({ leads }) => leads.some(({ id }) => id === ada.id))!;
  expect(group).toMatchObject({ total: 2, reasons: ['email'] });
  const [target, source] = group.leads.map(({ id }) => id) as [string, string];
  const merge = { lead_id: source, prefer: { email: 'source' } } as const;
  const preview = await client.leads.merge(target, { ...merge, dry_run: true });
  expect(preview).toMatchObject({ dry_run: true, moves: { appointments: 0, tasks: 0 } });
  expect(preview.would_answer.id).toBe(target);
  expect((await client.leads.list()).meta.total).toBe(4);
  expect((await client.leads.merge(target, merge)).id).toBe(target);
  expect((await client.leads.list()).meta.total).toBe(3);
});

it('client.leads and client.tasks list deleted records, and restore them', async () => {
  const { id } = await client.leads.create({ first_name: 'Ada' });
  const read = await client.leads.get(id);
  const { id: other } = await client.leads.create({ first_name: 'Grace' });
  await client.leads.delete(id);
  await client.leads.delete(other);
  const { data, meta } = await client.leads.deleted({ limit: 1 });
  expect(data).toMatchObject([{ id: other, deleted_at: expect.any(String) as string }]);
  const next = await client.leads.deleted({ after: meta.next });
  expect(next).toMatchObject({ data: [{ id, first_name: 'Ada' }], meta: { has_more: false } });
  const restored = await client.leads.restore(id, { ifMatch: etagOf(read) });
  expect(restored).toMatchObject({ id, first_name: 'Ada' });
  expect(etagOf(restored)).toBe(etagOf(await client.leads.get(id)));
  const task = await client.tasks.create({ title: 'Call' });
  await client.tasks.delete(task.id);
  expect((await client.tasks.deleted()).data[0]?.title).toBe('Call');
  expect((await client.tasks.restore(task.id)).title).toBe('Call');
});
