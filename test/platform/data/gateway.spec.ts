import { Deadline, UnlimitedTimeBudget } from '../../../src/platform/data/gateway/policies.js';
import {
  buildLead,
  createLead,
  dataOf,
  expectInvalid,
  LEADS,
} from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { createDatabase, databaseOf, query } from '../../../src/testing/databases.js';

/** The time budget of a server whose operations have a second. */
class ShortTimeBudget extends UnlimitedTimeBudget {
  override startDeadline(): Deadline {
    return new Deadline(1_000);
  }
}

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
});
afterAll(() => app.stop());

describe('a transaction with a deadlock or a serialization failure', () => {
  beforeAll(async () => {
    // A sequence is not rolled back, so it counts the attempts.
    await app.sql('create sequence attempts; grant usage on attempts to public');
    await app.sql(`create function break_off() returns trigger language plpgsql as $$
      declare attempt int = nextval('attempts');
      begin
        if new.notes = 'deadlock once' and attempt % 2 = 1 then
          raise exception 'for a test' using errcode = '40P01';
        elsif new.notes = 'deadlock always' then
          raise exception 'for a test' using errcode = '40001';
        end if;
        return new;
      end $$`);
    await app.sql(`create trigger break_off before insert or update on leads
      for each row when (new.notes like 'deadlock%') execute function break_off()`);
  });

  it('is retried by a create and by an update', async () => {
    const created = dataOf(
      await tenant.api.post(LEADS, buildLead({ notes: 'deadlock once' })),
      201,
    );
    const { id } = await createLead(tenant.api);
    const updated = dataOf(await tenant.api.put(`${LEADS}/${id}`, { notes: 'deadlock once' }));
    expect([created.notes, updated.notes]).toEqual(['deadlock once', 'deadlock once']);
  });

  it('is overloaded and writes nothing when every retry fails until the deadline', async () => {
    const { id } = await createLead(tenant.api, { notes: 'before' });
    const hurried = await TestApp.start({
      database: app.database,
      timeBudget: new ShortTimeBudget(),
    });
    const api = hurried.client(tenant.key.key);
    const answers = [
      await api.post(LEADS, { first_name: 'Never', notes: 'deadlock always' }),
      await api.put(`${LEADS}/${id}`, { notes: 'deadlock always' }),
    ];
    await hurried.stop();
    for (const answer of answers) {
      expect(answer).toMatchObject({
        status: 503,
        body: { error: { code: 'overloaded', retryable: true } },
      });
      expect(answer.headers.get('Retry-After')).toBe('1');
    }
    expect(dataOf(await tenant.api.get(`${LEADS}/${id}`)).notes).toBe('before');
    expect((await tenant.api.get(`${LEADS}?search=Never`)).body.meta.total).toBe(0);
  });
});

describe('the details of a validation error', () => {
  it('name each field once that is invalid in JSON or exceeds its limits', async () => {
    const body = '{"first_name":"","zip":5,"custom_fields":{"a":1e400},"tags":["\\u0000"],"x":1}';
    const fields = ['first_name', 'zip', 'custom_fields', 'tags', 'x'];
    expectInvalid(await tenant.api.post(LEADS, body), ...fields);
  });
});

describe('another DateStyle of the database', () => {
  let other: TestApp;
  afterEach(() => other.stop());

  it.each(['German', 'SQL, MDY', 'Postgres, DMY'])('is supported: %s', async (style) => {
    const database = await createDatabase();
    await query(database, `alter database ${databaseOf(database)} set datestyle = ${style}`);
    other = await TestApp.start({ database });
    const { api } = await other.organization();
    const due_date = '2026-03-04T05:06:07.890Z';
    const task = dataOf(await api.post('/api/v1/tasks', { title: 'Call', due_date }), 201);
    const path = `/api/v1/tasks/${task.id}`;
    expect(dataOf(await api.put(path, { description: 'Soon.' }))).toMatchObject({ due_date });
    expect(dataOf(await api.put(path, { description: 'Soon.' }))).toMatchObject({ due_date });
  });
});
