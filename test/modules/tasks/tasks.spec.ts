import {
  createLead,
  dataOf,
  errorOf,
  expectError,
  expectInvalid,
} from '../../../src/testing/factories.js';
import { TestServer } from '../../../src/testing/test-server.js';
import type { Tenant } from '../../../src/testing/test-server.js';

interface Task {
  id: string;
  title: string;
  priority: string;
  due_date: string | null;
  contact_id: string | null;
  created_at: string;
  updated_at: string;
  created_by_user_id: string | null;
  assigned_to_user_id: string | null;
  status: string;
}

const TASKS = '/api/v1/tasks';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const USER = '11111111-2222-4333-8444-555555555555';

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
});

const create = async ({ api }: Tenant, fields: object = {}) =>
  dataOf<Task>(await api.post(TASKS, { title: 'Call', ...fields }), 201);
const put = (id: string, changes: object) => tenant.api.put(`${TASKS}/${id}`, changes);

describe('the contact of a task', () => {
  it('must be a lead of the organization that is not deleted, or the answer is lead_not_found', async () => {
    const stranger = await app.organization();
    const foreign = await createLead(stranger.api);
    const deleted = await createLead(tenant.api);
    await tenant.api.delete(`/api/v1/leads/${deleted.id}`);
    const { id } = await create(tenant);
    for (const contact_id of [UNKNOWN, foreign.id, deleted.id]) {
      const created = await tenant.api.post(TASKS, { title: 'Call', contact_id });
      const changed = await put(id, { contact_id });
      for (const answer of [created, changed]) {
        expectError(answer, 404, 'lead_not_found');
        expect(errorOf(answer)).toMatchObject({
          message: expect.stringContaining('contact_id') as string,
          details: [{ field: 'contact_id' }],
        });
      }
    }
    expect(dataOf<Task>(await tenant.api.get(`${TASKS}/${id}`)).contact_id).toBeNull();
  });

  it('may be repeated by an update after the lead was deleted', async () => {
    const lead = await createLead(tenant.api);
    const task = await create(tenant, { contact_id: lead.id });
    await tenant.api.delete(`/api/v1/leads/${lead.id}`);
    const answer = await put(task.id, { contact_id: lead.id.toUpperCase(), title: 'Write' });
    expect(dataOf<Task>(answer)).toMatchObject({ contact_id: lead.id, title: 'Write' });
    const cleared = dataOf<Task>(await put(task.id, { contact_id: null }));
    expect(cleared.contact_id).toBeNull();
    expectError(await put(task.id, { contact_id: lead.id }), 404, 'lead_not_found');
  });

  it('is not looked up for an unknown task, which is not_found', async () => {
    expectError(await put(UNKNOWN, { contact_id: UNKNOWN }), 404, 'not_found');
  });
});

describe('the users of a task', () => {
  it('created_by_user_id is the user of the key, or null', async () => {
    const key = await app.key(tenant.id, undefined, { userId: USER });
    expect((await create(key)).created_by_user_id).toBe(USER);
    expect((await create(tenant)).created_by_user_id).toBeNull();
  });

  it('assigned_to_user_id accepts any UUID', async () => {
    const task = await create(tenant, { assigned_to_user_id: USER });
    expect(task.assigned_to_user_id).toBe(USER);
  });
});

describe('deleting a task', () => {
  it('makes it not_found on every route, including a second DELETE', async () => {
    const { id } = await create(tenant, { title: 'Gone' });
    const answer = await tenant.api.delete(`${TASKS}/${id}`);
    expect(answer).toMatchObject({ status: 200, body: { data: { id, deleted: true } } });
    expectError(await tenant.api.get(`${TASKS}/${id}`), 404, 'not_found');
    expectError(await put(id, { title: 'Back' }), 404, 'not_found');
    expectError(await tenant.api.delete(`${TASKS}/${id}`), 404, 'not_found');
    const { body } = await tenant.api.get(`${TASKS}?limit=100`);
    expect(body.data).not.toContainEqual(expect.objectContaining({ id }));
  });
});

describe('status', () => {
  it('changes from any value to any other', async () => {
    const statuses = ['open', 'in_progress', 'completed', 'cancelled'];
    const { id } = await create(tenant);
    for (const status of statuses.flatMap((from) => statuses.flatMap((to) => [from, to]))) {
      expect(dataOf<Task>(await put(id, { status })).status).toBe(status);
    }
  });
});

describe('lists', () => {
  const PRIORITIES = ['low', 'medium', 'high', 'urgent'];
  let owner: Tenant;
  let tasks: Task[];
  let contact: string;

  beforeAll(async () => {
    owner = await app.organization();
    contact = (await createLead(owner.api)).id;
    tasks = [];
    for (let n = 0; n < 16; n++) {
      tasks.push(
        await create(owner, {
          priority: PRIORITIES[(n * 7) % 4],
          status: n % 3 === 0 ? 'completed' : 'open',
          due_date: n % 4 === 0 ? null : `2026-06-0${1 + (n % 3)}`,
          contact_id: n % 5 === 0 ? contact : null,
          assigned_to_user_id: n % 2 === 0 ? USER : null,
        }),
      );
    }
  });

  const list = async (query: string) =>
    (await owner.api.get(`${TASKS}?${query}`)).body as { data: Task[]; meta: { total: number } };
  const ids = (records: { id: string }[]) => records.map(({ id }) => id);

  /**
   * Sorts by key, then by id, in the same direction. Tasks without a value are last in both directions
   * (docs/contract/lists.md#sorting).
   */
  const ordered = (key: (task: Task) => string | number | null, direction: 1 | -1) =>
    tasks.toSorted((a, b) => {
      const [x, y] = [key(a), key(b)];
      if ((x === null) !== (y === null)) return x === null ? 1 : -1;
      if (x !== y) return x! < y! ? -direction : direction;
      return a.id < b.id ? -direction : direction;
    });

  it.each([
    ['created_at', (task: Task) => task.created_at],
    ['due_date', (task: Task) => task.due_date],
    ['updated_at', (task: Task) => task.updated_at],
    ['priority', (task: Task) => PRIORITIES.indexOf(task.priority)],
  ] as const)('are sorted by %s in both directions and across pages', async (name, key) => {
    for (const [direction, sign] of [
      ['asc', 1],
      ['desc', -1],
    ] as const) {
      const pages = await Promise.all(
        [1, 2, 3, 4].map((page) =>
          list(`sort_by=${name}&sort_dir=${direction}&limit=5&page=${page}`),
        ),
      );
      expect(pages.flatMap(({ data }) => ids(data))).toEqual(ids(ordered(key, sign)));
    }
  });

  it('are sorted by created_at desc by default', async () => {
    const newest = ordered((task) => task.created_at, -1);
    expect(ids((await list('')).data)).toEqual(ids(newest));
  });

  it.each([
    ['status=completed', (task: Task) => task.status === 'completed'],
    [`assigned_to=${USER}`, (task: Task) => task.assigned_to_user_id === USER],
    ['due_before=2026-06-02', (task: Task) => task.due_date?.startsWith('2026-06-01') ?? false],
    ['due_after=2026-06-03', (task: Task) => task.due_date?.startsWith('2026-06-03') ?? false],
    [
      'due_after=2026-06-02&due_before=2026-06-03',
      (task: Task) => task.due_date?.startsWith('2026-06-02') ?? false,
    ],
    ['priority=urgent', (task: Task) => task.priority === 'urgent'],
    [
      'priority=high&status=open',
      (task: Task) => task.priority === 'high' && task.status === 'open',
    ],
    [
      `status=open&assigned_to=${USER}&due_before=2026-06-04`,
      (task: Task) =>
        task.status === 'open' && task.assigned_to_user_id === USER && task.due_date !== null,
    ],
  ] as [string, (task: Task) => boolean][])('can be filtered by %s', async (query, matches) => {
    const expected = tasks.filter(matches);
    const { data, meta } = await list(query);
    expect(ids(data).sort()).toEqual(ids(expected).sort());
    expect(meta.total).toBe(expected.length);
  });

  it('can be filtered by created_at and updated_at', async () => {
    const [one, two] = await Promise.all([create(tenant), create(tenant)]);
    const times = ['2026-03-01T00:00:00.001Z', '2026-03-01T00:00:00.002Z'];
    for (const [index, { id }] of [one, two].entries()) {
      const sql = 'update tasks set created_at = $1, updated_at = $1 where id = $2';
      await app.sql(sql, [times[index], id]);
    }
    const found = async (query: string) => {
      const { body } = await tenant.api.get(`${TASKS}?${query}`);
      return ids((body as { data: Task[] }).data).filter((id) => [one.id, two.id].includes(id));
    };
    const both = expect.arrayContaining([one.id, two.id]) as string[];
    for (const filter of ['created_after', 'updated_after']) {
      expect(await found(`${filter}=${times[0]}`)).toEqual(both);
      expect(await found(`${filter}=${times[1]}`)).toEqual([two.id]);
    }
    expect(await found(`updated_before=${times[1]}`)).toEqual([one.id]);
  });

  it('can be filtered by contact', async () => {
    const { data } = await list(`contact_id=${contact}`);
    const expected = tasks.filter((task) => task.contact_id === contact);
    expect(ids(data).sort()).toEqual(ids(expected).sort());
  });

  it.each([
    'status=done',
    'assigned_to=me',
    'contact_id=x',
    'due_before=soon',
    'due_after=later',
    'created_after=now',
    'created_before=2026-01-01',
    'updated_after=x',
    'updated_before=2026-02-30',
    'sort_by=title',
    'priority=lowest',
    'priority=low&priority=high',
    'limit=0',
  ])('reject and name the parameter of %s', async (query) => {
    expectInvalid(await owner.api.get(`${TASKS}?${query}`), query.split('=')[0]!);
  });

  describe('with a filter that the changed tasks no longer match', () => {
    let all: string[];
    const read = async (query: string) => {
      return ids((await list(`status=open&sort_dir=asc&limit=10&${query}`)).data);
    };
    const complete = async (tasks: readonly string[]) => {
      for (const id of tasks) {
        dataOf(await owner.api.put(`${TASKS}/${id}`, { status: 'completed' }));
      }
    };

    beforeEach(async () => {
      owner = await app.organization();
      all = [];
      for (let n = 0; n < 25; n++) all.push((await create(owner)).id);
    });

    it('move to earlier pages, so that a loop over pages skips some', async () => {
      for (const page of [1, 2, 3]) await complete(await read(`page=${page}`));
      expect(await read('page=1')).toEqual(all.slice(10, 20));
    });

    it('are all read by a loop over pages before the first change', async () => {
      const found: string[] = [];
      for (const page of [1, 2, 3]) found.push(...(await read(`page=${page}`)));
      expect(found).toEqual(all);
    });

    it('are all read by a loop over page 1', async () => {
      const found: string[] = [];
      for (let page = await read('page=1'); page.length > 0; page = await read('page=1')) {
        found.push(...page);
        await complete(page);
      }
      expect(found).toEqual(all);
    });
  });
});
