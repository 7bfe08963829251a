import { Injectable, Module } from '@nestjs/common';
import { TenantDataService } from '../../../src/platform/data/records/tenant-data.service.js';
import { TenantDatabase } from '../../../src/platform/data/gateway/tenant-database.js';
import { TenantEntity } from '../../../src/platform/data/records/tenant-entity.js';
import { TenantRepository } from '../../../src/platform/data/records/tenant-repository.js';
import { IdDto } from '../../../src/platform/fields/id.dto.js';
import { createLead, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';

const TASKS = '/api/v1/tasks';
const APPOINTMENTS = '/api/v1/appointments';
const TIMES = { start_time: '2026-03-01T10:00:00Z', end_time: '2026-03-01T11:00:00Z' };

let app: TestApp;
let tenant: Tenant;
let counts: TenantDataService;

beforeAll(async () => {
  app = await TestApp.start();
  counts = app.app.get(TenantDataService);
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => app.stop());

async function totalOf(path: string, query = ''): Promise<number> {
  const { body } = await tenant.api.get(`${path}?limit=1${query}`);
  return (body as { meta: { total: number } }).meta.total;
}

/** Inserts leads with these values in one SQL statement. */
function addLeads(count: number, status: string) {
  return app.sql(
    `insert into leads (organization_id, id, first_name, status, source, tags, custom_fields,
       lead_score, sms_opted_out, on_dnc_list)
     select $1, gen_random_uuid(), 'Lead', $3, 'api', '{}', '{}', 0, false, false
     from generate_series(1, $2::int)`,
    [tenant.id, count, status],
  );
}

describe('counted totals of lists', () => {
  it('follow the creation, update and deletion of a lead', async () => {
    expect(await totalOf(LEADS)).toBe(0);
    const { id } = await createLead(tenant.api, { status: 'new', temperature: 'cold' });
    expect(await totalOf(LEADS)).toBe(1);
    expect(await totalOf(LEADS, '&status=new')).toBe(1);
    expect(await totalOf(LEADS, '&temperature=cold')).toBe(1);
    await tenant.api.put(`${LEADS}/${id}`, { status: 'won', temperature: null });
    expect(await totalOf(LEADS, '&status=new')).toBe(0);
    expect(await totalOf(LEADS, '&status=won')).toBe(1);
    expect(await totalOf(LEADS, '&temperature=cold')).toBe(0);
    await tenant.api.delete(`${LEADS}/${id}`);
    expect(await totalOf(LEADS)).toBe(0);
    expect(await totalOf(LEADS, '&status=won')).toBe(0);
  });

  it('follow the source of a lead, the type of an appointment and the priority of a task', async () => {
    const { id: lead_id } = await createLead(tenant.api, { source: 'website' });
    const appointment = { lead_id, ...TIMES, type: 'Estimate' };
    const made = await tenant.api.post(APPOINTMENTS, appointment);
    const task = await tenant.api.post(TASKS, { title: 'Call', priority: 'high' });
    const [appointmentId, taskId] = [made, task].map(
      ({ body }) => (body as { data: { id: string } }).data.id,
    );
    expect(await totalOf(LEADS, '&source=website')).toBe(1);
    expect(await totalOf(APPOINTMENTS, '&type=Estimate')).toBe(1);
    expect(await totalOf(TASKS, '&priority=high')).toBe(1);
    await tenant.api.put(`${LEADS}/${lead_id}`, { source: 'referral' });
    await tenant.api.put(`${APPOINTMENTS}/${appointmentId}`, { type: null });
    await tenant.api.put(`${TASKS}/${taskId}`, { priority: 'low' });
    expect(await totalOf(LEADS, '&source=website')).toBe(0);
    expect(await totalOf(LEADS, '&source=referral')).toBe(1);
    expect(await totalOf(APPOINTMENTS, '&type=Estimate')).toBe(0);
    expect(await totalOf(TASKS, '&priority=high')).toBe(0);
    expect(await totalOf(TASKS, '&priority=low')).toBe(1);
    expect(await counts.checkCounts({ tenant })).toEqual([]);
  });

  it('still include an appointment that was cancelled', async () => {
    const { id: lead_id } = await createLead(tenant.api);
    const answer = await tenant.api.post(APPOINTMENTS, { lead_id, ...TIMES });
    const { id } = (answer.body as { data: { id: string } }).data;
    expect(await totalOf(APPOINTMENTS, '&status=scheduled')).toBe(1);
    await tenant.api.delete(`${APPOINTMENTS}/${id}`);
    expect(await totalOf(APPOINTMENTS)).toBe(1);
    expect(await totalOf(APPOINTMENTS, '&status=scheduled')).toBe(0);
    expect(await totalOf(APPOINTMENTS, '&status=cancelled')).toBe(1);
  });

  it('follow the reassignment of a task, in any case of the id', async () => {
    const [ada, bob] = ['aaaaaaaa', 'bbbbbbbb'].map(
      (start) => `${start}-0000-4000-8000-00000000000c`,
    );
    const answer = await tenant.api.post(TASKS, { title: 'Call', assigned_to_user_id: ada });
    const { id } = (answer.body as { data: { id: string } }).data;
    expect(await totalOf(TASKS, `&assigned_to=${ada!.toUpperCase()}`)).toBe(1);
    await tenant.api.put(`${TASKS}/${id}`, { assigned_to_user_id: bob });
    expect(await totalOf(TASKS, `&assigned_to=${ada}`)).toBe(0);
    expect(await totalOf(TASKS, `&assigned_to=${bob}`)).toBe(1);
    await tenant.api.delete(`${TASKS}/${id}`);
    expect(await totalOf(TASKS, `&assigned_to=${bob}`)).toBe(0);
  });

  it('ignore a create that was rejected', async () => {
    await createLead(tenant.api, { email: 'ada@example.com', phone: null, status: 'new' });
    const again = { first_name: 'Ada', email: 'ada@example.com', status: 'new' };
    expect(await tenant.api.post(LEADS, again)).toMatchObject({ status: 409 });
    expect(await totalOf(LEADS, '&status=new')).toBe(1);
  });

  it('ignore a transaction that was rolled back', async () => {
    const insert = {
      text: `insert into leads (organization_id, id, first_name, source, tags, custom_fields,
          lead_score, sms_opted_out, on_dnc_list)
        values ($1, gen_random_uuid(), 'Lead', 'api', '{}', '{}', 0, false, false)`,
      values: [tenant.id],
    };
    const gateway = app.app.get(TenantDatabase);
    const twice = (end: () => void) =>
      gateway.transaction({ tenant }, async ({ transaction }) => {
        await transaction.query(insert);
        await transaction.query(insert);
        end();
      });
    const failed = twice(() => {
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(await totalOf(LEADS)).toBe(0);
    await twice(() => undefined);
    expect(await totalOf(LEADS)).toBe(2);
  });

  it('follow statements that write many rows of several organizations', async () => {
    const other = await app.organization();
    await addLeads(500, 'new');
    await app.sql(`update leads set status = 'old' where organization_id = any($1)`, [
      [tenant.id, other.id],
    ]);
    expect(await totalOf(LEADS, '&status=new')).toBe(0);
    expect(await totalOf(LEADS, '&status=old')).toBe(500);
    await app.sql(`delete from leads where organization_id = $1`, [tenant.id]);
    expect(await totalOf(LEADS)).toBe(0);
    expect(await counts.checkCounts({ tenant })).toEqual([]);
  });

  it('are zero after a truncate', async () => {
    await tenant.api.post(TASKS, { title: 'Call' });
    await app.sql('truncate tasks');
    expect(await totalOf(TASKS)).toBe(0);
    expect(await totalOf(TASKS, '&status=open')).toBe(0);
    await tenant.api.post(TASKS, { title: 'Call again' });
    expect(await totalOf(TASKS)).toBe(1);
  });

  it('are exact during random writes of eight clients', async () => {
    const ids: string[] = [];
    const pick = <T>(values: readonly T[]) => values[Math.floor(Math.random() * values.length)]!;
    const values = () => ({ status: pick(['a', 'b', null]), temperature: pick(['hot', null]) });
    const steps = [
      async () => ids.push((await createLead(tenant.api, values())).id),
      () => tenant.api.put(`${LEADS}/${pick(ids)}`, values()),
      () => tenant.api.delete(`${LEADS}/${pick(ids)}`),
    ];
    await steps[0]!();
    const client = async () => {
      for (let step = 0; step < 15; step++) await pick(steps)();
    };
    await Promise.all(Array.from({ length: 8 }, client));
    expect(await counts.checkCounts({ tenant })).toEqual([]);
  });
});

describe('wrong counts', () => {
  const WRONG = [
    { resource: 'leads', filter: '', value: '', counted: 8, actual: 3 },
    { resource: 'leads', filter: 'source', value: 'api', counted: 8, actual: 3 },
    { resource: 'leads', filter: 'status', value: 'new', counted: 0, actual: 3 },
    { resource: 'leads', filter: 'status', value: 'none', counted: 1, actual: 0 },
  ];

  beforeEach(async () => {
    await addLeads(3, 'new');
    await app.sql(`delete from record_counts where organization_id = $1 and filter = 'status'`, [
      tenant.id,
    ]);
    await app.sql(`update record_counts set records = records + 5 where organization_id = $1`, [
      tenant.id,
    ]);
    await app.sql(`insert into record_counts values ($1, 'leads', 'status', 'none', 1, 1, 1)`, [
      tenant.id,
    ]);
  });

  it('are found in their organization only', async () => {
    expect(await counts.checkCounts({ tenant })).toEqual(expect.arrayContaining(WRONG));
    expect(await counts.checkCounts({ tenant })).toHaveLength(WRONG.length);
    expect(await counts.checkCounts({ tenant: await app.organization() })).toEqual([]);
  });

  it('are corrected once by concurrent repairs, while other clients write', async () => {
    const writes = Array.from({ length: 30 }, () => createLead(tenant.api, { status: 'new' }));
    const repairs = await Promise.all([1, 2, 3].map(() => counts.repairCounts({ tenant })));
    await Promise.all(writes);
    expect(repairs.filter((drifts) => drifts.length > 0)).toHaveLength(1);
    expect(await counts.checkCounts({ tenant })).toEqual([]);
    expect(await totalOf(LEADS, '&status=new')).toBe(33);
  });

  it('get a new version when they are repaired, which invalidates cached totals', async () => {
    const [before] = await versions();
    await counts.repairCounts({ tenant });
    const [after] = await versions();
    expect(BigInt(after!.version)).toBeGreaterThan(BigInt(before!.version));
  });

  function versions() {
    return app.sql<{ version: string }>(
      `select sum(version)::text as version from record_counts
       where organization_id = $1 and resource = 'leads' and filter = ''`,
      [tenant.id],
    );
  }
});

describe('startup with a repository that declares counted columns', () => {
  function moduleCounting(table: string, counted: readonly string[]) {
    @TenantEntity(table, { counted })
    class Counted extends IdDto {}

    @Injectable()
    class CountedRepository extends TenantRepository<Counted> {
      constructor(database: TenantDatabase) {
        super(database, Counted);
      }
    }
    @Module({ providers: [CountedRepository] })
    class CountedModule {}
    return CountedModule;
  }

  it.each([
    ['lack a column', 'leads', ['status', 'city', 'zip'], 'leads (city, zip)'],
    ['do not exist', 'idempotency_keys', ['status'], 'idempotency_keys (all records, status)'],
  ])('fails if the triggers of the table %s', async (_, table, counted, named) => {
    const start = TestApp.start({ modules: [moduleCounting(table, counted)] });
    await expect(start).rejects.toThrow(
      `The counter triggers of the database do not count what repositories declare: ${named}. ` +
        'Add a migration that runs dropCounts, keepCounts and repairCounts for each table.',
    );
  });

  it('succeeds if the triggers of the table count every column', async () => {
    const other = await TestApp.start({ modules: [moduleCounting('leads', ['temperature'])] });
    await other.stop();
  });
});
