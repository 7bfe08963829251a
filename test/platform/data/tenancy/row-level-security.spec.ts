import { randomUUID } from 'node:crypto';
import { BatchConnections } from '../../../../src/platform/data/gateway/batch-connections.js';
import {
  ADMINISTRATIVE_TABLES,
  COLUMN_PRIVILEGES,
} from '../../../../src/platform/data/tenant-role/tenant-privileges.js';
import { TenantDatabase } from '../../../../src/platform/data/gateway/tenant-database.js';
import { RecordStatements } from '../../../../src/platform/data/records/record-statements.js';
import { RecordColumns } from '../../../../src/platform/data/records/stored-record.js';
import { tableOf } from '../../../../src/platform/data/records/tenant-entity.js';
import { Appointment } from '../../../../src/modules/appointments/appointment.entity.js';
import { Lead } from '../../../../src/modules/leads/lead.entity.js';
import { Task } from '../../../../src/modules/tasks/task.entity.js';
import { createLead } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { stopBackgroundWork } from '../../../support/database/isolation.js';
import { EventPublisher } from '../../../../src/modules/events/event-publisher.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { LIST_ROUTES } from '../../../../src/testing/routes.js';
import { recordTables, rowsOf, TENANT_TABLES } from '../../../support/database/tenant-tables.js';

let app: TestApp;
let ours: Tenant;
let theirs: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
  await stopBackgroundWork(app);
  [ours, theirs] = await Promise.all([app.organization(), app.organization()]);
});
afterAll(() => app.stop());

describe('row-level security for statements without a filter by organization', () => {
  /** Two organizations with records of every kind, and the tables of these records. */
  let us: Tenant;
  let them: Tenant;
  let tables: string[];
  let gateway: TenantDatabase;

  beforeAll(async () => {
    gateway = app.app.get(TenantDatabase);
    [us, them] = await Promise.all([app.organization(), app.organization()]);
    for (const { listed } of LIST_ROUTES) await Promise.all([listed(us), listed(them)]);
    // Afterwards no event moves to another table.
    await app.app.get(EventPublisher).publish();
    tables = [];
    for (const name of await recordTables(app)) {
      if ((await rowsOf(app, [name], them)).length > 0) tables.push(name);
    }
  });

  it('is enabled and forced on every table with tenant records', async () => {
    const unprotected = await app.sql(
      `${TENANT_TABLES} except select c.relname from pg_class c
       where relrowsecurity and relforcerowsecurity
         and exists (select from pg_policy p where p.polrelid = c.oid)`,
    );
    expect(unprotected).toEqual([]);
    expect(tables).toContain('leads');
  });

  it('select returns no row of another organization', async () => {
    for (const table of tables) {
      const rows = await gateway.read<Row>({ tenant: us }, sql(`select * from ${table}`));
      expect(rows.filter(({ organization_id }) => organization_id !== us.id)).toEqual([]);
      expect(rows).toHaveLength((await rowsOf(app, [table], us)).length);
      const named = sql(`select * from ${table} where organization_id = $1`, them.id);
      expect(await gateway.read({ tenant: us }, named)).toEqual([]);
    }
  });

  it.each(['custom', 'prepared', 'index'] as const)(
    'select without parameters and with the plan %s returns no row of another organization',
    async (plan) => {
      const statement = { text: 'select * from leads', values: [], plan };
      const rows = await gateway.read<Row>({ tenant: us }, statement);
      const inside = await gateway.transaction({ tenant: us }, ({ transaction }) =>
        transaction.query<Row>(statement),
      );
      for (const found of [rows, inside]) {
        expect(found).toHaveLength((await rowsOf(app, ['leads'], us)).length);
        expect(new Set(found.map((row) => row.organization_id))).toEqual(new Set([us.id]));
      }
    },
  );

  it('update changes no row of another organization', async () => {
    for (const table of tables) {
      const before = await rowsOf(app, [table], them);
      const all = `update ${table} set organization_id = organization_id`;
      const changed = await gateway.write<Row>(
        { tenant: us },
        sql(`${all} returning organization_id`),
      );
      expect(new Set(changed.map(({ organization_id }) => organization_id)).size).toBeLessThan(2);
      const named = sql(`${all} where organization_id = $1 returning *`, them.id);
      expect(await gateway.write({ tenant: us }, named)).toEqual([]);
      expect(await rowsOf(app, [table], them)).toEqual(before);
    }
  });

  it('delete removes no row of another organization', async () => {
    for (const table of tables) {
      const before = await rowsOf(app, [table], them);
      const named = sql(`delete from ${table} where organization_id = $1 returning *`, them.id);
      expect(await gateway.write({ tenant: us }, named)).toEqual([]);
      expect(await rowsOf(app, [table], them)).toEqual(before);
    }
    const [we, they] = await Promise.all([app.organization(), app.organization()]);
    await Promise.all([createLead(we.api), createLead(they.api)]);
    expect(await gateway.write({ tenant: we }, sql('delete from leads returning *'))).toHaveLength(
      1,
    );
    expect(await rowsOf(app, ['leads'], they)).toHaveLength(1);
  });

  it('insert cannot create a row in another organization', async () => {
    for (const table of tables) {
      const before = await rowsOf(app, [table], them);
      const insert = await copyStatement(table, before[0]);
      await expect(gateway.write({ tenant: us }, insert)).rejects.toMatchObject({
        code: 'create_failed',
      });
      expect(await rowsOf(app, [table], them)).toEqual(before);
      expect(await gateway.write({ tenant: them }, insert)).toHaveLength(1);
    }
  });

  it('update cannot move a row to another organization', async () => {
    for (const table of tables) {
      const before = await rowsOf(app, [table], us);
      const gift = sql(`update ${table} set organization_id = $1`, them.id);
      await expect(gateway.write({ tenant: us }, gift)).rejects.toMatchObject({
        code: 'create_failed',
      });
      expect(await rowsOf(app, [table], us)).toEqual(before);
    }
  });

  it('applies to every statement of a transaction', async () => {
    await gateway.transaction({ tenant: us }, async ({ transaction }) => {
      for (const table of tables) {
        const named = sql(`select * from ${table} where organization_id = $1`, them.id);
        expect(await transaction.query(named)).toEqual([]);
      }
    });
  });

  it.each([Lead, Appointment, Task].map((entity) => [entity.name, entity] as const))(
    'a record of %s is found by the whole primary key',
    async (_name, entity) => {
      const { find } = new RecordStatements(
        tableOf(entity),
        new RecordColumns<{ id: string }>(entity),
        1,
      );
      const values = [us.id, JSON.stringify([randomUUID()])];
      const rows = await gateway.read<{ 'QUERY PLAN': string }>(
        { tenant: us },
        { text: `explain ${find}`, values, plan: 'index' },
      );
      const conditions = rows
        .map((row) => row['QUERY PLAN'])
        .filter((line) => line.includes('Cond:'));
      expect(conditions).toEqual([expect.stringMatching(/organization_id = .* AND \(id = /)]);
    },
  );

  it('truncate is rejected', async () => {
    for (const table of tables) {
      const truncate = gateway.write({ tenant: us }, sql(`truncate ${table} cascade`));
      await expect(truncate).rejects.toMatchObject({ code: 'create_failed' });
    }
  });

  /** Returns the statement that inserts a row again under another id. */
  async function copyStatement(table: string, row: object | undefined) {
    const columns = await app.sql<{ names: string }>(
      `select string_agg(quote_ident(column_name), ', ') as names from information_schema.columns
       where table_name = $1 and is_generated = 'NEVER' and is_identity = 'NO'`,
      [table],
    );
    const { names } = columns[0]!;
    const unique = {
      id: randomUUID(),
      email_compared: null,
      phone_compared: null,
      external_id: null,
      key: randomUUID(),
      shard: 99,
      position: 1,
    };
    const copy = { ...row, ...unique };
    return sql(
      `insert into ${table} (${names})
       select ${names} from jsonb_populate_record(null::${table}, $1)
       returning organization_id`,
      JSON.stringify(copy),
    );
  }
});

describe('the role that runs the statements of a tenant', () => {
  it('is latitude_app', async () => {
    const gateway = app.app.get(TenantDatabase);
    const who = sql('select current_user as who');
    expect(await gateway.read({ tenant: ours }, who)).toEqual([{ who: 'latitude_app' }]);
    expect(await gateway.write({ tenant: ours }, who)).toEqual([{ who: 'latitude_app' }]);
    await gateway.transaction({ tenant: ours }, async ({ transaction }) => {
      expect(await transaction.query(who)).toEqual([{ who: 'latitude_app' }]);
      expect(await transaction.query(who)).toEqual([{ who: 'latitude_app' }]);
    });
  });

  it('is not a superuser, cannot bypass policies or log in, and is a member of no role', async () => {
    expect(
      await app.sql(
        `select rolsuper, rolbypassrls, rolcanlogin, rolcreaterole, rolcreatedb, rolreplication
         from pg_roles where rolname = 'latitude_app'`,
      ),
    ).toEqual([
      {
        rolsuper: false,
        rolbypassrls: false,
        rolcanlogin: false,
        rolcreaterole: false,
        rolcreatedb: false,
        rolreplication: false,
      },
    ]);
    expect(
      await app.sql(`select from pg_auth_members where member = 'latitude_app'::regrole`),
    ).toEqual([]);
  });

  it('owns no table', async () => {
    const owned = `select from pg_class where relowner = 'latitude_app'::regrole`;
    expect(await app.sql(owned)).toEqual([]);
  });

  it('has the declared privileges on each column of each table, and no others', async () => {
    const columns = await app.sql<{ name: string; columns: string[]; is_partition: boolean }>(
      `select relname as name, relispartition as is_partition,
         array(select attname::text from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped
           union all select 'ctid') as columns
       from pg_class c where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`,
    );
    const granted = await app.sql<{ privilege: string }>(
      `select concat_ws(' ', privilege, relname, attname) as privilege
       from pg_class c join pg_attribute on attrelid = c.oid and not attisdropped and (attnum > 0 or attname = 'ctid'),
         unnest(array['select', 'insert', 'update', 'references']) privilege
       where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
         and has_column_privilege('latitude_app', c.oid, attnum, privilege)
       union all
       select concat_ws(' ', privilege, relname)
       from pg_class c, unnest(array['delete', 'truncate', 'trigger']) privilege
       where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
         and has_table_privilege('latitude_app', c.oid, privilege)`,
    );
    const declared = columns.flatMap(({ name, columns: all, is_partition }) => {
      if (is_partition) return [];
      const whole = { select: all, insert: all, update: all, delete: true };
      const others: Partial<typeof whole> = ADMINISTRATIVE_TABLES.includes(name) ? {} : whole;
      const { delete: deletes, ...ofColumns } = COLUMN_PRIVILEGES[name] ?? others;
      const onColumns = Object.entries(ofColumns).flatMap(([privilege, names]) =>
        names.map((column) => `${privilege} ${name} ${column}`),
      );
      return deletes ? [...onColumns, `delete ${name}`] : onColumns;
    });
    expect(granted.map(({ privilege }) => privilege).sort()).toEqual(declared.sort());
    expect(declared.filter((privilege) => privilege.endsWith(' key_hash'))).toEqual([
      'insert api_keys key_hash',
    ]);
  });

  it('is the only role besides the owner that has privileges', async () => {
    const others = await app.sql(
      `select relname, grantee::regrole from pg_class, aclexplode(relacl)
       where relnamespace = 'public'::regnamespace and grantee not in (relowner, 'latitude_app'::regrole)
       union all
       select relname, grantee::regrole
       from pg_class join pg_attribute on attrelid = pg_class.oid, aclexplode(attacl)
       where relnamespace = 'public'::regnamespace and grantee not in (relowner, 'latitude_app'::regrole)`,
    );
    expect(others).toEqual([]);
  });
});

describe('the setting that names the organization', () => {
  const WHO = `select current_user = session_user as is_owner,
    coalesce(current_setting('app.organization_id', true), '') as setting`;
  const pool = () => app.app.get(BatchConnections).background;

  it('does not survive on a pooled connection', async () => {
    const gateway = app.app.get(TenantDatabase);
    const uses = Array.from({ length: 30 }, (_, i) => {
      if (i % 3 === 0) return gateway.read({ tenant: ours }, sql('select 1'));
      if (i % 3 === 1)
        return gateway.read({ tenant: ours }, sql('select 1 / 0')).catch(() => undefined);
      return gateway.transaction({ tenant: theirs }, ({ transaction }) =>
        transaction.query(sql('select 1')),
      );
    });
    await Promise.all(uses);
    const asks = Array.from({ length: 30 }, () => pool().query<object>(WHO));
    for (const { rows } of await Promise.all(asks)) {
      expect(rows).toEqual([{ is_owner: true, setting: '' }]);
    }
  });

  it.each([
    ['is not set', 'select 1'],
    ['is empty', `select set_config('app.organization_id', '', true)`],
    ['names no organization', `select set_config('app.organization_id', '${randomUUID()}', true)`],
  ])('hides every row from latitude_app if it %s', async (_, prepare) => {
    await createLead(ours.api);
    const client = await pool().connect();
    try {
      await client.query('begin');
      await client.query('set local role latitude_app');
      await client.query(prepare);
      expect((await client.query('select from leads')).rowCount).toBe(0);
      expect((await client.query('delete from leads')).rowCount).toBe(0);
    } finally {
      await client.query('rollback');
      client.release();
    }
  });
});

interface Row {
  organization_id: string;
}

function sql(text: string, ...values: unknown[]) {
  return { text, values };
}
