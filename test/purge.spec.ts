import { IdDto } from '../src/fields/id.dto.js';
import type { DiscoveryService } from '@nestjs/core';
import { CommandPatience } from '../src/database/patience.js';
import { PurgeService } from '../src/database/purge.service.js';
import { TenantDatabase } from '../src/database/tenant-database.js';
import { TenantRepository } from '../src/database/tenant-repository.js';
import { buildLead, createLead, LEADS } from './support/factories.js';
import { TestApp, type Tenant } from './support/harness.js';

const APPOINTMENTS = '/api/v1/appointments';
const TASKS = '/api/v1/tasks';
const MONTH_MS = 30 * 86_400_000;

class KeptRepository extends TenantRepository<{ id: string }> {
  constructor(database: TenantDatabase) {
    super(database, { name: 'organizations', record: IdDto, live: 'true' });
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
  app = await TestApp.start({ patience: new CommandPatience() });
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => app.stop());

describe('purge (decisions 3: DELETE lead, task)', () => {
  it('looks through every table of tenants', () => {
    const { tables } = app.app.get(PurgeService);
    expect(tables).toEqual(expect.arrayContaining(['leads', 'appointments', 'tasks']));
  });

  it('removes an old deleted lead with its appointments, and frees its tasks of it', async () => {
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

  it('removes old deleted tasks, and leaves their leads', async () => {
    const lead = await createLead(tenant.api);
    await remove(`${TASKS}/${await makeTask({ contact_id: lead.id })}`, 31);
    expect(await purge()).toMatchObject({ leads: 0, appointments: 0, tasks: 1 });
    expect(await rows()).toMatchObject({ leads: 1, tasks: 0 });
  });

  it('leaves what lives, what is cancelled, and what was deleted later', async () => {
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

  it('keeps to the organization that it is told', async () => {
    const lead = await createLead(tenant.api);
    await remove(`${LEADS}/${lead.id}`, 31);
    const stranger = await app.organization();
    expect(await purge(stranger)).toMatchObject({ leads: 0, appointments: 0, tasks: 0 });
    expect(await rows()).toMatchObject({ leads: 1 });
  });

  it('removes more than a batch, and tells of every record', async () => {
    await makeDeleted(2_500);
    const service = app.app.get(PurgeService);
    const counts = await service.count(tenant, monthAgo());
    const steps: number[] = [];
    await service.purge(tenant, monthAgo(), counts, (records) => steps.push(records));
    expect(counts).toMatchObject({ leads: 2_500, appointments: 2_500, tasks: 2_500 });
    expect(steps.reduce((sum, step) => sum + step, 0)).toBe(7_500);
    expect(await rows()).toEqual({ leads: 0, appointments: 0, tasks: 0, linked_tasks: 0 });
  });
});

describe('a table whose records are never deleted', () => {
  it('is left alone', async () => {
    const service = new PurgeService({
      getProviders: () => [{ instance: new KeptRepository(app.app.get(TenantDatabase)) }],
    } as unknown as DiscoveryService);
    const counts = await service.count(tenant, monthAgo());
    expect(counts).toEqual({ organizations: 0 });
    await service.purge(tenant, monthAgo(), counts, () => undefined);
    expect(await app.sql('select from organizations where id = $1', [tenant.id])).toHaveLength(1);
  });
});

describe('a purge beside other work', () => {
  it('lets requests through: creates go on meanwhile', async () => {
    await makeDeleted(10_000);
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

  it('shares the work with another purge', async () => {
    await makeDeleted(5_000);
    await Promise.all([purge(), purge(), purge()]);
    expect(await rows()).toEqual({ leads: 0, appointments: 0, tasks: 0, linked_tasks: 0 });
  });
});

function monthAgo(): Date {
  return new Date(Date.now() - MONTH_MS);
}

/** Purges what an organization deleted more than 30 days ago. */
async function purge({ id } = tenant) {
  const service = app.app.get(PurgeService);
  const counts = await service.count({ id }, monthAgo());
  await service.purge({ id }, monthAgo(), counts, () => undefined);
  return counts;
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

/** Deletes a record, and dates the deletion back. */
async function remove(path: string, daysAgo: number): Promise<void> {
  expect((await tenant.api.delete(path)).status).toBe(200);
  const [, table, id] = /v1\/(\w+)\/(.+)/.exec(path) ?? [];
  await app.sql(
    `update ${table} set deleted_at = now() - $1 * interval '1 day' where organization_id = $2 and id = $3`,
    [daysAgo, tenant.id, id],
  );
}

/** Leads that were deleted long ago, each with an appointment and a task that was deleted too. */
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
