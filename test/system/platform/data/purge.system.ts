import pg from 'pg';
import { RecordRemoval } from '../../../../src/platform/data/records/record-removal.service.js';
import { ReferringRecords } from '../../../../src/platform/data/records/referring-records.service.js';
import { TenantDatabase } from '../../../../src/platform/data/gateway/tenant-database.js';
import { TenantEntity } from '../../../../src/platform/data/records/tenant-entity.js';
import type { TenantTables } from '../../../../src/platform/data/records/tenant-tables.service.js';
import { TenantRepository } from '../../../../src/platform/data/records/tenant-repository.js';
import { ChangeBus } from '../../../../src/platform/data/gateway/change-bus.js';
import { IdDto } from '../../../../src/platform/fields/id.dto.js';
import { EventFollower } from '../../../../src/modules/events/event-follower.js';
import { buildLead, createLead, dataOf, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { until } from '../../../support/servers/product.js';

const APPOINTMENTS = '/api/v1/appointments';
const TASKS = '/api/v1/tasks';
const MONTH_MS = 30 * 86_400_000;

@TenantEntity('organizations', { softDelete: false })
class Kept extends IdDto {}

class KeptRepository extends TenantRepository<Kept> {
  constructor(database: TenantDatabase) {
    super(database, Kept);
  }
}

interface Rows {
  leads: number;
  appointments: number;
  tasks: number;
  linked_tasks: number;
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

describe('purge', () => {
  it('covers every table with tenant records', () => {
    const { tables } = app.app.get(RecordRemoval);
    expect(tables).toEqual(expect.arrayContaining(['leads', 'appointments', 'tasks']));
  });

  it('removes an old deleted lead with its appointments, and sets contact_id of its tasks to null', async () => {
    const lead = await createLead(tenant.api);
    await makeAppointment(lead.id);
    await makeAppointment(lead.id);
    const task = await makeTask({ contact_id: lead.id });
    await remove(`${LEADS}/${lead.id}`, 31);

    expect(await purge()).toMatchObject({ leads: 1, appointments: 2, tasks: 0 });
    expect(await rows()).toEqual({ leads: 0, appointments: 0, tasks: 1, linked_tasks: 0 });
    const answer = await tenant.api.get(`${TASKS}/${task}`);
    expect(answer).toMatchObject({ status: 200, body: { data: { contact_id: null } } });
  });

  it('increases updated_at and changes the ETag of the tasks of a removed lead', async () => {
    const lead = await createLead(tenant.api);
    const task = await makeTask({ contact_id: lead.id });
    const recent = await makeTask({ contact_id: lead.id });
    // Simulates a change in the same millisecond, or by a server with a clock that is ahead.
    await app.sql(`update tasks set updated_at = '2999-01-01T00:00:00Z' where id = $1`, [recent]);
    await remove(`${LEADS}/${lead.id}`, 31);
    const before = await tenant.api.get(`${TASKS}/${task}`);

    await purge();
    const after = await tenant.api.get(`${TASKS}/${task}`);
    const [earlier, later] = [before, after].map((answer) => dataOf<Dated>(answer).updated_at);
    expect(later! > earlier!).toBe(true);
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
    const { updated_at } = dataOf<Dated>(await tenant.api.get(`${TASKS}/${recent}`));
    expect(updated_at).toBe('2999-01-01T00:00:00.001Z');
  });

  it('publishes the changes of the appointments and tasks of a removed lead', async () => {
    const lead = await createLead(tenant.api);
    const appointment = await makeAppointment(lead.id);
    const task = await makeTask({ contact_id: lead.id });
    await remove(`${LEADS}/${lead.id}`, 31);
    // The follower publishes each change once more when it reads the event of it.
    const follower = jest.spyOn(app.app.get(EventFollower), 'advance').mockResolvedValue();
    const changed: string[] = [];
    const changes = app.app.get(ChangeBus);
    for (const id of [appointment, task]) changes.subscribe(tenant.id, id, () => changed.push(id));

    await purge();
    expect(changed.sort()).toEqual([appointment, task].sort());
    follower.mockRestore();
  });

  it('removes old deleted tasks, and keeps their leads', async () => {
    const lead = await createLead(tenant.api);
    await remove(`${TASKS}/${await makeTask({ contact_id: lead.id })}`, 31);
    expect(await purge()).toMatchObject({ leads: 0, appointments: 0, tasks: 1 });
    expect(await rows()).toMatchObject({ leads: 1, tasks: 0 });
  });

  it('removes an old deleted resource with its holds and calendars, and sets resource_id of its appointments to null', async () => {
    const make = async (path: string, body: object) =>
      dataOf<{ id: string }>(await tenant.api.post(`/api/v1/${path}`, body), 201).id;
    const resource_id = await make('resources', { name: 'Crew' });
    const lead_id = (await createLead(tenant.api)).id;
    const [start_time, mid_time, end_time] = [9, 10, 11].map((hour) =>
      new Date(Date.UTC(2040, 0, 2, hour)).toISOString(),
    );
    const booked = { lead_id, resource_id, start_time, end_time: mid_time };
    const path = `${APPOINTMENTS}/${await make('appointments', booked)}`;
    await make('holds', { resource_id, start_time: mid_time, end_time, seconds: 900 });
    await make(`resources/${resource_id}/calendar`, {});
    await remove(`/api/v1/resources/${resource_id}`, 31);
    const before = await tenant.api.get(path);

    expect(await purge()).toMatchObject({ resources: 1, appointments: 0 });
    const after = await tenant.api.get(path);
    expect(dataOf(before)).toMatchObject({ resource_id });
    expect(dataOf(after)).toMatchObject({ resource_id: null, start_time });
    expect(dataOf<Dated>(after).updated_at > dataOf<Dated>(before).updated_at).toBe(true);
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
    for (const table of ['resources', 'calendars', 'busy_times']) {
      const left = `select from ${table} where organization_id = $1`;
      expect(await app.sql(left, [tenant.id])).toEqual([]);
    }
  });

  it('keeps records that are not deleted, cancelled or deleted later', async () => {
    const lead = await createLead(tenant.api);
    const cancelled = await makeAppointment(lead.id);
    await tenant.api.delete(`${APPOINTMENTS}/${cancelled}`);
    await makeTask({ contact_id: lead.id });
    const recent = await createLead(tenant.api);
    await makeAppointment(recent.id);
    await remove(`${TASKS}/${await makeTask({ contact_id: recent.id })}`, 29);
    await remove(`${LEADS}/${recent.id}`, 29);

    expect(await purge()).toMatchObject({ leads: 0, appointments: 0, tasks: 0 });
    expect(await rows()).toEqual({ leads: 2, appointments: 2, tasks: 2, linked_tasks: 2 });
  });

  it('removes no record of another organization', async () => {
    const lead = await createLead(tenant.api);
    await remove(`${LEADS}/${lead.id}`, 31);
    const stranger = await app.organization();
    expect(await purge(stranger)).toMatchObject({ leads: 0, appointments: 0, tasks: 0 });
    expect(await rows()).toMatchObject({ leads: 1 });
  });

  it('removes more records than one batch, and reports the progress', async () => {
    await makeDeleted(2_500);
    const service = app.app.get(RecordRemoval);
    const counts = await service.countPurgeable({ tenant }, monthAgo());
    const steps: number[] = [];
    const removed = await service.purge({ tenant }, monthAgo(), (records) => steps.push(records));
    const none = Object.fromEntries(service.tables.map((table) => [table, 0]));
    expect(counts).toEqual({ ...none, leads: 2_500, tasks: 2_500 });
    expect(steps.reduce((sum, step) => sum + step, 0)).toBe(5_000);
    expect(removed).toEqual({ ...none, leads: 2_500, appointments: 2_500, tasks: 2_500 });
    expect(await rows()).toEqual({ leads: 0, appointments: 0, tasks: 0, linked_tasks: 0 });
  });
});

describe('a table whose records are never deleted', () => {
  it('is not purged', async () => {
    const database = app.app.get(TenantDatabase);
    const tables = { all: [new KeptRepository(database).table] } as TenantTables;
    const service = new RecordRemoval(tables, app.app.get(ReferringRecords), database, []);
    expect(await service.countPurgeable({ tenant }, monthAgo())).toEqual({ organizations: 0 });
    expect(await service.purge({ tenant }, monthAgo())).toEqual({ organizations: 0 });
    expect(await app.sql('select from organizations where id = $1', [tenant.id])).toHaveLength(1);
  });
});

describe('a table that refers to leads', () => {
  const LINKS = `create table links (organization_id uuid not null, lead_id uuid not null,
    foreign key (organization_id, lead_id) references leads (organization_id, id) on delete`;
  afterEach(() => app.sql('drop table links'));

  it('without a repository is purged by its foreign key', async () => {
    await app.sql(`${LINKS} cascade)`);
    const lead = await createLead(tenant.api);
    await app.sql('insert into links values ($1, $2)', [tenant.id, lead.id]);
    await remove(`${LEADS}/${lead.id}`, 31);
    expect(await purge()).toMatchObject({ leads: 1 });
    expect(await app.sql('select from links')).toEqual([]);
  });

  it('makes a purge of leads fail with its name if its foreign key restricts the deletion', async () => {
    await app.sql(`${LINKS} restrict)`);
    const lead = await createLead(tenant.api);
    await remove(`${LEADS}/${lead.id}`, 31);
    await expect(purge()).rejects.toThrow('links.lead_id');
    expect(await rows()).toMatchObject({ leads: 1 });
  });
});

describe('a purge during other work', () => {
  it('does not block creates', async () => {
    await makeDeleted(3_000);
    let purging = true;
    const answers: number[] = [];
    const writer = async () => {
      while (purging) {
        const { status } = await tenant.api.post(LEADS, buildLead());
        answers.push(status);
      }
    };
    const writers = [writer(), writer(), writer()];
    await purge();
    purging = false;
    await Promise.all(writers);
    expect(new Set(answers)).toEqual(new Set([201]));
    expect(answers.length).toBeGreaterThan(3);
    expect(await rows()).toMatchObject({ leads: answers.length, appointments: 0 });
  });

  it('shares the work with concurrent purges, and each returns what it removed', async () => {
    await makeDeleted(5_000);
    const removed = await Promise.all([purge(), purge(), purge()]);
    expect(await rows()).toEqual({ leads: 0, appointments: 0, tasks: 0, linked_tasks: 0 });
    for (const table of ['leads', 'appointments', 'tasks']) {
      const total = removed.reduce((sum, counts) => sum + (counts[table] ?? 0), 0);
      expect([table, total]).toEqual([table, 5_000]);
    }
  });

  it('removes every record if a concurrent purge fails', async () => {
    await makeDeleted(10);
    const other = new pg.Client(connectionOf(app));
    await other.connect();
    try {
      await other.query('begin');
      await other.query('delete from leads where organization_id = $1', [tenant.id]);
      let isOver = false;
      const purging = purge().finally(() => (isOver = true));
      await until(async () => isOver || (await isWaitingForLock()));
      await other.query('rollback');
      await purging;
      expect(await rows()).toEqual({ leads: 0, appointments: 0, tasks: 0, linked_tasks: 0 });
    } finally {
      await other.end();
    }
  });
});

describe('a purge of stored responses', () => {
  const post = (path: string, body: object, key: string) =>
    tenant.api.post(path, body, { headers: { 'Idempotency-Key': key } });
  const times = { start_time: '2026-05-04T09:00:00Z', end_time: '2026-05-04T10:00:00Z' };

  it('removes the responses about the records that it removes', async () => {
    const ada = { first_name: 'Ada', email: 'ada@example.com', phone: '+1 628 555 0143' };
    const lead = dataOf<{ id: string }>(await post(LEADS, ada, 'lead'), 201).id;
    const visit = { lead_id: lead, ...times, notes: 'Ring at Ada Lovelace' };
    dataOf(await post(APPOINTMENTS, visit, 'appointment'), 201);
    const call = { contact_id: lead, title: 'Call Ada' };
    dataOf(await post(TASKS, call, 'contact'), 201);
    const errand = { title: 'Write to Ada' };
    const task = dataOf<{ id: string }>(await post(TASKS, errand, 'task'), 201).id;
    await remove(`${LEADS}/${lead}`, 31);
    await remove(`${TASKS}/${task}`, 31);

    await purge();
    expect(await storedKeys()).toEqual([]);
    const again = await post(LEADS, { ...ada, first_name: 'Other' }, 'lead');
    expect(again.headers.has('idempotency-replayed')).toBe(false);
    expect(dataOf<{ id: string }>(again, 201).id).not.toBe(lead);
    expect((await post(APPOINTMENTS, visit, 'appointment')).status).toBe(404);
    expect((await post(TASKS, call, 'contact')).status).toBe(404);
  });

  it('keeps the responses about other records and of other organizations', async () => {
    const stranger = await app.organization();
    const options = { headers: { 'Idempotency-Key': 'theirs' } };
    dataOf(await stranger.api.post(LEADS, buildLead(), options), 201);
    dataOf(await post(LEADS, buildLead(), 'kept'), 201);
    const { id } = await createLead(tenant.api);
    await remove(`${LEADS}/${id}`, 31);

    await purge();
    expect(await storedKeys()).toEqual(['kept']);
    expect(await storedKeys(stranger)).toEqual(['theirs']);
  });

  it('removes responses with unknown record ids', async () => {
    dataOf(await post(LEADS, buildLead(), 'unknown'), 201);
    await app.sql('update idempotency_keys set record_ids = null where organization_id = $1', [
      tenant.id,
    ]);
    const { id } = await createLead(tenant.api);
    await remove(`${LEADS}/${id}`, 31);
    await purge();
    expect(await storedKeys()).toEqual([]);
  });

  async function storedKeys({ id } = tenant): Promise<string[]> {
    const keys = await app.sql<{ key: string }>(
      'select key from idempotency_keys where organization_id = $1 order by key',
      [id],
    );
    return keys.map(({ key }) => key);
  }
});

interface Dated {
  updated_at: string;
}

function connectionOf({ database }: TestApp): pg.ClientConfig {
  return 'url' in database ? { connectionString: database.url } : database;
}

async function isWaitingForLock(): Promise<boolean> {
  const waiting = await app.sql(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return waiting.length > 0;
}

function monthAgo(): Date {
  return new Date(Date.now() - MONTH_MS);
}

/** Purges what an organization deleted more than 30 days ago. */
function purge({ id } = tenant) {
  const service = app.app.get(RecordRemoval);
  return service.purge({ tenant: { id } }, monthAgo());
}

async function makeAppointment(lead_id: string): Promise<string> {
  const times = { start_time: '2026-05-04T09:00:00Z', end_time: '2026-05-04T10:00:00Z' };
  const { body } = await tenant.api.post(APPOINTMENTS, { lead_id, ...times });
  return body.data.id as string;
}

async function makeTask(fields: object): Promise<string> {
  const { body } = await tenant.api.post(TASKS, { title: 'Call', ...fields });
  return body.data.id as string;
}

/** Deletes a record and backdates the deletion. */
async function remove(path: string, daysAgo: number): Promise<void> {
  expect((await tenant.api.delete(path)).status).toBe(200);
  const [, table, id] = /v1\/(\w+)\/(.+)/.exec(path) ?? [];
  await app.sql(
    `update ${table} set deleted_at = now() - $1 * interval '1 day' where organization_id = $2 and id = $3`,
    [daysAgo, tenant.id, id],
  );
}

/** Creates leads that were deleted long ago, each with an appointment and a deleted task. */
async function makeDeleted(count: number): Promise<void> {
  await app.sql(
    `with new_leads as (
        insert into leads (organization_id, id, first_name, source, tags, custom_fields, lead_score,
          sms_opted_out, on_dnc_list, deleted_at)
        select $1, gen_random_uuid(), 'Ada', 'api', '{}', '{}', 0, false, false,
          now() - interval '40 days' from generate_series(1, $2::int) returning id),
      new_appointments as (
        insert into appointments (organization_id, id, lead_id, start_time, end_time, status,
          booked_by)
        select $1, gen_random_uuid(), id, now(), now() + interval '1 hour', 'scheduled', 'api'
        from new_leads)
      insert into tasks (organization_id, id, title, priority, status, created_by_ai, contact_id,
        deleted_at)
      select $1, gen_random_uuid(), 'Call', 'low', 'open', false, id, now() - interval '40 days'
      from new_leads`,
    [tenant.id, count],
  );
}

async function rows(): Promise<Rows> {
  const count = (table: string) =>
    `(select count(*)::int from ${table} where organization_id = $1)`;
  const [found] = await app.sql<Rows>(
    `select ${count('leads')} as leads, ${count('appointments')} as appointments,
      ${count('tasks')} as tasks,
      (select count(contact_id)::int from tasks where organization_id = $1) as linked_tasks`,
    [tenant.id],
  );
  return found!;
}
