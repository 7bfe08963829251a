import type { ApiClient } from '../../../../src/testing/api-client.js';
import {
  createLead,
  dataOf,
  expectError,
  expectInvalid,
  errorOf,
  LEADS,
  type LeadRecord,
} from '../../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';

const TASKS = '/api/v1/tasks';
const APPOINTMENTS = '/api/v1/appointments';
const HOUR_MS = 3_600_000;

type Row = Record<string, unknown> & { id: string };

let server: TestServer;
let tenant: Tenant;
let api: ApiClient;
let ada: LeadRecord;
let grace: LeadRecord;
let deleted: LeadRecord;
/** The appointments and tasks with the lead of each. */
let appointments: Map<string, LeadRecord | null>;
let tasks: Map<string, LeadRecord | null>;

/** An appointment that begins so many hours from now. */
async function book(lead_id: string, hours: number, more: object = {}): Promise<Row> {
  const start = Date.now() + hours * HOUR_MS;
  const [start_time, end_time] = [start, start + HOUR_MS].map((time) => new Date(time));
  return dataOf(await api.post(APPOINTMENTS, { lead_id, start_time, end_time, ...more }), 201);
}

async function addTask(contact_id: string | null, more: object = {}): Promise<Row> {
  return dataOf(await api.post(TASKS, { title: 'Call', contact_id, ...more }), 201);
}

/** All items of a list by both ways of paging, in pages of two. They must be the same. */
async function itemsOf(path: string, query: string, client = api): Promise<Row[]> {
  const read = async (first: string, next: (meta: Row, page: number) => string | undefined) => {
    const items: Row[] = [];
    for (let part: string | undefined = first, page = 1; part !== undefined; page++) {
      const answer = await client.get(`${path}?${query}&limit=2&${part}`);
      items.push(...dataOf<Row[]>(answer));
      expect(answer.headers.get('etag')).toBeNull();
      part = next((answer.body as { meta: Row }).meta, page);
    }
    return items;
  };
  const paged = await read('sort_by=created_at&sort_dir=asc&page=1', ({ total_pages }, page) =>
    page < Number(total_pages) ? `sort_by=created_at&sort_dir=asc&page=${page + 1}` : undefined,
  );
  const byCursor = await read('after=', ({ next, has_more }) =>
    has_more === true ? `after=${String(next)}` : undefined,
  );
  expect(byCursor).toEqual(paged);
  return paged;
}

beforeAll(async () => {
  server = await TestServer.shared();
  tenant = await server.organization();
  ({ api } = tenant);
  ada = await createLead(api, { email: 'ada@example.com', notes: 'secret', tags: ['x'] });
  grace = await createLead(api, { first_name: 'Grace' });
  deleted = await createLead(api, { first_name: 'Gone' });
  appointments = new Map([
    [(await book(ada.id, 5)).id, ada],
    [(await book(deleted.id, 6)).id, null],
    [(await book(grace.id, -3)).id, grace],
  ]);
  tasks = new Map([
    [(await addTask(ada.id)).id, ada],
    [(await addTask(null)).id, null],
    [(await addTask(deleted.id)).id, null],
    [(await addTask(grace.id, { status: 'completed' })).id, grace],
  ]);
  dataOf(await api.delete(`${LEADS}/${deleted.id}`));
});

describe('include=lead', () => {
  it.each(['appointments', 'tasks'])('adds the lead as in a list of leads: %s', async (name) => {
    const [path, leads] = name === 'tasks' ? [TASKS, tasks] : [APPOINTMENTS, appointments];
    const ofList = new Map((await itemsOf(LEADS, '')).map((item) => [item.id, item]));
    expect(Object.keys(ofList.get(ada.id)!)).toHaveLength(11);
    const items = await itemsOf(path, 'include=lead');
    expect(items).toHaveLength(leads.size);
    const plain = await itemsOf(path, '');
    for (const [index, { lead, ...item }] of items.entries()) {
      const expected = leads.get(item.id);
      expect(lead).toEqual(expected ? ofList.get(expected.id) : null);
      expect(item).toEqual(plain[index]);
      const answer = await api.get(`${path}/${item.id}?include=lead`, {
        headers: { 'If-None-Match': '*' },
      });
      expect(dataOf(answer)).toEqual({ ...item, lead });
      expect(answer.headers.get('etag')).toBeNull();
    }
    const some = await itemsOf(path, 'include=lead&fields=updated_at&status=completed');
    for (const item of some) expect(Object.keys(item)).toEqual(['id', 'updated_at', 'lead']);
    expect(some).toHaveLength(name === 'tasks' ? 1 : 0);
    const sole = await api.get(`${path}/${items[0]!.id}?include=`);
    expect(dataOf(sole)).toEqual(plain[0]);
    expect(sole.headers.get('etag')).not.toBeNull();
  });

  it('is 404 for a record that does not exist, or is that of another organization', async () => {
    const other = await server.organization();
    for (const [path, [id]] of [
      [TASKS, tasks.keys()],
      [APPOINTMENTS, appointments.keys()],
    ] as const) {
      expectError(await other.api.get(`${path}/${id!}?include=lead`), 404, 'not_found');
      expectError(await other.api.get(`${path}/${ada.id}?include=lead`), 404, 'not_found');
    }
  });
});

describe('include=next_appointment,open_task_count', () => {
  it('adds the earliest future appointment that will take place, and the number of open tasks', async () => {
    const us = await server.organization();
    api = us.api;
    const busy = await createLead(api, { first_name: 'Busy' });
    const idle = await createLead(api, { first_name: 'Idle' });
    const late = await book(busy.id, 4, { status: 'confirmed', type: 'Visit' });
    await book(busy.id, 1, { status: 'cancelled' });
    await book(busy.id, -1);
    await book(busy.id, 9);
    await book(idle.id, 2, { status: 'no_show' });
    for (const status of ['open', 'in_progress', 'completed', 'cancelled']) {
      await addTask(busy.id, { status });
    }
    dataOf(await api.delete(`${TASKS}/${(await addTask(busy.id)).id}`));
    const { id, start_time, end_time } = late;
    const next_appointment = { id, start_time, end_time, type: 'Visit', status: 'confirmed' };
    const expected = [
      { id: busy.id, next_appointment, open_task_count: 2 },
      { id: idle.id, next_appointment: null, open_task_count: 0 },
    ];
    const query = 'include=next_appointment,%20open_task_count';
    expect(await itemsOf(LEADS, `${query}&fields=id`)).toEqual(expected);
    expect(await itemsOf(LEADS, `${query}&search=idle&fields=id`)).toEqual(expected.slice(1));
    const plain = await itemsOf(LEADS, '');
    expect(await itemsOf(LEADS, query)).toEqual(
      plain.map((item, index) => ({ ...item, ...expected[index] })),
    );
    ({ api } = tenant);
  });
});

describe('include', () => {
  it('needs the read scope of the records', async () => {
    const cases = [
      [TASKS, 'lead', ['tasks:read'], 'leads:read'],
      [APPOINTMENTS, 'lead', ['appointments:read'], 'leads:read'],
      [LEADS, 'next_appointment', ['leads:read', 'tasks:read'], 'appointments:read'],
      [LEADS, 'open_task_count', ['leads:read', 'appointments:read'], 'tasks:read'],
    ] as const;
    for (const [path, include, scopes, missing] of cases) {
      const { api: limited } = await server.key(tenant.id, scopes);
      const answer = await limited.get(`${path}?include=${include}`);
      expectError(answer, 403, 'insufficient_scope');
      expect(errorOf(answer).message).toContain(missing);
      dataOf(await limited.get(path));
      if (include !== 'lead') continue;
      const [id] = (path === TASKS ? tasks : appointments).keys();
      const ofOne = await limited.get(`${path}/${id!}?include=lead`);
      expectError(ofOne, 403, 'insufficient_scope');
    }
  });

  it('refuses what it does not know', async () => {
    const [task] = tasks.keys();
    const wrong = ['Lead', 'lead,', 'lead,tasks', 'contact', '__proto__', '%00'];
    for (const include of wrong) {
      expectInvalid(await api.get(`${TASKS}?include=${include}`), 'include');
      expectInvalid(await api.get(`${TASKS}/${task!}?include=${include}`), 'include');
      expectInvalid(await api.get(`${APPOINTMENTS}?include=${include}`), 'include');
    }
    expectInvalid(await api.get(`${LEADS}?include=lead`), 'include');
    expectInvalid(await api.get(`${LEADS}/${ada.id}?include=open_task_count`), 'include');
    expectInvalid(await api.get(`${TASKS}/${task!}?fields=id`), 'fields');
    expectInvalid(await api.get(`${LEADS}/counts?by=status&include=open_task_count`), 'include');
    expectInvalid(await api.get(`${LEADS}/export?include=open_task_count`), 'include');
  });
});
