import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { TenantDatabase } from '../src/database/tenant-database.js';
import type { Answer } from './support/api-client.js';
import { buildLead, createLead, dataOf, LEADS } from './support/factories.js';
import { TestApp, type Tenant } from './support/harness.js';
import { LIST_ROUTES, nameOf, pathOf, RECORD_ROUTES, ROUTES, send } from './support/routes.js';

let app: TestApp;
let ours: Tenant;
let theirs: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
  [ours, theirs] = await Promise.all([app.organization(), app.organization()]);
});
afterAll(() => app.stop());

/** All of an answer that could tell one kind of missing record from another. */
function visiblePart({ status, headers, body }: Answer, id: string): unknown {
  const ownOfEachAnswer = ['date', 'x-request-id', 'ratelimit-remaining', 'ratelimit-reset'];
  const text = JSON.stringify(body)
    .replaceAll(headers.get('x-request-id')!, '(request)')
    .replaceAll(id, '(id)');
  return {
    status,
    text,
    headers: [...headers].filter(([name]) => !ownOfEachAnswer.includes(name)),
  };
}

describe.each(RECORD_ROUTES.map((route) => [nameOf(route), route] as const))(
  "%s on another organization's record (api.md part 1 and 5.5)",
  (_, route) => {
    const owned = ROUTES.find(
      ({ method, pattern }) => method === 'GET' && pattern === route.pattern,
    )!;

    it.each([
      ['we on theirs', () => [ours, theirs] as const],
      ['they on ours', () => [theirs, ours] as const],
    ])('answers as on an unknown one and leaves it as it was: %s', async (__, parties) => {
      const [stranger, owner] = parties();
      const id = await route.makeRecord(owner);
      const before: unknown = dataOf(await owner.api.get(pathOf(owned, id)));

      const body = await route.body?.(stranger);
      const call = async (target: string) => {
        const answer = await send(stranger.api, route, { path: pathOf(route, target), body });
        return visiblePart(answer, target);
      };
      const unknown = await call(randomUUID());
      expect(unknown).toMatchObject({
        status: 404,
        text: expect.stringContaining('"not_found"') as string,
      });
      expect(await call(id)).toEqual(unknown);
      expect(await call(id.toUpperCase())).toMatchObject({ status: 404 });

      expect(dataOf(await owner.api.get(pathOf(owned, id)))).toEqual(before);
    });

    it('is found by every key of its own organization', async () => {
      const id = await route.makeRecord(ours);
      const colleague = await app.key(ours.id);
      const body = await route.body?.(ours);
      const answer = await send(colleague.api, route, { path: pathOf(route, id), body });
      expect(answer).toMatchObject({ status: 200 });
    });
  },
);

describe.each(LIST_ROUTES.map((route) => [nameOf(route), route] as const))(
  '%s (api.md part 1)',
  (_, route) => {
    it('shows the records of its own organization and no others', async () => {
      const [us, them] = await Promise.all([app.organization(), app.organization()]);
      const ourIds = [await route.listed(us), await route.listed(us)];
      const theirIds = [await route.listed(them)];
      expect(await idsOf(us)).toEqual(ourIds.sort());
      expect(await idsOf(them)).toEqual(theirIds);
    });

    it('is empty for an organization without records', async () => {
      expect(await idsOf(await app.organization())).toEqual([]);
    });

    it('stays so when both ask at once over the same connections', async () => {
      const parties = await Promise.all([app.organization(), app.organization()]);
      const ids = await Promise.all(parties.map((party) => route.listed(party)));
      const questions = Array.from({ length: 60 }, async (__, i) => {
        expect(await idsOf(parties[i % 2]!)).toEqual([ids[i % 2]]);
      });
      await Promise.all(questions);
    });

    async function idsOf({ api }: Tenant): Promise<string[]> {
      const answer = await send(api, route, { path: pathOf(route) });
      const ids = dataOf<{ id: string }[]>(answer).map(({ id }) => id);
      expect(answer.body).toMatchObject({ meta: { total: ids.length } });
      return ids.sort();
    }
  },
);

describe('uniqueness (decisions 3) ends at the organization', () => {
  it("lets another organization's e-mail and phone be used again", async () => {
    const { email, phone } = await createLead(theirs.api, buildLead());
    expect(await ours.api.post(LEADS, { ...buildLead(), email, phone })).toMatchObject({
      status: 201,
    });
    const { id } = await createLead(ours.api);
    const other = await createLead(theirs.api, buildLead());
    const changes = { email: other.email, phone: other.phone };
    expect(await ours.api.put(`${LEADS}/${id}`, changes)).toMatchObject({ status: 200 });
  });

  it("finds nothing of another organization's by filters and search", async () => {
    const lead = await createLead(theirs.api, buildLead({ last_name: `Zq${randomUUID()}` }));
    for (const term of [lead.last_name!, lead.email!, lead.phone!]) {
      const path = `${LEADS}?search=${encodeURIComponent(term)}`;
      expect(await theirs.api.get(path)).toMatchObject({ body: { meta: { total: 1 } } });
      expect(await ours.api.get(path)).toMatchObject({ body: { data: [], meta: { total: 0 } } });
    }
  });
});

describe("another organization's lead in a body or filter (api.md 2.2, 4.2 and 4.4)", () => {
  const TIMES = { start_time: '2026-01-01T10:00Z', end_time: '2026-01-01T11:00Z' };
  const REFERENCES: Readonly<Record<string, (lead: string) => Promise<Answer>>> = {
    'POST /api/v1/appointments': (lead_id) =>
      ours.api.post('/api/v1/appointments', { lead_id, ...TIMES }),
    'POST /api/v1/tasks': (contact_id) =>
      ours.api.post('/api/v1/tasks', { title: 'Call', contact_id }),
    'PUT /api/v1/tasks/:id': async (contact_id) => {
      const created = await ours.api.post('/api/v1/tasks', { title: 'Call' });
      return ours.api.put(`/api/v1/tasks/${dataOf(created, 201).id}`, { contact_id });
    },
  };

  it.each(Object.entries(REFERENCES))('is as unknown as any: %s', async (_, refer) => {
    const { id } = await createLead(theirs.api);
    const unknown = randomUUID();
    const expected = visiblePart(await refer(unknown), unknown);
    expect(expected).toMatchObject({
      status: 404,
      text: expect.stringContaining('"lead_not_found"') as string,
    });
    expect(visiblePart(await refer(id), id)).toEqual(expected);
  });

  it.each([
    ['/api/v1/appointments', 'lead_id', { ...TIMES }],
    ['/api/v1/tasks', 'contact_id', { title: 'Call' }],
  ])('finds nothing in %s', async (path, name, body) => {
    const { id } = await createLead(theirs.api);
    dataOf(await theirs.api.post(path, { ...body, [name]: id }), 201);
    const list = `${path}?${name}=${id}`;
    expect(await theirs.api.get(list)).toMatchObject({ body: { meta: { total: 1 } } });
    expect(await ours.api.get(list)).toMatchObject({ body: { data: [], meta: { total: 0 } } });
  });
});

describe('row-level security holds where a statement forgets the organization (api.md 5.5)', () => {
  /** Two organizations with records of every kind, and the tables that hold these. */
  let us: Tenant;
  let them: Tenant;
  let tables: string[];
  let gateway: TenantDatabase;

  beforeAll(async () => {
    gateway = app.app.get(TenantDatabase);
    [us, them] = await Promise.all([app.organization(), app.organization()]);
    for (const { listed } of LIST_ROUTES) await Promise.all([listed(us), listed(them)]);
    tables = [];
    for (const { name } of await app.sql<{ name: string }>(TENANT_TABLES)) {
      if (name !== 'api_keys' && (await rowsOf(name, them)).length > 0) tables.push(name);
    }
  });

  it('on every table of records', async () => {
    const unprotected = await app.sql(
      `${TENANT_TABLES} except select c.relname from pg_class c
       where relrowsecurity and relforcerowsecurity
         and exists (select from pg_policy p where p.polrelid = c.oid)`,
    );
    expect(unprotected).toEqual([{ name: 'api_keys' }]);
    expect(tables).toContain('leads');
  });

  it('in select: no row of another organization is shown', async () => {
    for (const table of tables) {
      const rows = await gateway.read<Row>(us.id, sql(`select * from ${table}`));
      expect(rows.filter(({ organization_id }) => organization_id !== us.id)).toEqual([]);
      expect(rows).toHaveLength((await rowsOf(table, us)).length);
      const named = sql(`select * from ${table} where organization_id = $1`, them.id);
      expect(await gateway.read(us.id, named)).toEqual([]);
    }
  });

  it('in update: no row of another organization is changed', async () => {
    for (const table of tables) {
      const before = await rowsOf(table, them);
      const all = `update ${table} set organization_id = organization_id`;
      const changed = await gateway.write<Row>(us.id, sql(`${all} returning organization_id`));
      expect(new Set(changed.map(({ organization_id }) => organization_id)).size).toBeLessThan(2);
      const named = sql(`${all} where organization_id = $1 returning *`, them.id);
      expect(await gateway.write(us.id, named)).toEqual([]);
      expect(await rowsOf(table, them)).toEqual(before);
    }
  });

  it('in delete: no row of another organization is removed', async () => {
    for (const table of tables) {
      const before = await rowsOf(table, them);
      const named = sql(`delete from ${table} where organization_id = $1 returning *`, them.id);
      expect(await gateway.write(us.id, named)).toEqual([]);
      expect(await rowsOf(table, them)).toEqual(before);
    }
    const [we, they] = await Promise.all([app.organization(), app.organization()]);
    await Promise.all([createLead(we.api), createLead(they.api)]);
    expect(await gateway.write(we.id, sql('delete from leads returning *'))).toHaveLength(1);
    expect(await rowsOf('leads', they)).toHaveLength(1);
  });

  it('in insert: no row gets into another organization', async () => {
    for (const table of tables) {
      const before = await rowsOf(table, them);
      const insert = await copyStatement(table, before[0]);
      await expect(gateway.write(us.id, insert)).rejects.toMatchObject({ code: 'create_failed' });
      expect(await rowsOf(table, them)).toEqual(before);
      expect(await gateway.write(them.id, insert)).toHaveLength(1);
    }
  });

  it('in update: no row of ours is given away', async () => {
    for (const table of tables) {
      const before = await rowsOf(table, us);
      const gift = sql(`update ${table} set organization_id = $1`, them.id);
      await expect(gateway.write(us.id, gift)).rejects.toMatchObject({ code: 'create_failed' });
      expect(await rowsOf(table, us)).toEqual(before);
    }
  });

  it('in transactions, for each of their statements', async () => {
    await gateway.transaction(us.id, async (transaction) => {
      for (const table of tables) {
        const named = sql(`select * from ${table} where organization_id = $1`, them.id);
        expect(await transaction.query(named)).toEqual([]);
      }
    });
  });

  it('and nothing empties a table past the policies', async () => {
    for (const table of tables) {
      const truncate = gateway.write(us.id, sql(`truncate ${table} cascade`));
      await expect(truncate).rejects.toMatchObject({ code: 'create_failed' });
    }
  });

  /** The rows of an organization as they are, with the transaction that last wrote each. */
  async function rowsOf(table: string, { id }: Tenant): Promise<object[]> {
    const rows = await app.sql<{ row: object }>(
      `select to_jsonb(t) || jsonb_build_object('xmin', t.xmin::text) as row from ${table} t
       where organization_id = $1 order by 1`,
      [id],
    );
    return rows.map(({ row }) => row);
  }

  /** Inserts a row again under another id. */
  async function copyStatement(table: string, row: object | undefined) {
    const columns = await app.sql<{ names: string }>(
      `select string_agg(quote_ident(column_name), ', ') as names from information_schema.columns
       where table_name = $1 and is_generated = 'NEVER'`,
      [table],
    );
    const { names } = columns[0]!;
    const unique = { id: randomUUID(), email_compared: null, phone_compared: null, shard: 99 };
    const copy = { ...row, ...unique };
    return sql(
      `insert into ${table} (${names})
       select ${names} from jsonb_populate_record(null::${table}, $1)
       returning organization_id`,
      JSON.stringify(copy),
    );
  }
});

describe('the role that statements of a tenant run under', () => {
  it('is latitude_app', async () => {
    const gateway = app.app.get(TenantDatabase);
    const who = sql('select current_user as who');
    expect(await gateway.read(ours.id, who)).toEqual([{ who: 'latitude_app' }]);
    expect(await gateway.write(ours.id, who)).toEqual([{ who: 'latitude_app' }]);
    await gateway.transaction(ours.id, async (transaction) => {
      expect(await transaction.query(who)).toEqual([{ who: 'latitude_app' }]);
      expect(await transaction.query(who)).toEqual([{ who: 'latitude_app' }]);
    });
  });

  it('is no superuser, passes no policy, may not log in and is in no other role', async () => {
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

  it('owns nothing', async () => {
    const owned = `select from pg_class where relowner = 'latitude_app'::regrole`;
    expect(await app.sql(owned)).toEqual([]);
  });

  it('reaches neither keys nor organizations', async () => {
    const privileges = 'select, insert, update, delete, truncate, references, trigger';
    for (const table of ['api_keys', 'organizations', 'migrations']) {
      const answer = await app.sql(
        `select has_table_privilege('latitude_app', $1, '${privileges}')
           or has_any_column_privilege('latitude_app', $1, 'select, insert, update') as may`,
        [table],
      );
      expect(answer).toEqual([{ may: false }]);
    }
  });
});

describe('the setting that names the organization', () => {
  const WHO = `select current_user = session_user as is_owner,
    coalesce(current_setting('app.organization_id', true), '') as setting`;

  it('does not survive on a pooled connection', async () => {
    const gateway = app.app.get(TenantDatabase);
    const dataSource = app.app.get(DataSource);
    const uses = Array.from({ length: 30 }, (_, i) => {
      if (i % 3 === 0) return gateway.read(ours.id, sql('select 1'));
      if (i % 3 === 1) return gateway.read(ours.id, sql('select 1 / 0')).catch(() => undefined);
      return gateway.transaction(theirs.id, (transaction) => transaction.query(sql('select 1')));
    });
    await Promise.all(uses);
    const asks = Array.from({ length: 30 }, () => dataSource.query<object[]>(WHO));
    for (const answer of await Promise.all(asks)) {
      expect(answer).toEqual([{ is_owner: true, setting: '' }]);
    }
  });

  it.each([
    ['is not set', 'select 1'],
    ['is empty', `select set_config('app.organization_id', '', true)`],
    ['names no organization', `select set_config('app.organization_id', '${randomUUID()}', true)`],
  ])('hides every row from latitude_app where it %s', async (_, prepare) => {
    await createLead(ours.api);
    const runner = app.app.get(DataSource).createQueryRunner();
    try {
      await runner.startTransaction();
      await runner.query('set local role latitude_app');
      await runner.query(prepare);
      expect(await runner.query('select * from leads')).toEqual([]);
      expect(await runner.query('delete from leads returning id')).toEqual([[], 0]);
    } finally {
      await runner.rollbackTransaction();
      await runner.release();
    }
  });
});

/** Tables whose rows belong to an organization. */
const TENANT_TABLES = `select c.relname as name from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
  where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace`;

interface Row {
  organization_id: string;
}

function sql(text: string, ...values: unknown[]) {
  return { text, values };
}
