import { randomUUID } from 'node:crypto';
import { OrganizationRemovalService } from '../../../src/auth/organization-removal.service.js';
import type { DatabaseTarget } from '../../../src/database/connection/data-source-options.js';
import { PartitionsService } from '../../../src/database/partitions/partitions.service.js';
import { CountsService } from '../../../src/database/records/counts.service.js';
import { PurgeService } from '../../../src/database/records/purge.service.js';
import { dropDatabase } from '../../../src/testing/databases.js';
import { createLead, dataOf, errorOf, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import {
  asSuperuser,
  createDatabaseWithPlainOwner,
  queryAs,
} from '../../support/database/plain-owner.js';

const TABLES = [
  ...['appointments', 'event_outbox', 'idempotency_keys', 'jobs', 'leads', 'record_counts'],
  ...['tasks', 'webhook_deliveries', 'webhooks'],
];

const TASKS = '/api/v1/tasks';

let app: TestApp;
let database: DatabaseTarget;

beforeEach(async () => {
  database = await createDatabaseWithPlainOwner();
  app = await TestApp.start({ database });
});
afterEach(async () => {
  await app.stop();
  await dropDatabase(asSuperuser(database));
});

/** Partitions the tables while the server runs, as the owner, who is no superuser. */
const partition = () => app.app.get(PartitionsService).partition(4);

/** Each object of the tables of organizations, with the definition that must stay the same. */
function objectsOf(kind: 'indexes' | 'triggers' | 'policies'): Promise<{ definition: string }[]> {
  const statements = {
    indexes: `select replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') as definition from pg_index
      join pg_class c on c.oid = indrelid where relnamespace = 'public'::regnamespace and not relispartition
        and relname = any($1) and relname <> 'event_outbox'`,
    triggers: `select translate(pg_get_triggerdef(oid), '()', '') as definition from pg_trigger
      where tgrelid::regclass::text = any($1) and not tgisinternal`,
    policies: `select (tablename, policyname, permissive, roles, cmd, qual, with_check)::text as definition
      from pg_policies where tablename = any($1)`,
  };
  return app.sql(`${statements[kind]} order by 1`, [TABLES]);
}

describe('latitude partition', () => {
  it('spreads the rows of each table of organizations, and keeps all of them', async () => {
    const tenants = await Promise.all(Array.from({ length: 12 }, () => app.organization()));
    const ids = await Promise.all(tenants.map(async ({ api }) => (await createLead(api)).id));
    const before = {
      indexes: await objectsOf('indexes'),
      triggers: await objectsOf('triggers'),
      policies: await objectsOf('policies'),
    };
    expect(await partition()).toEqual(TABLES);

    const partitions = await app.sql<{ name: string; number: number }>(
      `select inhparent::regclass::text as name, count(*)::int as number from pg_inherits
       where inhparent = any($1::regclass[]) group by 1 order by 1`,
      [TABLES],
    );
    expect(partitions).toEqual(TABLES.map((name) => ({ name, number: 4 })));
    const used = await queryAs(asSuperuser(database), 'select distinct tableoid from leads');
    expect(used.length).toBeGreaterThan(1);
    for (const [n, { api }] of tenants.entries()) {
      const list = await api.get(LEADS);
      expect(list.body).toMatchObject({ data: [{ id: ids[n] }], meta: { total: 1 } });
    }
    expect(await objectsOf('indexes')).toEqual(before.indexes);
    expect(await objectsOf('triggers')).toEqual(before.triggers);
    expect(await objectsOf('policies')).toEqual(before.policies);
  });

  it('leaves uniqueness, foreign keys, totals, events and removals as they are', async () => {
    const { id, api } = await app.organization();
    await createLead(api);
    await partition();

    const lead = await createLead(api, { email: 'ada@example.com' });
    const duplicate = await api.post(LEADS, { first_name: 'Ada', email: 'ada@example.com' });
    expect(duplicate.status).toBe(409);
    expect(errorOf(duplicate)).toMatchObject({ code: 'duplicate' });
    const task = { title: 'Call', contact_id: lead.id };
    expect(dataOf(await api.post(TASKS, task), 201)).toMatchObject(task);
    const unknown = await api.post(TASKS, { title: 'Call', contact_id: randomUUID() });
    expect(unknown.status).toBe(404);

    await api.delete(`${LEADS}/${lead.id}`);
    const inAMinute = new Date(Date.now() + 60_000);
    const removed = await app.app.get(PurgeService).purge({ id }, inAMinute);
    expect(removed).toMatchObject({ leads: 1 });
    expect((await api.get(TASKS)).body).toMatchObject({ data: [{ contact_id: null }] });
    expect(await app.app.get(CountsService).check({ id })).toEqual([]);
    await app.app.get(OrganizationRemovalService).remove(id);
    expect(await queryAs(asSuperuser(database), 'select from leads')).toEqual([]);
  });

  it('partitions new tables when it runs again', async () => {
    await partition();
    await app.sql(`create table notes (organization_id uuid not null references organizations, id uuid,
      primary key (organization_id, id))`);
    await app.sql('alter table notes enable row level security, force row level security');
    expect(await partition()).toEqual(['notes']);
    expect(await partition()).toEqual([]);
  });

  it('keeps the options of constraints and the privileges of other roles', async () => {
    await app.sql(`create table notes (organization_id uuid not null, id uuid, title text, rank int,
      primary key (id) include (title), constraint ranks unique (organization_id, rank) deferrable)`);
    await app.sql('alter table notes enable row level security, force row level security');
    await app.sql('grant select on notes to pg_monitor with grant option');
    await app.sql('grant update (title, rank), insert (title) on notes to public');
    const privileges = () =>
      app.sql(`select relacl::text, array(select (attname, attacl)::text from pg_attribute
        where attrelid = c.oid and attacl is not null order by attname) as columns
        from pg_class c where relname = 'notes'`);
    const before = await privileges();
    await partition();
    expect(await privileges()).toEqual(before);
    const constraints =
      await app.sql(`select pg_get_constraintdef(oid) as definition from pg_constraint
      where conrelid = 'notes'::regclass and contype in ('p', 'u') order by 1`);
    expect(constraints).toEqual([
      { definition: 'PRIMARY KEY (organization_id, id) INCLUDE (title)' },
      { definition: 'UNIQUE (organization_id, rank) DEFERRABLE' },
    ]);
  });

  it('changes nothing if a table has an exclusion constraint, and names it', async () => {
    await app.sql('alter table tasks add constraint tasks_once exclude using btree (title with =)');
    await expect(partition()).rejects.toThrow(
      'The exclusion constraint tasks_once of the table tasks cannot be kept over partitions',
    );
    expect(
      await app.sql('select from pg_class where oid = $1::regclass and relkind = $2', [
        'tasks',
        'r',
      ]),
    ).toHaveLength(1);
  });

  it('changes nothing if a unique index lacks organization_id, and names it', async () => {
    await app.sql('create unique index tasks_by_title on tasks (title)');
    await expect(partition()).rejects.toThrow(
      'The unique index tasks_by_title of the table tasks lacks organization_id',
    );
    const found = await app.sql(`select from pg_class where relkind = 'p' and relname <> 'events'`);
    expect(found).toEqual([]);
  });
});

describe('tables with an organization_id', () => {
  // Events are numbered across organizations: docs/adr/0020-partitions-by-organization.md
  const EXCEPTIONS = ['event_outbox', 'events', 'api_keys', 'mcp_sessions'];

  it('have it in each primary key, unique index and foreign key', async () => {
    const keys = await app.sql(
      `select c.relname, coalesce(conname, indexrelid::regclass::text) as name
       from pg_class c join pg_attribute a on attrelid = c.oid and attname = 'organization_id'
         left join pg_index on indrelid = c.oid and indisunique and not attnum = any(indkey)
         left join pg_constraint on conrelid = c.oid and contype = 'f' and not attnum = any(conkey)
       where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace
         and relname <> all($1)
         and (indexrelid is not null or conname is not null)`,
      [EXCEPTIONS],
    );
    expect(keys).toEqual([]);
  });
});
