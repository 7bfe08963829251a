import { randomUUID } from 'node:crypto';
import type { Answer } from '../../../src/testing/api-client.js';
import {
  buildLead,
  createLead,
  dataOf,
  errorOf,
  expectError,
  expectInvalid,
  getLead,
  type LeadBody,
  type LeadRecord,
  LEADS,
} from '../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';
import { readAllEvents } from '../../support/events.js';

const APPOINTMENTS = '/api/v1/appointments';
const TASKS = '/api/v1/tasks';
const TIMES = { start_time: '2030-01-01T10:00:00Z', end_time: '2030-01-01T11:00:00Z' };
const TEN = Array.from({ length: 10 }, (_, index) => index);
/** The rounds of each race, because one round may miss it. */
const ROUNDS = TEN.slice(0, 4);

/** The response to a dry run. */
interface Preview {
  dry_run: boolean;
  would_answer: LeadRecord;
  target: LeadRecord;
  source: LeadRecord;
  moves: Record<string, number>;
}

interface Row {
  id: string;
  updated_at: string;
}

let app: TestServer;
let tenant: Tenant;
let api: Tenant['api'];

beforeAll(async () => {
  app = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await app.organization();
  ({ api } = tenant);
});

const merge = (target: string, source: string, prefer?: unknown, headers?: object) =>
  api.post(`${LEADS}/${target}/merge`, { lead_id: source, prefer }, { headers: { ...headers } });

/** Creates two leads, and merges the second into the first. */
async function createAndMerge(
  target: LeadBody,
  source: LeadBody,
  prefer?: unknown,
): Promise<LeadRecord> {
  const one = await createLead(api, target);
  const other = await createLead(api, source);
  return dataOf(await merge(one.id, other.id, prefer));
}

async function totalOf(query = ''): Promise<number> {
  const { body } = await api.get(`${LEADS}?${query}`);
  return (body as { meta: { total: number } }).meta.total;
}

/** Expects a 404 that names the lead into which another one was merged, or none. */
function expectMerged(answer: Answer, into: string | undefined, field = 'id'): void {
  expectError(answer, 404, field === 'id' ? 'not_found' : 'lead_not_found');
  const { details = [] } = errorOf(answer);
  const found = details.map(({ merged_into }) => merged_into);
  expect(found.filter(Boolean)).toEqual(into === undefined ? [] : [into]);
  for (const detail of details) expect(detail.field).toBe(field);
}

describe('POST /api/v1/leads/:id/merge', () => {
  it('answers the lead with the values of both, and deletes the other one', async () => {
    const target = await createLead(api, { first_name: 'Grace', city: 'Oslo' });
    const source = await createLead(api, buildLead({ source: 'api' }));
    const answer = await merge(target.id, source.id);
    const lead = dataOf(answer);
    const { id, first_name, city, created_at } = target;
    const kept = { id, first_name, city, created_at, source: 'api' };
    expect(lead).toEqual({ ...source, ...kept, updated_at: lead.updated_at });
    expect(lead.updated_at > target.updated_at).toBe(true);
    const stored = await api.get(`${LEADS}/${id}`);
    expect(stored.body).toEqual({ data: lead });
    expect(answer.headers.get('etag')).toBe(stored.headers.get('etag'));
    expect(answer.headers.get('location')).toBeNull();
    expectMerged(await api.get(`${LEADS}/${source.id}`), id);
    expect(await totalOf()).toBe(1);
  });

  it('accepts ids in upper case', async () => {
    const [target, source] = [await createLead(api), await createLead(api)];
    const answer = await merge(target.id.toUpperCase(), source.id.toUpperCase());
    expect(dataOf(answer).id).toBe(target.id);
    expectMerged(await api.get(`${LEADS}/${source.id.toUpperCase()}`), target.id);
  });

  it('keeps the totals of lists exact', async () => {
    const one = { status: 'new', temperature: 'hot' };
    await createAndMerge({ status: 'won' }, one);
    await createAndMerge({}, one);
    expect(await totalOf()).toBe(2);
    expect(await totalOf('status=new')).toBe(1);
    expect(await totalOf('status=won')).toBe(1);
    expect(await totalOf('temperature=hot')).toBe(2);
  });

  it('lets a search find the lead by what it has taken in', async () => {
    const lead = await createAndMerge(
      { first_name: 'Grace' },
      { company: 'Harbor', phone: '4155552671' },
    );
    for (const term of ['harbor', '+1 415 555 2671', 'grace']) {
      const { body } = await api.get(`${LEADS}?search=${encodeURIComponent(term)}`);
      expect((body as { data: Row[] }).data.map(({ id }) => id)).toEqual([lead.id]);
    }
  });
});

describe('fields', () => {
  const SCALARS = {
    first_name: 'Grace',
    last_name: 'Hopper',
    phone: '+1 415 555 2672',
    email: 'grace@example.com',
    company: 'Navy',
    address_street: '1 Pier',
    city: 'Arlington',
    state: 'VA',
    zip: '22201',
    status: 'won',
    temperature: 'hot',
    source: 'referral',
    external_id: 'other-1',
  };

  it('keeps the value of the target unless the source is preferred', async () => {
    const target = buildLead();
    const lead = await createAndMerge(target, SCALARS, { city: 'source', zip: 'target' });
    const kept = Object.keys(SCALARS).map((name) => [name, target[name]]);
    expect(lead).toMatchObject({ ...Object.fromEntries(kept), city: 'Arlington' });
  });

  it('takes every value of the source if it is preferred', async () => {
    const prefer = Object.fromEntries(Object.keys(SCALARS).map((name) => [name, 'source']));
    expect(await createAndMerge(buildLead(), SCALARS, prefer)).toMatchObject(SCALARS);
  });

  it('never replaces a value by null', async () => {
    const prefer = { phone: 'source', company: 'source', notes: 'source' };
    const target = buildLead();
    const { phone, company, notes } = target;
    expect(await createAndMerge(target, {}, prefer)).toMatchObject({ phone, company, notes });
  });

  it('unites tags', async () => {
    const tags = [{ tags: ['a', 'b'] }, { tags: ['b', 'c'] }] as const;
    expect((await createAndMerge(...tags)).tags).toEqual(['a', 'b', 'c']);
    expect((await createAndMerge(...tags, { tags: 'source' })).tags).toEqual(['b', 'c', 'a']);
  });

  it('unites custom fields by their keys', async () => {
    const [target, source] = [
      { a: 1, b: { x: 1 } },
      { b: { y: 2 }, c: null },
    ].map((custom_fields) => ({ custom_fields }));
    expect((await createAndMerge(target!, source!)).custom_fields).toEqual({
      a: 1,
      b: { x: 1 },
      c: null,
    });
    const { custom_fields } = await createAndMerge(target!, source!, { custom_fields: 'source' });
    expect(custom_fields).toEqual({ a: 1, b: { y: 2 }, c: null });
  });

  it('unites a custom field with the name __proto__', async () => {
    const fields = (json: string) => ({ custom_fields: JSON.parse(json) as object });
    const lead = await createAndMerge(fields('{"a": 1}'), fields('{"__proto__": {"b": 2}}'));
    expect(JSON.stringify(lead.custom_fields)).toContain('"__proto__":{"b":2}');
  });

  it.each([
    ['one', 'other', undefined, 'one\n\nother'],
    ['one', 'other', 'source', 'other\n\none'],
    ['one', 'one', undefined, 'one'],
    [null, 'other', undefined, 'other'],
    ['one', null, 'source', 'one'],
    [null, null, undefined, null],
  ])('appends the notes %j and %j, preferring %s', async (one, other, notes, expected) => {
    expect((await createAndMerge({ notes: one }, { notes: other }, { notes })).notes).toBe(
      expected,
    );
  });

  it.each(['sms_opted_out', 'on_dnc_list'] as const)(
    'keeps %s of either lead, whatever is preferred',
    async (field) => {
      for (const side of ['target', 'source', undefined]) {
        const prefer = { [field]: side };
        expect((await createAndMerge({ [field]: true }, {}, prefer))[field]).toBe(true);
        expect((await createAndMerge({}, { [field]: true }, prefer))[field]).toBe(true);
        expect((await createAndMerge({}, {}, prefer))[field]).toBe(false);
      }
    },
  );

  it('computes the score from the result', async () => {
    const lead = await createAndMerge(
      { email: 'a@example.com' },
      { temperature: 'hot', phone: '4155552' },
    );
    expect(lead.lead_score).toBe(70);
    const blocked = await createAndMerge({ temperature: 'hot' }, { sms_opted_out: true });
    expect(blocked.lead_score).toBe(15);
  });

  const tagsOf = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => `tag ${from + index}`);
  const keysOf = (prefix: string, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, index]));

  it.each<[string, LeadBody, LeadBody]>([
    ['tags', { tags: tagsOf(0, 30) }, { tags: tagsOf(29, 51) }],
    ['notes', { notes: 'a'.repeat(2_500) }, { notes: 'b'.repeat(2_499) }],
    ['custom_fields', { custom_fields: keysOf('a', 60) }, { custom_fields: keysOf('b', 41) }],
    [
      'custom_fields',
      { custom_fields: { a: 'x'.repeat(17_000) } },
      { custom_fields: { b: 'x'.repeat(17_000) } },
    ],
  ])('refuses %s beyond their bounds, and changes nothing', async (field, one, other) => {
    const target = await createLead(api, one);
    const source = await createLead(api, { ...other, email: 'a@example.com' });
    const task = dataOf<Row>(await api.post(TASKS, { title: 'Call', contact_id: source.id }), 201);
    expectInvalid(await merge(target.id, source.id), field);
    expect(await getLead(api, target.id)).toEqual(target);
    expect(await getLead(api, source.id)).toEqual(source);
    expect(dataOf(await api.get(`${TASKS}/${task.id}`))).toEqual(task);
  });

  it('accepts values at their bounds', async () => {
    const one = { tags: tagsOf(0, 30), notes: 'a'.repeat(2_500), custom_fields: keysOf('a', 60) };
    const other = {
      tags: tagsOf(29, 50),
      notes: 'b'.repeat(2_498),
      custom_fields: keysOf('b', 40),
    };
    const lead = await createAndMerge(one, other);
    expect(lead.tags).toHaveLength(50);
    expect(lead.notes).toHaveLength(5_000);
    expect(Object.keys(lead.custom_fields)).toHaveLength(100);
  });

  it.each([
    [{ colour: 'source' }, 'prefer.colour'],
    [{ id: 'source' }, 'prefer.id'],
    [{ lead_score: 'source' }, 'prefer.lead_score'],
    [{ city: 'both' }, 'prefer.city'],
    [{ city: 5 }, 'prefer.city'],
    ['source', 'prefer'],
    [['city'], 'prefer'],
  ])('refuses to prefer %j', async (prefer, field) => {
    const [target, source] = [await createLead(api), await createLead(api)];
    expectInvalid(await merge(target.id, source.id, prefer), field);
    expect(await totalOf()).toBe(2);
  });

  it.each([null, {}, { city: null }])('takes %j as no preference', async (prefer) => {
    expect((await createAndMerge({ city: 'Oslo' }, { city: 'Rome' }, prefer)).city).toBe('Oslo');
  });
});

describe('unique values', () => {
  const EMAIL = 'grace@example.com';

  it('moves those that the target lacks', async () => {
    const { id } = await createAndMerge(
      {},
      { email: EMAIL, phone: '+14155552671', external_id: 'crm-1' },
    );
    for (const [field, value] of [
      ['email', 'GRACE@example.com'],
      ['phone', '(415) 555-2671'],
      ['external_id', 'crm-1'],
    ]) {
      const answer = await api.post(LEADS, { first_name: 'Ada', [field!]: value });
      expectError(answer, 409, 'duplicate');
      expect(errorOf(answer).details).toMatchObject([{ field, existing_id: id }]);
    }
  });

  it('frees the address of the source if the target keeps its own', async () => {
    const { id } = await createAndMerge({ email: 'a@example.com' }, { email: EMAIL });
    const other = await createLead(api, { email: EMAIL });
    expect(other.id).not.toBe(id);
  });

  it('replaces that of the target, which is then free', async () => {
    const one = { email: 'a@example.com' };
    expect((await createAndMerge(one, { email: EMAIL }, { email: 'source' })).email).toBe(EMAIL);
    await createLead(api, one);
    expectError(await api.post(LEADS, { first_name: 'Ada', email: EMAIL }), 409, 'duplicate');
  });

  // `email_compared` is the form by which addresses are unique. Leads of earlier versions have another form, or none.
  const setEmailCompared = (id: string, email: string | null) =>
    app.sql('update leads set email_compared = $2 where id = $1', [id, email]);

  it('gives the target the unique form that the source has of the same address', async () => {
    const source = await createLead(api, { email: EMAIL });
    const target = await createLead(api, { email: 'other@example.com' });
    await app.sql('update leads set email = $2, email_compared = null where id = $1', [
      target.id,
      'Grace@example.com',
    ]);
    const lead = dataOf(await merge(target.id, source.id));
    expect(lead.email).toBe('Grace@example.com');
    const again = await api.post(LEADS, { first_name: 'Ada', email: EMAIL });
    expect(errorOf(again).details).toMatchObject([{ field: 'email', existing_id: lead.id }]);
  });

  it('replaces an outdated unique form of the address of the target', async () => {
    const [target, source] = [await createLead(api, { email: EMAIL }), await createLead(api)];
    await setEmailCompared(target.id, 'earlier form');
    dataOf(await merge(target.id, source.id));
    expectError(await api.post(LEADS, { first_name: 'Ada', email: EMAIL }), 409, 'duplicate');
  });

  it('refuses an address of the source that a third lead has, and changes nothing', async () => {
    const [target, source] = [await createLead(api), await createLead(api, { email: EMAIL })];
    await setEmailCompared(source.id, null);
    const third = await createLead(api, { email: 'Grace@Example.com' });
    const answer = await merge(target.id, source.id);
    expectError(answer, 409, 'duplicate');
    expect(errorOf(answer).details).toMatchObject([{ field: 'email', existing_id: third.id }]);
    expect(await totalOf()).toBe(3);
    dataOf(await merge(third.id, source.id));
  });
});

describe('records of the source', () => {
  it('move, each with an event and a new version', async () => {
    const [target, source] = [await createLead(api), await createLead(api)];
    const post = async (path: string, body: object) => dataOf<Row>(await api.post(path, body), 201);
    const appointment = await post(APPOINTMENTS, { ...TIMES, lead_id: source.id });
    const own = await post(APPOINTMENTS, { ...TIMES, lead_id: target.id });
    const task = await post(TASKS, { title: 'Call', contact_id: source.id });
    const answer = await merge(target.id, source.id);
    const movedAppointment = dataOf<Row>(await api.get(`${APPOINTMENTS}/${appointment.id}`));
    const movedTask = dataOf<Row>(await api.get(`${TASKS}/${task.id}`));
    expect(movedAppointment).toEqual({
      ...appointment,
      lead_id: target.id,
      updated_at: movedAppointment.updated_at,
    });
    expect(movedAppointment.updated_at > appointment.updated_at).toBe(true);
    expect(movedTask).toEqual({ ...task, contact_id: target.id, updated_at: movedTask.updated_at });
    expect(movedTask.updated_at > task.updated_at).toBe(true);
    expect(dataOf(await api.get(`${APPOINTMENTS}/${own.id}`))).toEqual(own);
    const events = (await readAllEvents(api, 9)).slice(5);
    expect(events.map(({ type }) => type).toSorted()).toEqual([
      'appointment.updated',
      'lead.deleted',
      'lead.updated',
      'task.updated',
    ]);
    const eventOf = (wanted: string) => events.find(({ type }) => type === wanted);
    expect(eventOf('appointment.updated')).toMatchObject({
      record: movedAppointment,
      changed: ['lead_id'],
    });
    expect(eventOf('task.updated')).toMatchObject({ record: movedTask, changed: ['contact_id'] });
    expect(eventOf('lead.updated')).toMatchObject({ record: dataOf<object>(answer), changed: [] });
    expect(eventOf('lead.deleted')!.record).toEqual({ ...source, merged_into: target.id });
    for (const { actor } of events) {
      expect(actor.request_id).toBe(answer.headers.get('x-request-id'));
    }
  });

  it('move although they are deleted, without an event', async () => {
    const [target, source] = [await createLead(api), await createLead(api)];
    const task = dataOf<Row>(await api.post(TASKS, { title: 'Call', contact_id: source.id }), 201);
    await api.delete(`${TASKS}/${task.id}`);
    dataOf(await merge(target.id, source.id));
    const [row] = await app.sql('select contact_id from tasks where id = $1', [task.id]);
    expect(row).toEqual({ contact_id: target.id });
    const types = (await readAllEvents(api, 6)).map(({ type }) => type);
    expect(types).not.toContain('task.updated');
  });

  it('move to the last lead of a chain', async () => {
    const [a, b, c] = [await createLead(api), await createLead(api), await createLead(api)];
    const task = dataOf<Row>(await api.post(TASKS, { title: 'Call', contact_id: a.id }), 201);
    dataOf(await merge(b.id, a.id));
    dataOf(await merge(c.id, b.id));
    expect(dataOf(await api.get(`${TASKS}/${task.id}`))).toMatchObject({ contact_id: c.id });
  });
});

describe('a merged lead', () => {
  it('is not found by any route, which names the lead that has taken it in', async () => {
    const [target, source, third] = [
      await createLead(api),
      await createLead(api),
      await createLead(api),
    ];
    dataOf(await merge(target.id, source.id));
    const path = `${LEADS}/${source.id}`;
    const batch = [{ action: 'update', id: source.id, data: {} }];
    for (const answer of [
      await api.get(path),
      await api.put(path, { city: 'Oslo' }),
      await api.delete(path),
      await merge(source.id, third.id),
    ]) {
      expectMerged(answer, target.id);
    }
    expectMerged(await merge(third.id, source.id), target.id, 'lead_id');
    const { body } = await api.post(`${LEADS}/batch`, { items: batch });
    expect((body as { data: unknown[] }).data).toMatchObject([
      { error: { code: 'not_found', details: [{ field: 'id', merged_into: target.id }] } },
    ]);
    // The events of the three creations and of the merge are published.
    await readAllEvents(api, 5);
    expect((await api.get(`${path}/events`)).status).toBe(200);
  });

  it('names the last lead of a chain', async () => {
    const [a, b, c] = [await createLead(api), await createLead(api), await createLead(api)];
    dataOf(await merge(b.id, a.id));
    dataOf(await merge(c.id, b.id));
    expectMerged(await api.get(`${LEADS}/${a.id}`), c.id);
    expectMerged(await api.get(`${LEADS}/${b.id}`), c.id);
    await api.delete(`${LEADS}/${c.id}`);
    for (const { id } of [a, b, c]) expectMerged(await api.get(`${LEADS}/${id}`), undefined);
  });

  it('names no lead to a key without leads:read, or of another organization', async () => {
    const [target, source] = [await createLead(api), await createLead(api)];
    dataOf(await merge(target.id, source.id));
    const path = `${LEADS}/${source.id}`;
    const { api: writer } = await app.key(tenant.id, ['leads:write']);
    expectMerged(await writer.put(path, { city: 'Oslo' }), undefined);
    expectMerged(await writer.delete(path), undefined);
    const stranger = await app.organization();
    expectMerged(await stranger.api.get(path), undefined);
  });
});

describe('errors', () => {
  it('refuses to merge a lead into itself', async () => {
    const { id } = await createLead(api);
    for (const other of [id, id.toUpperCase()]) expectInvalid(await merge(id, other), 'lead_id');
    expect(await totalOf()).toBe(1);
  });

  it('does not find leads that do not exist, are deleted or of another organization', async () => {
    const lead = await createLead(api);
    const deleted = await createLead(api);
    await api.delete(`${LEADS}/${deleted.id}`);
    const stranger = await app.organization();
    const foreign = await createLead(stranger.api);
    for (const id of [randomUUID(), deleted.id, foreign.id]) {
      expectMerged(await merge(id, lead.id), undefined);
      expectMerged(await merge(lead.id, id), undefined, 'lead_id');
    }
    expect(await getLead(api, lead.id)).toEqual(lead);
    expect(await getLead(stranger.api, foreign.id)).toEqual(foreign);
  });

  it.each([
    [{}, 'lead_id'],
    [{ lead_id: null }, 'lead_id'],
    [{ lead_id: 'x' }, 'lead_id'],
    [{ lead_id: randomUUID(), colour: 'red' }, 'colour'],
  ])('refuses the body %j', async (body, field) => {
    const { id } = await createLead(api);
    expectInvalid(await api.post(`${LEADS}/${id}/merge`, body), field);
  });

  it.each([
    ['leads:read', 'leads:write'],
    ['leads:write', 'leads:read'],
  ] as const)('needs %s in addition to %s', async (missing, given) => {
    const [target, source] = [await createLead(api), await createLead(api)];
    const { api: limited } = await app.key(tenant.id, [given]);
    const answer = await limited.post(`${LEADS}/${target.id}/merge`, { lead_id: source.id });
    expectError(answer, 403, 'insufficient_scope');
    expect(errorOf(answer).message).toContain(missing);
    expect(await totalOf()).toBe(2);
  });

  it('needs no scope of the records that move', async () => {
    const [target, source] = [await createLead(api), await createLead(api)];
    const task = dataOf<Row>(await api.post(TASKS, { title: 'Call', contact_id: source.id }), 201);
    const { api: limited } = await app.key(tenant.id, ['leads:read', 'leads:write']);
    dataOf(await limited.post(`${LEADS}/${target.id}/merge`, { lead_id: source.id }));
    expect(dataOf(await api.get(`${TASKS}/${task.id}`))).toMatchObject({ contact_id: target.id });
  });
});

describe('If-Match and Idempotency-Key', () => {
  it('compares the tag with the target', async () => {
    const [target, source] = [await createLead(api), await createLead(api)];
    const tagOf = async ({ id }: LeadRecord) =>
      (await api.get(`${LEADS}/${id}`)).headers.get('etag')!;
    const mergeIf = (tag: string) => merge(target.id, source.id, {}, { 'If-Match': tag });
    expectError(await mergeIf(await tagOf(source)), 412, 'precondition_failed');
    expectInvalid(await mergeIf('x'), 'If-Match');
    expect(await getLead(api, source.id)).toEqual(source);
    expect(await getLead(api, target.id)).toEqual(target);
    const tag = await tagOf(target);
    dataOf(await mergeIf(tag));
    expect(await tagOf(target)).not.toBe(tag);
  });

  it('replays the response', async () => {
    const [target, source] = [await createLead(api), await createLead(api, { city: 'Oslo' })];
    const tag = (await api.get(`${LEADS}/${target.id}`)).headers.get('etag');
    const headers = { 'Idempotency-Key': randomUUID(), 'If-Match': tag };
    const first = await merge(target.id, source.id, undefined, headers);
    const again = await merge(target.id, source.id, undefined, headers);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
    const other = await merge(target.id, source.id, { city: 'source' }, headers);
    expectError(other, 422, 'idempotency_key_reused');
  });
});

describe('merges at the same time', () => {
  const statusesOf = (answers: Answer[]) => answers.map(({ status }) => status).toSorted();

  it.each(ROUNDS)('of one lead into another: one succeeds (%d)', async (round) => {
    const target = await createLead(api);
    const source = await createLead(api, { email: 'a@example.com', tags: ['x'] });
    const headers = () => (round % 2 ? { 'Idempotency-Key': randomUUID() } : {});
    const answers = await Promise.all(
      TEN.map(() => merge(target.id, source.id, undefined, headers())),
    );
    expect(statusesOf(answers)).toEqual([200, ...TEN.slice(1).map(() => 404)]);
    for (const answer of answers.filter(({ status }) => status === 404)) {
      expectMerged(answer, target.id, 'lead_id');
    }
    expect(await getLead(api, target.id)).toMatchObject({ email: 'a@example.com', tags: ['x'] });
  });

  it.each(ROUNDS)('of two leads into each other: one succeeds (%d)', async () => {
    const [one, other] = [await createLead(api, { tags: ['a'] }), await createLead(api)];
    const answers = await Promise.all([merge(one.id, other.id), merge(other.id, one.id)]);
    expect(statusesOf(answers)).toEqual([200, 404]);
    const [kept] = answers.filter(({ status }) => status === 200).map((answer) => dataOf(answer));
    expect(kept!.tags).toEqual(['a']);
    for (const answer of answers.filter(({ status }) => status === 404)) {
      expectMerged(answer, kept!.id);
    }
    expect(await totalOf()).toBe(1);
  });

  it.each(ROUNDS)('of a ring of leads: one stays with all tags (%d)', async () => {
    const ring = await Promise.all(TEN.map((n) => createLead(api, { tags: [`${n}`] })));
    const answers = await Promise.all(
      ring.map((lead, n) => merge(ring[(n + 1) % ring.length]!.id, lead.id)),
    );
    for (const { status } of answers) expect([200, 404]).toContain(status);
    const { body } = await api.get(LEADS);
    const { data } = body as { data: Row[] };
    const done = answers.filter(({ status }) => status === 200);
    expect(data).toHaveLength(ring.length - done.length);
    const tags = await Promise.all(data.map(async ({ id }) => (await getLead(api, id)).tags));
    expect(
      tags
        .flat()
        .map(Number)
        .toSorted((a, b) => a - b),
    ).toEqual(TEN);
  });

  it.each(ROUNDS)(
    'with an appointment for the source: it is on the target or refused (%d)',
    async () => {
      const [target, source] = [await createLead(api), await createLead(api)];
      const [done, booked] = await Promise.all([
        merge(target.id, source.id),
        api.post(APPOINTMENTS, { ...TIMES, lead_id: source.id }),
      ]);
      expect(done.status).toBe(200);
      if (booked.status === 201) {
        const { id } = dataOf<Row>(booked, 201);
        const moved = dataOf(await api.get(`${APPOINTMENTS}/${id}`));
        expect(moved).toMatchObject({ lead_id: target.id });
      } else {
        expectError(booked, 404, 'lead_not_found');
      }
    },
  );
});

describe('a dry run', () => {
  it('answers what the merge would do, and writes nothing', async () => {
    const target = await createLead(api, { notes: 'one', tags: ['a'] });
    const source = await createLead(api, { email: 'ada@example.com', tags: ['b'] });
    await api.post(APPOINTMENTS, { lead_id: source.id, ...TIMES });
    await api.post(TASKS, { title: 'Call', contact_id: source.id });
    const body = { lead_id: source.id, dry_run: true };
    const headers = { 'Idempotency-Key': randomUUID() };
    const path = `${LEADS}/${target.id}/merge`;
    const answer = await api.post(path, body, { headers });
    expect(answer.headers.get('etag')).toBeNull();
    const { would_answer: merged, ...preview } = dataOf<Preview>(answer);
    expect(merged).toMatchObject({ id: target.id, email: source.email, tags: ['a', 'b'] });
    const moves = { appointments: 1, tasks: 1 };
    expect(preview).toEqual({ dry_run: true, target, source, moves });
    expect(await getLead(api, target.id)).toEqual(target);
    expect(await getLead(api, source.id)).toEqual(source);
    // The same key carries out the merge, and its response is no answer to a dry run.
    const done = await api.post(path, { lead_id: source.id }, { headers });
    expect(dataOf(done)).toEqual({ ...merged, updated_at: expect.any(String) });
    expectMerged(await api.post(path, body, { headers }), target.id, 'lead_id');
    const types = (await readAllEvents(api, 8)).map(({ type }) => type);
    expect(types.filter((type) => type === 'lead.updated')).toHaveLength(1);
  });

  it('has the errors of the merge', async () => {
    const { id } = await createLead(api, {});
    const { id: source } = await createLead(api, {});
    const dryRun = (target: string, body: object, headers: object = {}) =>
      api.post(`${LEADS}/${target}/merge`, { dry_run: true, ...body }, { headers: { ...headers } });
    expectError(await dryRun(randomUUID(), { lead_id: source }), 404, 'not_found');
    expectError(await dryRun(id, { lead_id: randomUUID() }), 404, 'lead_not_found');
    expectInvalid(await dryRun(id, { lead_id: id }), 'lead_id');
    expectInvalid(await dryRun(id, { lead_id: source, dry_run: 'yes' }), 'dry_run');
    const other = await dryRun(id, { lead_id: source }, { 'If-Match': '"other"' });
    expectError(other, 412, 'precondition_failed');
    const { headers } = await api.get(`${LEADS}/${id}`);
    const own = { 'If-Match': headers.get('etag') };
    expect((await dryRun(id, { lead_id: source }, own)).status).toBe(200);
    const writer = await app.key(tenant.id, ['leads:write']);
    const body = { lead_id: source, dry_run: true };
    const refused = await writer.api.post(`${LEADS}/${id}/merge`, body);
    expectError(refused, 403, 'insufficient_scope');
  });
});
