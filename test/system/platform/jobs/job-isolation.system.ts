import { TenantDatabase } from '../../../../src/platform/data/gateway/tenant-database.js';
import { createDatabase, dropDatabase } from '../../../../src/testing/databases.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { backUp, restore, USERS } from '../../../support/database/backups.js';
import {
  greetings,
  GreetingsModule,
  StoredJobs,
} from '../../../support/modules/greetings.module.js';
import { asSuperuser, queryAs } from '../../../support/database/plain-owner.js';
import { until } from '../../../support/servers/product.js';

const ALL_JOBS = { text: 'select organization_id from jobs', values: [] };
const AS_WORKER = { text: `select set_config('app.job_worker', 'on', true)`, values: [] };

describe.each(Object.keys(USERS))('jobs in a database of %s', (user) => {
  let app: TestApp;
  let tenants: [Tenant, Tenant];

  beforeAll(async () => {
    const database = await USERS[user]!();
    app = await TestApp.start({ modules: [GreetingsModule], database });
    tenants = [await app.organization(), await app.organization()];
    greetings.reset();
    for (const { id } of tenants) await new StoredJobs(app, id).send(id, { delay: '1h' });
  });
  afterAll(async () => {
    await app.stop();
    await dropDatabase(asSuperuser(app.database));
  });

  it('are visible to their organization only', async () => {
    const [{ id }] = tenants;
    const gateway = app.app.get(TenantDatabase);
    expect(await gateway.read({ tenant: { id } }, ALL_JOBS)).toEqual([{ organization_id: id }]);
    if (user === 'a plain owner without the tenant role') return;
    const rows = await gateway.transaction({ tenant: { id } }, async ({ transaction }) => {
      await transaction.query(AS_WORKER);
      return transaction.query(ALL_JOBS);
    });
    expect(rows).toEqual([{ organization_id: id }]);
  });

  it('are restored from a backup', async () => {
    const { file } = await backUp(app.database);
    const copy = await createDatabase('empty');
    await restore(copy, file);
    const text = 'select organization_id from jobs order by organization_id';
    const rows = await queryAs<{ organization_id: string }>(copy, text);
    const ids = tenants.map(({ id }) => id).toSorted();
    expect(rows.map(({ organization_id }) => organization_id)).toEqual(ids);
    await dropDatabase(copy);
  });

  it('run for every organization', async () => {
    const superuser = asSuperuser(app.database);
    await queryAs(superuser, 'update jobs set run_at = now()');
    await until(async () => (await queryAs(superuser, 'select from jobs')).length === 0);
    expect(greetings.texts.toSorted()).toEqual(tenants.map(({ id }) => id).toSorted());
  });
});
