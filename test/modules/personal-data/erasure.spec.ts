import { randomUUID } from 'node:crypto';
import {
  buildLead,
  createLead,
  dataOf,
  errorOf,
  expectError,
  expectInvalid,
  LEADS,
} from '../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';
import { readAllEvents, readEvents } from '../../support/events.js';
import {
  importFile,
  type ImportRecord,
  IMPORTS,
  rejectedOf,
  resultsOf,
  sendFile,
  untilEnded,
} from '../../support/lead-imports.js';

const APPOINTMENTS = '/api/v1/appointments';
const TASKS = '/api/v1/tasks';
const TIMES = { start_time: '2030-01-01T10:00:00Z', end_time: '2030-01-01T11:00:00Z' };

interface Row {
  id: string;
  updated_at: string;
}

interface Erased {
  erased: boolean;
  lead_ids: string[];
}

let app: TestServer;
let tenant: Tenant;
let api: Tenant['api'];

beforeAll(async () => {
  app = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await app.organization({ scopes: [...app.scopes.ordinary, 'leads:erase'] });
  ({ api } = tenant);
});

const erase = (id: string, headers?: Record<string, string>) =>
  api.post(`${LEADS}/${id}/erase`, undefined, { headers });

const book = async (lead_id: string, more = {}) =>
  dataOf<Row>(await api.post(APPOINTMENTS, { ...TIMES, lead_id, ...more }), 201);

const remind = async (contact_id: string, more = {}) =>
  dataOf<Row>(await api.post(TASKS, { title: 'Call Ada', contact_id, ...more }), 201);

const merge = async (target: string, lead_id: string) =>
  dataOf(await api.post(`${LEADS}/${target}/merge`, { lead_id }));

const stored = (table: string, id: string) =>
  app.sql(`select from ${table} where organization_id = $1 and id = $2`, [tenant.id, id]);

describe('POST /api/v1/leads/:id/erase', () => {
  it('removes the lead and its appointments for good', async () => {
    const lead = await createLead(api, buildLead());
    const other = await createLead(api, buildLead());
    const appointment = await book(lead.id);
    const kept = await book(other.id);
    const answer = await erase(lead.id);
    expect(dataOf<Erased>(answer)).toEqual({ erased: true, lead_ids: [lead.id] });
    expectError(await api.get(`${LEADS}/${lead.id}`), 404, 'not_found');
    expectError(await api.get(`${APPOINTMENTS}/${appointment.id}`), 404, 'not_found');
    expect(await stored('leads', lead.id)).toEqual([]);
    expect(await stored('appointments', appointment.id)).toEqual([]);
    expect(dataOf(await api.get(`${LEADS}/${other.id}`))).toEqual(other);
    expect(dataOf(await api.get(`${APPOINTMENTS}/${kept.id}`))).toEqual(kept);
  });

  it('replaces the texts of tasks, and clears their reference', async () => {
    const { id } = await createLead(api);
    const task = await remind(id, { description: 'At home', priority: 'high' });
    const bare = await remind(id);
    const deleted = await remind(id, { description: 'At work' });
    await api.delete(`${TASKS}/${deleted.id}`);
    const other = await remind((await createLead(api)).id);
    dataOf(await erase(id));
    const after = dataOf<Row>(await api.get(`${TASKS}/${task.id}`));
    const erased = { title: 'erased', description: 'erased', contact_id: null };
    expect(after).toEqual({ ...task, ...erased, updated_at: after.updated_at });
    expect(after.updated_at > task.updated_at).toBe(true);
    expect(dataOf(await api.get(`${TASKS}/${bare.id}`))).toMatchObject({
      title: 'erased',
      description: null,
    });
    const rows = await app.sql('select title, description, contact_id from tasks where id = $1', [
      deleted.id,
    ]);
    expect(rows).toEqual([erased]);
    expect(dataOf(await api.get(`${TASKS}/${other.id}`))).toEqual(other);
  });

  it('keeps only the ids of records in events, and writes one lead.deleted', async () => {
    const { id } = await createLead(api, { email: 'ada@example.com' });
    await api.put(`${LEADS}/${id}`, { city: 'London' });
    const appointment = await book(id);
    const task = await remind(id);
    await readAllEvents(api, 4);
    dataOf(await erase(id));
    const events = await readAllEvents(api, 6);
    const kinds = events.map(({ type, record }) => [type, record]);
    expect(kinds).toEqual([
      ['lead.created', { id }],
      ['lead.updated', { id }],
      ['appointment.created', { id: appointment.id }],
      ['task.created', { id: task.id }],
      ['task.updated', { id: task.id }],
      ['lead.deleted', { id }],
    ]);
    expect(events.map(({ changed }) => changed)).toEqual([
      [],
      ['city'],
      [],
      [],
      ['title', 'description', 'contact_id'],
      [],
    ]);
    const { data } = await readEvents(api, '', `${LEADS}/${id}/events`);
    expect(data.map(({ record }) => record)).toEqual([{ id }, { id }, { id }]);
  });

  it('frees the unique values, and keeps totals exact', async () => {
    const lead = buildLead();
    const { id } = await createLead(api, lead);
    dataOf(await erase(id));
    const { body } = await api.get(`${LEADS}?status=new`);
    expect((body as { meta: { total: number } }).meta.total).toBe(0);
    await createLead(api, lead);
    const again = await api.get(`${LEADS}?status=new`);
    expect((again.body as { meta: { total: number } }).meta.total).toBe(1);
  });

  it('removes counts of values that no lead has any more', async () => {
    const { id } = await createLead(api, { status: 'friend of Ada' });
    await api.put(`${LEADS}/${id}`, { status: 'friend of Grace' });
    await createLead(api, { status: 'new' });
    dataOf(await erase(id));
    const values = await app.sql<{ value: string }>(
      `select distinct value from record_counts
       where organization_id = $1 and resource = 'leads' and filter = 'status'`,
      [tenant.id],
    );
    expect(values).toEqual([{ value: 'new' }]);
  });

  it('erases a deleted lead, without another event', async () => {
    const { id } = await createLead(api, { email: 'ada@example.com' });
    await api.delete(`${LEADS}/${id}`);
    dataOf(await erase(id));
    const events = await readAllEvents(api, 2);
    expect(events.map(({ type, record }) => [type, record])).toEqual([
      ['lead.created', { id }],
      ['lead.deleted', { id }],
    ]);
    expect(await stored('leads', id)).toEqual([]);
  });

  it.each([0, 1, 2])('erases all leads that were merged, by any of their ids (%d)', async (n) => {
    const leads = [await createLead(api), await createLead(api), await createLead(api)] as const;
    const [a, b, c] = leads.map(({ id }) => id) as [string, string, string];
    await merge(b, a);
    await merge(c, b);
    const { lead_ids } = dataOf<Erased>(await erase(leads[n]!.id));
    expect(lead_ids.toSorted()).toEqual([a, b, c].toSorted());
    for (const id of lead_ids) {
      expect(await stored('leads', id)).toEqual([]);
      const answer = await api.get(`${LEADS}/${id}`);
      expectError(answer, 404, 'not_found');
      expect(errorOf(answer).details).toBeUndefined();
    }
    const events = await readAllEvents(api, 8);
    for (const { record } of events) expect(Object.keys(record)).toEqual(['id']);
    expect(events.filter(({ type }) => type === 'lead.deleted')).toHaveLength(3);
  });

  it('can be repeated, also by the id of a merged lead', async () => {
    const [a, b] = [await createLead(api), await createLead(api)];
    await merge(b.id, a.id);
    const first = dataOf<Erased>(await erase(a.id));
    const again = dataOf<Erased>(await erase(b.id));
    expect(again.lead_ids.toSorted()).toEqual(first.lead_ids.toSorted());
    await readAllEvents(api, 5);
  });

  it('does not find an unknown lead, or that of another organization', async () => {
    const stranger = await app.organization({ scopes: [...app.scopes.ordinary, 'leads:erase'] });
    const foreign = await createLead(stranger.api);
    for (const id of [randomUUID(), foreign.id]) {
      expectError(await erase(id), 404, 'not_found');
    }
    expect(dataOf(await stranger.api.get(`${LEADS}/${foreign.id}`))).toEqual(foreign);
    dataOf(await stranger.api.post(`${LEADS}/${foreign.id}/erase`, undefined));
    expectError(await erase(foreign.id), 404, 'not_found');
  });

  it('takes no fields', async () => {
    const { id } = await createLead(api);
    expectInvalid(await api.post(`${LEADS}/${id}/erase`, { force: true }), 'force');
    dataOf(await api.post(`${LEADS}/${id}/erase`, {}));
  });

  it('needs leads:erase and no other scope', async () => {
    const { id } = await createLead(api);
    const others = tenant.key.scopes.filter((scope) => scope !== 'leads:erase');
    const { api: limited } = await app.key(tenant.id, others as never);
    expectError(await limited.post(`${LEADS}/${id}/erase`, undefined), 403, 'insufficient_scope');
    const { api: eraser } = await app.key(tenant.id, ['leads:erase']);
    dataOf(await eraser.post(`${LEADS}/${id}/erase`, undefined));
  });

  it('counts as a write', async () => {
    const { id } = await createLead(api);
    const limit = (await erase(id)).headers.get('ratelimit-limit');
    const write = await api.post(LEADS, { first_name: 'Ada' });
    expect(limit).toBe(write.headers.get('ratelimit-limit'));
  });
});

describe('an Idempotency-Key of an erased record', () => {
  const key = () => ({ 'Idempotency-Key': randomUUID() });

  it('is 404 afterwards, and creates nothing', async () => {
    const lead = { first_name: 'Ada', email: 'ada@example.com' };
    const headers = { create: key(), book: key(), remind: key(), upsert: key(), batch: key() };
    const upsert = { match_on: ['email'], data: lead };
    const batch = { items: [{ action: 'upsert', match_on: ['email'], data: lead }] };
    const { id } = dataOf(await api.post(LEADS, lead, { headers: headers.create }), 201);
    const requests: [string, object, Record<string, string>, number][] = [
      [LEADS, lead, headers.create, 201],
      [APPOINTMENTS, { ...TIMES, lead_id: id }, headers.book, 201],
      [TASKS, { title: 'Call Ada', contact_id: id }, headers.remind, 201],
      [`${LEADS}/upsert`, upsert, headers.upsert, 200],
      [`${LEADS}/batch`, batch, headers.batch, 200],
    ];
    for (const [path, body, ofRequest, status] of requests) {
      const answer = await api.post(path, body, { headers: ofRequest });
      expect(answer.status).toBe(status);
    }
    dataOf(await erase(id));
    for (const [path, body, ofRequest] of requests) {
      const options = { headers: ofRequest };
      expectError(await api.post(path, body, options), 404, 'not_found');
      expectError(await api.post(path, { ...body, x: 1 }, options), 400, 'validation_error');
    }
    const other = { ...lead, first_name: 'Grace' };
    expectError(await api.post(LEADS, other, { headers: headers.create }), 404, 'not_found');
    const { body } = await api.get(LEADS);
    expect((body as { meta: { total: number } }).meta.total).toBe(0);
  });

  it('is 404 also after the time for which responses are kept', async () => {
    const headers = key();
    const { id } = dataOf(await api.post(LEADS, { first_name: 'Ada' }, { headers }), 201);
    dataOf(await erase(id));
    await app.sql(
      `update idempotency_keys set created_at = created_at - interval '40 days' where organization_id = $1`,
      [tenant.id],
    );
    expectError(await api.post(LEADS, { first_name: 'Ada' }, { headers }), 404, 'not_found');
  });

  it('of another record still replays', async () => {
    const headers = key();
    const kept = dataOf(await api.post(LEADS, { first_name: 'Grace' }, { headers }), 201);
    const { id } = await createLead(api);
    dataOf(await erase(id));
    const again = await api.post(LEADS, { first_name: 'Grace' }, { headers });
    expect(dataOf(again, 201)).toEqual(kept);
  });

  it('of the erasure itself replays', async () => {
    const { id } = await createLead(api);
    const headers = key();
    const first = await erase(id, headers);
    const again = await erase(id, headers);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
  });
});

describe('an erasure at the same time as', () => {
  const TEN = Array.from({ length: 10 }, (_, index) => index);

  it.each(TEN)('a merge leaves nothing of both leads (%d)', async (n) => {
    const [one, other] = [await createLead(api), await createLead(api)];
    const id = n % 2 ? one.id : other.id;
    const [done, erased] = await Promise.all([
      api.post(`${LEADS}/${one.id}/merge`, { lead_id: other.id }),
      erase(id),
    ]);
    const { lead_ids } = dataOf<Erased>(erased);
    expect([200, 404]).toContain(done.status);
    expect(lead_ids).toHaveLength(done.status === 200 ? 2 : 1);
    for (const each of lead_ids) expect(await stored('leads', each)).toEqual([]);
  });

  it.each(TEN)('writes of its records leaves only ids in events (%d)', async () => {
    const { id } = await createLead(api);
    const task = await remind(id);
    const answers = await Promise.all([
      api.put(`${LEADS}/${id}`, { city: 'London' }),
      api.put(`${TASKS}/${task.id}`, { description: 'At home' }),
      erase(id),
      api.post(APPOINTMENTS, { ...TIMES, lead_id: id }),
      api.post(TASKS, { title: 'Call', contact_id: id }),
    ]);
    for (const { status } of answers) expect([200, 201, 404]).toContain(status);
    dataOf(answers[2]);
    const events = await app.sql<{ record: object }>(
      `select record from events where organization_id = $1 and (record_id = $2 or type like 'appointment.%')
       union all select record from event_outbox
       where organization_id = $1 and (record_id = $2 or type like 'appointment.%')`,
      [tenant.id, id],
    );
    for (const { record } of events) expect(Object.keys(record)).toEqual(['id']);
    expect(await app.sql('select from appointments where lead_id = $1', [id])).toEqual([]);
    expect(await app.sql('select from tasks where contact_id = $1', [id])).toEqual([]);
  });
});

describe('imports, after an erasure', () => {
  const FILE = 'first_name,email\nCanary,nothing\nOk,ok@example.com\n';
  const BIG = `first_name,email\n${Array.from({ length: 20_000 }, (_, n) => `Lead,canary${n}@example.com\n`).join('')}`;

  it('keep the line and the reason of a rejected line, and not its cells', async () => {
    const { id } = await createLead(api);
    const done = await importFile(api, FILE, { match_on: 'email' });
    expect(await rejectedOf(api, done.id)).toContain('Canary');
    dataOf(await erase(id));
    expect(await rejectedOf(api, done.id)).toBe(
      'rejected_line,rejection_reason,first_name,email\r\n2,email must be a valid e-mail address,,\r\n',
    );
    expect(await api.get(`${IMPORTS}/${done.id}`)).toMatchObject({ body: { data: done } });
  });

  it('are cancelled if they have not ended, and their files are removed', async () => {
    const { id } = await createLead(api);
    const { id: running } = dataOf(await sendFile(api, BIG, { match_on: 'email' }), 202);
    dataOf(await erase(id));
    expect(await untilEnded(api, running)).toMatchObject({
      status: 'cancelled',
      error: 'The data of a person was erased.',
    });
    const chunks = 'select from lead_import_chunks where organization_id = $1';
    expect(await app.sql(chunks, [tenant.id])).toEqual([]);
  });

  it('keep no names of columns and no constants, which can be values of a person', async () => {
    const { id } = await createLead(api);
    const csv = 'Ada Canary,ada@canary.example,Oslo\nBo,bo@example.com,Rome\nCy,nonsense,Bonn';
    const query = {
      map: '{"Ada Canary":"first_name","ada@canary.example":"email","Oslo":null}',
      set: '{"notes":"a friend of Canary"}',
    };
    const headers = { 'Idempotency-Key': randomUUID() };
    const { id: first } = dataOf(await sendFile(api, csv, query, headers), 202);
    await untilEnded(api, first);
    const ndjson = '{"Ada Canary":1,"first_name":"Bo","email":"x"}';
    const second = await importFile(
      api,
      ndjson,
      { unknown_columns: 'custom_fields' },
      { 'Content-Type': 'application/x-ndjson' },
    );
    expect(await rejectedOf(api, first)).toContain('Ada Canary,ada@canary.example,Oslo');
    dataOf(await erase(id));
    const { ignored_columns } = dataOf<ImportRecord>(await api.get(`${IMPORTS}/${first}`));
    expect(ignored_columns).toEqual(['column 3']);
    expect(await rejectedOf(api, first)).toBe(
      'rejected_line,rejection_reason,column 1,column 2,column 3\r\n3,email must be a valid e-mail address,,,\r\n',
    );
    expect(await rejectedOf(api, second.id)).toBe(
      '{"rejected_line":1,"rejection_reason":"email must be 3 to 254 characters"}\n',
    );
    expectError(await sendFile(api, csv, query, headers), 404, 'not_found');
    for (const table of ['lead_imports', 'lead_import_rejections', 'idempotency_keys', 'jobs']) {
      const sql = `select from ${table} where organization_id = $1 and ${table}::text ~* 'canary|oslo'`;
      expect(await app.sql(sql, [tenant.id])).toEqual([]);
    }
  });

  it('keep names of columns that are no values', async () => {
    const { id } = await createLead(api);
    const csv = 'First Name,E-mail,Lead Score\nBo,bo@example.com,5';
    const headers = { 'Idempotency-Key': randomUUID() };
    const started = dataOf<ImportRecord>(await sendFile(api, csv, {}, headers), 202);
    await untilEnded(api, started.id);
    dataOf(await erase(id));
    const done = dataOf<ImportRecord>(await api.get(`${IMPORTS}/${started.id}`));
    expect(done.ignored_columns).toEqual(['Lead Score']);
    expect(dataOf(await sendFile(api, csv, {}, headers), 202)).toEqual(started);
  });

  it('no longer name the erased lead in their results', async () => {
    const csv = 'first_name,email\nAda,ada@example.com\nBo,bo@example.com';
    const done = await importFile(api, csv);
    const lines = (await resultsOf(api, done.id)).split('\r\n');
    const ids = lines.slice(1, 3).map((line) => line.split(',')[2]!);
    const again = await importFile(api, csv);
    dataOf(await erase(ids[0]!));
    expect(await resultsOf(api, done.id)).toBe(
      `line,action,id\r\n2,created,\r\n3,created,${ids[1]}\r\n`,
    );
    expect(await resultsOf(api, again.id)).toContain(`2,unchanged,\r\n3,unchanged,${ids[1]}\r\n`);
  });

  it('of another organization stay as they are', async () => {
    const stranger = await app.organization();
    const done = await importFile(stranger.api, FILE, { match_on: 'email' });
    dataOf(await erase((await createLead(api)).id));
    expect(await rejectedOf(stranger.api, done.id)).toContain('Canary');
  });
});
