import { TenantDatabase } from '../../../src/platform/data/gateway/tenant-database.js';
import { LeadsService } from '../../../src/modules/leads/leads.service.js';
import { readInput } from '../../../src/platform/fields/input/read-input.js';
import { CreateLeadDto } from '../../../src/modules/leads/lead.dto.js';
import { createLead, dataOf, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';

let app: TestApp;
let tenant: Tenant;
let database: TenantDatabase;

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
  database = app.app.get(TenantDatabase);
});
afterAll(() => app.stop());

const create = (call: Parameters<LeadsService['create']>[0], first_name: string) =>
  app.app.get(LeadsService).create(call, readInput(CreateLeadDto, { first_name }).value);

describe('the entity manager of a transaction', () => {
  it('reads the records of its organization, also those of the transaction', async () => {
    await createLead((await app.organization()).api);
    const call = await app.call(tenant);
    const names = await database.transaction(call, async (inner, manager) => {
      await create(inner, 'Ada');
      return manager.query<{ first_name: string }[]>('select first_name from leads');
    });
    expect(names).toEqual([{ first_name: 'Ada' }]);
  });

  it.each([
    [`insert into leads (id) values (gen_random_uuid())`],
    [`update leads set notes = 'x'`],
    [`delete from tasks`],
    [`with changed as (delete from public.appointments returning id) select id from changed`],
  ])('cannot write to tables of Latitude: %s', async (text) => {
    const call = await app.call(tenant);
    const writing = database.transaction(call, (_, manager) => manager.query(text));
    await expect(writing).rejects.toThrow('the entity manager of a transaction cannot write to');
  });

  it('leaves the writes of services possible after and before its own statements', async () => {
    const call = await app.call(tenant);
    await database.transaction(call, async (inner, manager) => {
      await manager.query('select 1');
      const { id } = await create(inner, 'Grace');
      await manager.query('select 1');
      const failed = database.transaction(inner, (_, nested) => nested.query('delete from leads'));
      await expect(failed).rejects.toThrow('cannot write to leads');
      await app.app.get(LeadsService).delete(inner, id);
      await create(inner, 'Emmy');
    });
    const { body } = await tenant.api.get(`${LEADS}?sort_by=created_at`);
    expect(JSON.stringify(body)).toContain('Emmy');
    dataOf(await tenant.api.post(LEADS, { first_name: 'Later' }), 201);
  });
});
