import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { BatchConnections } from '../../../src/platform/data/gateway/batch-connections.js';
import type { Statement } from '../../../src/platform/data/gateway/statement.js';
import { TenantDatabase } from '../../../src/platform/data/gateway/tenant-database.js';
import { TENANT_SETTING } from '../../../src/platform/data/connection/session-context.js';
import { LeadsService } from '../../../src/modules/leads/leads.service.js';
import { TimeBudget } from '../../../src/platform/data/gateway/policies.js';
import type { Answer } from '../../../src/testing/api-client.js';
import {
  createLead,
  dataOf,
  expectError,
  getLead,
  LEADS,
  updateLead,
} from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { configOf } from '../../../src/testing/databases.js';
import { until } from '../../support/servers/product.js';
import { TcpProxy } from '../../support/servers/tcp-proxy.js';

/** The id of an advisory lock that blocks statements until the test releases it. */
const HELD = 4_711;

let app: TestApp;
let us: Tenant;
let them: Tenant;
let database: TenantDatabase;

beforeAll(async () => {
  app = await TestApp.start();
  [us, them] = await Promise.all([app.organization(), app.organization()]);
  database = app.app.get(TenantDatabase);
});
afterAll(() => app.stop());

const onIndex = (text: string, values: unknown[] = []): Statement => {
  return { text, values, plan: 'index' };
};

/** Returns the organization and the role that row-level security applies to a statement. */
const IDENTITY = onIndex(
  `select current_setting('${TENANT_SETTING}') as organization, current_user as role, $1::int as n`,
);

interface Identity {
  organization: string;
  role: string;
  n: number;
}

function identify(tenant: Tenant, n: number): Promise<Identity[]> {
  return database.read<Identity>({ tenant }, { ...IDENTITY, values: [n] });
}

/** Returns the number of statements that wait for locks of a type. */
async function waitingFor(type: string): Promise<number> {
  const waiting = await app.sql(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
     and wait_event = $1`,
    [type],
  );
  return waiting.length;
}

/** Terminates the connections of the application. */
function endConnections(): Promise<unknown> {
  return app.sql(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name like 'latitude%'`);
}

describe('concurrent statements', () => {
  it('run for their own organization and under the tenant role', async () => {
    // All at once would wait for a connection for too long on a busy machine.
    for (let round = 0; round < 4; round++) {
      const asked = Array.from({ length: 100 }, (_, n) => [n % 2 ? us : them, n] as const);
      const answers = await Promise.all(asked.map(([tenant, n]) => identify(tenant, n)));
      const expected = asked.map(([{ id }, n]) => [{ organization: id, role: 'latitude_app', n }]);
      expect(answers).toEqual(expected);
    }
  });

  it('do not keep the organization of the previous statement', async () => {
    await identify(us, 1);
    const [row] = await database.read<Identity>({ tenant: them }, { ...IDENTITY, values: [2] });
    expect(row?.organization).toBe(them.id);
  });

  it('do not fail when others fail', async () => {
    const broken = [
      onIndex('select 1 / $1::int as n', [0]),
      onIndex('select no_such_column from leads where organization_id = $1', [us.id]),
      onIndex('select $1::uuid as n', ['no uuid']),
    ];
    const asked = Array.from({ length: 120 }, (_, n) => {
      const statement = n % 4 === 3 ? broken[(n >> 2) % broken.length]! : undefined;
      return statement ? database.read({ tenant: us }, statement) : identify(us, n);
    });
    const answers = await Promise.allSettled(asked);
    const failed = answers.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []));
    expect(failed).toEqual(answers.flatMap((_, n) => (n % 4 === 3 ? [n] : [])));
    for (const [n, answer] of answers.entries()) {
      if (answer.status === 'fulfilled') expect(answer.value).toMatchObject([{ n }]);
    }
  });

  it('do not read uncommitted changes of a transaction', async () => {
    const { id } = await createLead(us.api, { notes: 'before' });
    await database.transaction({ tenant: us }, async ({ transaction }) => {
      await transaction.query({
        text: `update leads set notes = 'after' where organization_id = $1 and id = $2`,
        values: [us.id, id],
      });
      expect((await getLead(us.api, id)).notes).toBe('before');
    });
    expect((await getLead(us.api, id)).notes).toBe('after');
  });

  it.each(['read', 'write'] as const)(
    'of many organizations share connections: %s',
    async (kind) => {
      const tenants = await Promise.all(Array.from({ length: 12 }, () => app.organization()));
      const backends = new Set<number>();
      for (let repeat = 0; repeat < 5; repeat++) {
        const rows = await Promise.all(
          tenants.map((tenant) =>
            database[kind]<{ pid: number }>({ tenant }, onIndex('select pg_backend_pid() as pid')),
          ),
        );
        for (const [row] of rows) backends.add(row!.pid);
      }
      expect(backends.size).toBeLessThanOrEqual(2);
    },
  );

  it('complete while statements of unknown cost occupy other connections', async () => {
    const { id } = await createLead(us.api);
    const holder = new pg.Client(configOf(app.database));
    await holder.connect();
    await holder.query('select pg_advisory_lock($1)', [HELD]);
    let running = 2;
    const slow = Array.from({ length: running }, () =>
      database
        .read({ tenant: us }, { text: 'select pg_advisory_xact_lock_shared($1)', values: [HELD] })
        .finally(() => running--),
    );
    await until(async () => (await waitingFor('advisory')) === 2);
    await Promise.all(Array.from({ length: 50 }, () => getLead(us.api, id)));
    expect(running).toBe(2);
    await holder.end();
    await Promise.all(slow);
  });
});

describe('concurrent requests of one organization', () => {
  // Requests over HTTP arrive one after another on a busy machine, and then share nothing.
  it('are sent together', async () => {
    const leads = await Promise.all(Array.from({ length: 40 }, () => createLead(us.api)));
    const [service, call] = [app.app.get(LeadsService), await app.call(us)];
    const batches = jest.spyOn(app.app.get(BatchConnections), 'sendBatch');
    await Promise.all(leads.map(({ id }) => service.get(call, id)));
    expect(batches.mock.calls.length).toBeLessThan(leads.length / 2);
    batches.mockRestore();
  });

  it('are sent together for updates and deletions', async () => {
    const tenant = await app.organization();
    const leads = await Promise.all(Array.from({ length: 40 }, () => createLead(tenant.api)));
    const [service, call] = [app.app.get(LeadsService), await app.call(tenant)];
    const batches = jest.spyOn(app.app.get(BatchConnections), 'sendBatch');
    const updated = await Promise.all(
      leads.map(({ id }, n) => service.update(call, id, { notes: `Note ${n}` })),
    );
    const deletions = await Promise.all(leads.map(({ id }) => service.delete(call, id)));
    expect(updated.map(({ notes }) => notes)).toEqual(leads.map((_, n) => `Note ${n}`));
    expect(deletions.map(({ id }) => id)).toEqual(leads.map(({ id }) => id));
    expect(batches.mock.calls.length).toBeLessThan(leads.length / 2);
    batches.mockRestore();
  });

  it.each([
    ['does not depend on stored values', { notes: 'Called' }, 1],
    ['changes the score', { temperature: 'hot' as const }, 2],
  ])('need the fewest statements for an update that %s', async (_, changes, statements) => {
    const lead = await createLead(us.api, { email: `${randomUUID()}@example.com` });
    const [service, call] = [app.app.get(LeadsService), await app.call(us)];
    const batches = jest.spyOn(app.app.get(BatchConnections), 'sendBatch');
    const updated = await service.update(call, lead.id, changes);
    expect(batches).toHaveBeenCalledTimes(statements);
    batches.mockRestore();
    expect(updated).toMatchObject(changes);
    expect(await service.update(call, lead.id, changes)).toEqual(updated);
  });

  it('each receive the record that they name, independently of the others', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const { api } = n % 3 ? us : them;
        const lead = await createLead(api, { first_name: `Caller ${n}` });
        const changed = await updateLead(api, lead.id, { company: `Company ${n}` });
        const read = await getLead(api, lead.id.toUpperCase());
        await api.delete(`${LEADS}/${lead.id}`);
        return { n, lead, changed, read, gone: await api.get(`${LEADS}/${lead.id}`) };
      }),
    );
    for (const { n, lead, changed, read, gone } of answers) {
      const own = { id: lead.id, first_name: `Caller ${n}` };
      expect(lead).toMatchObject(own);
      expect(changed).toMatchObject({ ...own, company: `Company ${n}` });
      expect(read).toEqual(changed);
      expectError(gone, 404, 'not_found');
    }
  });

  it('fail alone', async () => {
    const email = `${randomUUID()}@example.com`;
    const taken = await createLead(us.api, { email });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => {
        const body = { first_name: `Batch ${n}`, ...(n % 8 === 0 && { email }) };
        return us.api.post(LEADS, body);
      }),
    );
    for (const [n, answer] of answers.entries()) {
      if (n % 8 === 0) {
        const details = [{ field: 'email', existing_id: taken.id }];
        expect(answer).toMatchObject({
          status: 409,
          body: { error: { code: 'duplicate', details } },
        });
      } else expect(dataOf(answer, 201).first_name).toBe(`Batch ${n}`);
    }
  });

  it('fail alone when PostgreSQL refuses their row', async () => {
    await app.sql(`create function refuse_row() returns trigger language plpgsql as $$ begin
      if new.notes = 'refused' then raise exception 'for a test'; end if; return new; end $$`);
    await app.sql(`create trigger refuse_row before insert or update on leads
      for each row when (new.notes = 'refused') execute function refuse_row()`);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => {
        return us.api.post(LEADS, { first_name: 'A', notes: n % 8 === 0 ? 'refused' : `n${n}` });
      }),
    );
    for (const [n, answer] of answers.entries()) {
      if (n % 8 === 0) expectError(answer, 500, 'create_failed');
      else expect(dataOf(answer, 201).notes).toBe(`n${n}`);
    }
    const updates = await Promise.all(
      answers
        .filter(({ status }) => status === 201)
        .map((answer, n) => {
          const notes = n % 8 === 0 ? 'refused' : `changed ${n}`;
          return us.api.put(`${LEADS}/${dataOf(answer, 201).id}`, { notes });
        }),
    );
    for (const [n, answer] of updates.entries()) {
      if (n % 8 === 0) expectError(answer, 500, 'create_failed');
      else expect(dataOf(answer).notes).toBe(`changed ${n}`);
    }
    await app.sql('drop function refuse_row() cascade');
  });

  it('change a record that others also change, without losing a change or using a lock', async () => {
    const { id } = await createLead(us.api);
    const transactions = jest.spyOn(database, 'transaction');
    const fields = ['company', 'city', 'zip', 'notes', 'first_name', 'last_name'];
    await Promise.all(fields.map((field) => updateLead(us.api, id, { [field]: field })));
    // Handlers of events run transactions of their own.
    const own = transactions.mock.calls.filter(
      ([{ actor }]) => !actor?.key.name?.startsWith('event handler '),
    );
    expect(own).toEqual([]);
    transactions.mockRestore();
    expect(await getLead(us.api, id)).toMatchObject(
      Object.fromEntries(fields.map((field) => [field, field])),
    );
  });

  it('refer to leads that exist', async () => {
    const lead = await createLead(us.api);
    const foreign = await createLead(them.api);
    const answers = await Promise.all(
      [lead.id, foreign.id, null, randomUUID(), lead.id].map((contact_id) =>
        us.api.post('/api/v1/tasks', { title: 'Call', contact_id }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 404, 201, 404, 201]);
  });
});

describe('a write that has to wait for a lock', () => {
  it('does not block other writes, and completes when the lock is released', async () => {
    const email = `${randomUUID()}@example.com`;
    const { id } = await createLead(us.api);
    let blocked: Promise<Answer> | undefined;
    await database
      .transaction({ tenant: us }, async ({ transaction }) => {
        await transaction.query({
          text: `update leads set email_compared = $3 where organization_id = $1 and id = $2`,
          values: [us.id, id, email],
        });
        blocked = us.api.post(LEADS, { first_name: 'Waits', email });
        // One after another: on a busy machine, those that wait for each other would queue behind the one that waits here.
        for (let n = 0; n < 20; n++) await createLead(us.api);
        throw new Error('roll back');
      })
      .catch(() => undefined);
    expect(dataOf(await blocked!, 201).email).toBe(email);
  });
});

describe('lost connections', () => {
  it('are reopened by the next statement, which succeeds', async () => {
    const { id } = await createLead(us.api);
    await Promise.all(Array.from({ length: 8 }, () => getLead(us.api, id)));
    await endConnections();
    // Every connection must notice its loss before its next statement.
    await until(async () => {
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => us.api.get(`${LEADS}/${id}`)),
      );
      return answers.every(({ status }) => status === 200);
    });
  });

  it('fail no read', async () => {
    const { id } = await createLead(us.api);
    for (let round = 0; round < 5; round++) {
      // Opens the connections.
      await Promise.all(Array.from({ length: 50 }, () => getLead(us.api, id)));
      const reads = Array.from({ length: 200 }, () => us.api.get(`${LEADS}/${id}`));
      await endConnections();
      for (const answer of await Promise.all(reads)) expect(dataOf(answer).id).toBe(id);
    }
  });

  it('close the idle connections, so that the next statements use new ones', async () => {
    const write = (n: number) =>
      database.write<Identity>({ tenant: us }, { ...IDENTITY, values: [n] });
    await write(1);
    app.app.get(BatchConnections).closeIdle();
    expect(await Promise.all([write(2), write(3)])).toMatchObject([[{ n: 2 }], [{ n: 3 }]]);
  });
});

describe('a database that refuses connections', () => {
  it('causes query_failed for reads and create_failed for creates until it accepts connections again', async () => {
    const proxy = await TcpProxy.to(app.database);
    const timeBudget = new TimeBudget();
    const cutOff = await TestApp.start({ database: proxy.target, timeBudget });
    try {
      const api = cutOff.client(us.key.key);
      const { id } = await createLead(api);
      await getLead(api, id);
      proxy.setOpen(false);
      const gateway = cutOff.app.get(TenantDatabase);
      await expect(
        gateway.read({ tenant: us }, { ...IDENTITY, values: [1] }),
      ).rejects.toMatchObject({
        code: 'query_failed',
      });
      await expect(
        gateway.write({ tenant: us }, { ...IDENTITY, values: [1] }),
      ).rejects.toMatchObject({
        code: 'create_failed',
      });
      // The lookup of a key that is not cached fails with the code of its request.
      const uncached = cutOff.client(them.key.key);
      const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
      expectError(await uncached.get(LEADS), 500, 'query_failed');
      expectError(await uncached.post(LEADS, { first_name: 'A' }), 500, 'create_failed');
      expectError(await uncached.post('/mcp', ping), 500, 'query_failed');
      proxy.setOpen(true);
      await until(async () => (await api.get(`${LEADS}/${id}`)).status === 200);
      await createLead(api);
    } finally {
      await cutOff.stop();
      await proxy.close();
    }
  });
});
