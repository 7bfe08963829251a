import fc from 'fast-check';
import { eventIdOf } from '../../src/modules/events/event-id.js';
import { EventPublisher } from '../../src/modules/events/event-publisher.js';
import { LeadsService } from '../../src/modules/leads/leads.service.js';
import { CreateLeadDto } from '../../src/modules/leads/lead.dto.js';
import { TenantDatabase } from '../../src/platform/data/gateway/tenant-database.js';
import { readInput } from '../../src/platform/fields/input/read-input.js';
import { LatitudeClient, type SyncPage, type SyncState } from '../../src/client/index.js';
import {
  createLead,
  dataOf,
  LEADS,
  type LeadRecord,
  updateLead,
} from '../../src/testing/factories.js';
import { TestApp } from '../../src/testing/test-app.js';
import type { Tenant } from '../../src/testing/test-server.js';

interface Copied {
  readonly id: string;
}

const TASKS = '/api/v1/tasks';
const APPOINTMENTS = '/api/v1/appointments';

let app: TestApp;
let tenant: Tenant;
let client: LatitudeClient;

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  tenant = await app.organization();
  client = new LatitudeClient({ baseUrl: app.url, apiKey: tenant.key.key });
});
afterAll(() => app.stop());

/** A copy of the records of a list, as a caller of `sync` keeps it. */
class Copy {
  state: SyncState | undefined;
  readonly pages: SyncPage<Copied>[] = [];
  private readonly records = new Map<string, Copied>();

  /** Applies a page, and stores its state as JSON. */
  apply(page: SyncPage<Copied>): void {
    for (const id of page.deleted) this.records.delete(id);
    for (const record of page.changed) this.records.set(record.id, record);
    this.state = JSON.parse(JSON.stringify(page.state)) as SyncState;
    this.pages.push(page);
  }

  /** Continues from the stored state, to the end or for a number of pages. @returns whether it came to the end */
  async sync(resource: LatitudeClient['leads' | 'tasks' | 'appointments'], pages = Infinity) {
    let applied = 0;
    for await (const page of resource.sync(this.state)) {
      this.apply(page);
      if (++applied === pages) return false;
    }
    return true;
  }

  get sorted(): Copied[] {
    return [...this.records.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

/** Publishes the events of all committed changes. */
const publish = () => app.app.get(EventPublisher).publish();

/** All records of a list of the server, in the order of their ids. */
async function recordsOf(path: string, page = 1): Promise<Copied[]> {
  const { body } = await tenant.api.get(`${path}?fields=*&limit=100&page=${page}`);
  const { data, meta } = body as { data: Copied[]; meta: { total_pages: number } };
  const others = page < meta.total_pages ? await recordsOf(path, page + 1) : [];
  return [...data, ...others].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Creates, changes and deletes leads, some of which other writers change or delete at the same time. */
async function write(random: () => number, steps: number, shared: string[]): Promise<void> {
  for (let step = 0; step < steps; step++) {
    const id = shared[Math.floor(random() * shared.length)];
    const action = random();
    if (action < 0.4 || id === undefined) {
      shared.push((await createLead(tenant.api, { notes: `${step}`, tags: ['new'] })).id);
    } else if (action < 0.75) {
      await tenant.api.put(`${LEADS}/${id}`, { notes: `${random()}` });
    } else {
      await tenant.api.delete(`${LEADS}/${id}`);
    }
  }
}

describe('client.leads.sync()', () => {
  it('beside 16 writers and deleters, ends with exactly the records of the server', async () => {
    const shared: string[] = [];
    const create = { action: 'create', data: { first_name: 'Ada' } } as const;
    for (let i = 0; i < 3; i++) {
      const { data } = await client.leads.batch(Array.from({ length: 80 }, () => create));
      shared.push(...data.map(({ id }) => id!));
    }
    const [seed] = fc.sample(fc.integer(), 1);
    let value = seed!;
    const random = () => {
      value = (Math.imul(value, 1_664_525) + 1_013_904_223) | 0;
      return (value >>> 0) / 2 ** 32;
    };
    const writing = { isOver: false };
    const writers = Promise.all(
      Array.from({ length: 16 }, () => write(random, 25, shared)),
    ).finally(() => (writing.isOver = true));
    const copy = new Copy();
    // Each page by a reader of its own, which continues from the stored state.
    while (!writing.isOver) await copy.sync(client.leads, 1);
    await writers;
    await publish();
    await copy.sync(client.leads);
    expect(copy.sorted).toEqual(await recordsOf(LEADS));
    expect(copy.pages.some(({ deleted }) => deleted.length > 0)).toBe(true);
  });

  it('has a lead whose transaction began before the list was read and committed after it', async () => {
    await createLead(tenant.api);
    const copy = new Copy();
    const call = await app.call(tenant);
    const { value } = readInput(CreateLeadDto, { first_name: 'Late' });
    const late = await app.app.get(TenantDatabase).transaction(call, async (inner) => {
      const lead = await app.app.get(LeadsService).create(inner, value);
      await createLead(tenant.api);
      expect(await copy.sync(client.leads)).toBe(true);
      expect(copy.sorted).toHaveLength(2);
      return lead;
    });
    await publish();
    await copy.sync(client.leads);
    expect(copy.sorted.map(({ id }) => id)).toContain(late.id);
    expect(copy.sorted).toEqual(await recordsOf(LEADS));
  });

  it('reads every field, and only what has changed the next time', async () => {
    const lead = await createLead(tenant.api, { tags: ['roof'], custom_fields: { a: [1] } });
    await publish();
    const copy = new Copy();
    await copy.sync(client.leads);
    expect(copy.sorted).toEqual([lead]);
    const read = copy.pages.length;

    await copy.sync(client.leads);
    expect(copy.pages.slice(read).map(({ changed }) => changed)).toEqual([[]]);

    await updateLead(tenant.api, lead.id, { notes: 'first' });
    const changed = await updateLead(tenant.api, lead.id, { notes: 'second' });
    await publish();
    await copy.sync(client.leads);
    // A page has each record once, with its last state.
    expect(copy.pages.at(-1)).toMatchObject({ changed: [changed], deleted: [] });

    await tenant.api.delete(`${LEADS}/${lead.id}`);
    await publish();
    await copy.sync(client.leads);
    expect(copy.pages.at(-1)).toMatchObject({ changed: [], deleted: [lead.id] });
    expect(copy.sorted).toEqual([]);
  });

  it('yields the state of an empty organization, from which it continues', async () => {
    const copy = new Copy();
    await copy.sync(client.leads);
    expect(copy.sorted).toEqual([]);
    const lead: LeadRecord = await createLead(tenant.api);
    await publish();
    await copy.sync(client.leads);
    expect(copy.sorted).toEqual([lead]);
  });

  it('rejects when the events of its state are no longer stored', async () => {
    await createLead(tenant.api);
    await app.sql('update event_position set expired_before = 1000000000');
    await publish();
    const failure = client.leads.sync({ events: eventIdOf(1e9 - 1) }).next();
    await expect(failure).rejects.toMatchObject({ code: 'cursor_expired', status: 410 });
  });

  it('rejects for a key without events:read', async () => {
    const { key } = await app.key(tenant.id, ['leads:read']);
    const limited = new LatitudeClient({ baseUrl: app.url, apiKey: key.key });
    await expect(limited.leads.sync().next()).rejects.toMatchObject({ code: 'insufficient_scope' });
  });
});

describe('client.tasks.sync() and client.appointments.sync()', () => {
  it('end with the records of the server', async () => {
    const lead = await createLead(tenant.api);
    const times = { start_time: '2026-05-04T09:00:00Z', end_time: '2026-05-04T10:00:00Z' };
    const create = async (path: string, body: object) =>
      dataOf<Copied>(await tenant.api.post(path, body), 201);
    const tasks = [await create(TASKS, { title: 'a' }), await create(TASKS, { title: 'b' })];
    const appointment = await create(APPOINTMENTS, { lead_id: lead.id, ...times });
    const [ofTasks, ofAppointments] = [new Copy(), new Copy()];
    const sync = async () => {
      await publish();
      await ofTasks.sync(client.tasks);
      await ofAppointments.sync(client.appointments);
      expect(ofTasks.sorted).toEqual(await recordsOf(TASKS));
      expect(ofAppointments.sorted).toEqual(await recordsOf(APPOINTMENTS));
    };
    await sync();
    await tenant.api.put(`${TASKS}/${tasks[0]!.id}`, { status: 'completed' });
    await tenant.api.delete(`${TASKS}/${tasks[1]!.id}`);
    await tenant.api.delete(`${APPOINTMENTS}/${appointment.id}`);
    await create(TASKS, { title: 'c' });
    await create(APPOINTMENTS, { lead_id: lead.id, ...times });
    await sync();
    expect(ofAppointments.sorted).toMatchObject([{ status: 'cancelled' }, { status: 'scheduled' }]);
  });
});
