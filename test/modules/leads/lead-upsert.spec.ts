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

const UPSERT = `${LEADS}/upsert`;
const EMAIL = 'grace@example.com';

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

interface Upsert {
  match_on?: unknown;
  data?: unknown;
  mode?: unknown;
}

const upsert = (body: Upsert, headers?: Record<string, string>) =>
  api.post(UPSERT, body, { headers });

const byEmail = (data: LeadBody, mode?: string) =>
  upsert({ match_on: ['email'], data: { email: EMAIL, ...data }, mode });

const actionOf = ({ body }: Answer) => (body as { meta: { action: string } }).meta.action;

async function total(): Promise<number> {
  const { body } = await api.get(LEADS);
  return (body as { meta: { total: number } }).meta.total;
}

/** Expects a `duplicate` that names these fields with the ids of their leads. */
function expectDuplicate(answer: Answer, ids: Record<string, string>): void {
  expectError(answer, 409, 'duplicate');
  const { details = [] } = errorOf(answer);
  const found = details.map(({ field, existing_id }) => [field, existing_id]);
  expect(Object.fromEntries(found)).toEqual(ids);
}

describe('POST /api/v1/leads/upsert', () => {
  it('creates a lead that does not exist, with defaults', async () => {
    const answer = await byEmail({ first_name: 'Grace' });
    const lead = dataOf(answer, 201);
    expect(answer.body).toEqual({ data: lead, meta: { action: 'created' } });
    expect(answer.headers.get('location')).toBe(`${LEADS}/${lead.id}`);
    expect(lead).toMatchObject({ first_name: 'Grace', source: 'api', tags: [], lead_score: 20 });
    const stored = await api.get(`${LEADS}/${lead.id}`);
    expect(stored.body).toEqual({ data: lead });
    expect(answer.headers.get('etag')).toBe(stored.headers.get('etag'));
  });

  it('changes only the given fields of a lead that exists', async () => {
    const before = await createLead(api, buildLead({ email: EMAIL, source: 'referral' }));
    const answer = await byEmail({ city: 'Arlington' });
    const after = dataOf(answer);
    expect(answer.body).toEqual({ data: after, meta: { action: 'updated' } });
    expect(answer.headers.get('location')).toBeNull();
    expect(after).toEqual({ ...before, city: 'Arlington', updated_at: after.updated_at });
    expect(after.updated_at > before.updated_at).toBe(true);
    expect(await getLead(api, before.id)).toEqual(after);
    expect(await total()).toBe(1);
  });

  it('does not write a lead that has all values', async () => {
    const lead = await createLead(api, buildLead({ email: EMAIL }));
    const { headers } = await api.get(`${LEADS}/${lead.id}`);
    const { id: _, lead_score: __, created_at: ___, updated_at: ____, ...fields } = lead;
    for (const data of [{}, { first_name: ' Ada ' }, { add_tags: ['poet'] }, fields]) {
      const answer = await byEmail(data);
      expect(answer.body).toEqual({ data: lead, meta: { action: 'unchanged' } });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('etag')).toBe(headers.get('etag'));
    }
    await api.delete(`${LEADS}/${lead.id}`);
    const events = await readAllEvents(api, 2);
    expect(events.map(({ type }) => type)).toEqual(['lead.created', 'lead.deleted']);
  });

  it('writes one event for each change', async () => {
    await byEmail({ first_name: 'Grace' });
    await byEmail({ city: 'Arlington' });
    const events = await readAllEvents(api, 2);
    expect(events).toMatchObject([
      { type: 'lead.created', changed: [], record: { email: EMAIL } },
      { type: 'lead.updated', changed: ['city'], record: { city: 'Arlington' } },
    ]);
  });

  it('never turns sms_opted_out or on_dnc_list off, which an update by id does', async () => {
    const flags = { sms_opted_out: true, on_dnc_list: true };
    const off = { sms_opted_out: false, on_dnc_list: false };
    const { id } = await createLead(api, { email: EMAIL, ...flags });
    expect(dataOf(await byEmail({ ...off, city: 'Arlington' }))).toMatchObject({
      city: 'Arlington',
      ...flags,
    });
    expect((await byEmail(off)).body).toMatchObject({ data: flags, meta: { action: 'unchanged' } });
    const items = [{ action: 'upsert', match_on: ['email'], data: { email: EMAIL, ...off } }];
    expect(await api.post(`${LEADS}/batch`, { items })).toMatchObject({
      status: 200,
      body: { data: [{ status: 'unchanged' }] },
    });
    expect(dataOf(await api.put(`${LEADS}/${id}`, off))).toMatchObject(off);
    expect(dataOf(await byEmail(flags))).toMatchObject(flags);
  });

  it('computes the score from all fields of the lead', async () => {
    await createLead(api, { email: EMAIL, temperature: 'hot' });
    expect(dataOf(await byEmail({ phone: '+14155552671' }))).toMatchObject({ lead_score: 70 });
  });
});

describe('matching', () => {
  it.each([
    ['email', 'Grace@Example.com', ' gRACE@eXAMPLE.COM\t'],
    ['email', 'info@bücher.example', 'info@xn--bcher-kva.example'],
    ['phone', '+1 (415) 555-2671', '415.555.2671'],
    ['phone', '+49 30 901820', '0049 30 901820'],
    ['external_id', 'crm-4711', ' crm-4711 '],
  ])('finds a lead by the %s %s if %s is sent', async (field, stored, sent) => {
    const { id } = await createLead(api, { [field]: stored });
    const answer = await upsert({ match_on: [field], data: { [field]: sent, city: 'Arlington' } });
    expect(dataOf(answer)).toMatchObject({ id, [field]: sent.trim(), city: 'Arlington' });
  });

  it.each([
    ['external_id', 'crm-4711', 'CRM-4711'],
    ['external_id', 'Andr\u00e9', 'Andre\u0301'],
    ['email', EMAIL, 'g.race@example.com'],
    ['phone', '+14155552671', '+14155552671 x1'],
  ])('does not find a lead by the %s %s if %s is sent', async (field, stored, sent) => {
    const { id } = await createLead(api, { [field]: stored });
    const data = { first_name: 'Grace', [field]: sent };
    const answer = await upsert({ match_on: [field], data });
    expect(dataOf(answer, 201).id).not.toBe(id);
  });

  it('finds a lead by any of several fields', async () => {
    const { id } = await createLead(api, { email: EMAIL });
    const data = { external_id: 'crm-4711', email: EMAIL, phone: '+14155552671' };
    const match_on = ['external_id', 'email', 'phone'];
    const answer = await upsert({ match_on, data });
    expect(dataOf(answer)).toMatchObject({ id, ...data });
    const again = await upsert({ match_on, data: { ...data, email: 'hopper@example.com' } });
    expect(dataOf(again)).toMatchObject({ id, email: 'hopper@example.com' });
  });

  it.each([undefined, null, '', ' \u200b'])(
    'does not match leads without a value if the value is %j',
    async (external_id) => {
      await createLead(api);
      const { id } = await createLead(api, { email: EMAIL });
      const match_on = ['external_id', 'email'];
      const answer = await upsert({ match_on, data: { external_id, email: EMAIL, city: 'Paris' } });
      expect(dataOf(answer)).toMatchObject({ id, external_id: null, city: 'Paris' });
    },
  );

  it.each<[LeadBody, unknown]>([
    [{}, ['email']],
    [{ email: null }, ['email']],
    [{ email: '' }, ['email']],
    [{ email: ' ', phone: null }, ['email', 'phone', 'external_id']],
    [{ email: EMAIL }, ['external_id']],
    [{ email: EMAIL }, []],
    [{ email: EMAIL }, ['first_name']],
    [{ email: EMAIL }, ['email', 'id']],
    [{ email: EMAIL }, 'email'],
    [{ email: EMAIL }, null],
    [{ email: EMAIL }, undefined],
  ])('refuses data %j with match_on %j', async (data, match_on) => {
    await createLead(api);
    const answer = await upsert({ match_on, data: { first_name: 'Grace', ...data } });
    expectInvalid(answer, 'match_on');
    expect(await total()).toBe(1);
  });

  it('ignores repeated fields', async () => {
    const answer = await upsert({
      match_on: ['email', 'email'],
      data: { first_name: 'Grace', email: EMAIL },
    });
    expect(actionOf(answer)).toBe('created');
  });

  it('names both leads if the values belong to two, and writes nothing', async () => {
    const one = await createLead(api, { email: EMAIL });
    const other = await createLead(api, { phone: '+14155552671' });
    const data = { first_name: 'Grace', email: 'GRACE@example.com', phone: '4155552671' };
    for (const mode of ['create_or_update', 'update_only', 'create_only']) {
      const answer = await upsert({ match_on: ['phone', 'email'], data, mode });
      expectDuplicate(answer, { 'data.email': one.id, 'data.phone': other.id });
    }
    expect(await getLead(api, one.id)).toEqual(one);
    expect(await getLead(api, other.id)).toEqual(other);
    expect(await total()).toBe(2);
  });

  it('names the lead that has another unique value, and writes nothing', async () => {
    const one = await createLead(api, { email: EMAIL });
    const other = await createLead(api, { phone: '+14155552671', external_id: 'crm-4711' });
    const data = { city: 'Paris', phone: '4155552671', external_id: 'crm-4711' };
    expectDuplicate(await byEmail(data), {
      'data.phone': other.id,
      'data.external_id': other.id,
    });
    const unknown = await byEmail({ ...data, first_name: 'Grace', email: 'new@example.com' });
    expectDuplicate(unknown, { 'data.phone': other.id, 'data.external_id': other.id });
    expect(await getLead(api, one.id)).toEqual(one);
    expect(await total()).toBe(2);
  });

  it('does not find a deleted lead', async () => {
    const { id } = await createLead(api, { email: EMAIL });
    await api.delete(`${LEADS}/${id}`);
    expect(dataOf(await byEmail({ first_name: 'Grace' }), 201).id).not.toBe(id);
  });

  it('does not find a lead of another organization', async () => {
    const stranger = await app.organization();
    const lead = await createLead(stranger.api, { email: EMAIL });
    expect(actionOf(await byEmail({ first_name: 'Grace', city: 'Paris' }))).toBe('created');
    expect(await getLead(stranger.api, lead.id)).toEqual(lead);
  });
});

describe('mode', () => {
  it('update_only answers 404 if no lead matches', async () => {
    const answer = await byEmail({ first_name: 'Grace' }, 'update_only');
    expectError(answer, 404, 'not_found');
    expect(await total()).toBe(0);
    const { id } = await createLead(api, { email: EMAIL });
    expect(dataOf(await byEmail({ first_name: 'Grace' }, 'update_only')).id).toBe(id);
  });

  it('create_only answers 409 if a lead matches', async () => {
    const lead = dataOf(await byEmail({ first_name: 'Grace' }, 'create_only'), 201);
    const answer = await byEmail({ first_name: 'Grace' }, 'create_only');
    expectDuplicate(answer, { 'data.email': lead.id });
    expect(await getLead(api, lead.id)).toEqual(lead);
  });

  it.each(['update', '', 5])('refuses %j', async (mode) => {
    const answer = await byEmail({ first_name: 'Grace' }, mode as string);
    if (mode === '') expect(actionOf(answer)).toBe('created');
    else expectInvalid(answer, 'mode');
  });
});

describe('data', () => {
  it('replaces tags and custom_fields, and clears fields with null', async () => {
    await createLead(api, buildLead({ email: EMAIL }));
    const data = { tags: ['new'], custom_fields: { a: 1 }, city: null, notes: '' };
    expect(dataOf(await byEmail(data))).toMatchObject({ ...data, notes: null });
  });

  it('keeps tags, custom fields and flags that are left out', async () => {
    const kept = { tags: ['a'], custom_fields: { a: 1 }, sms_opted_out: true, source: 'manual' };
    await createLead(api, { email: EMAIL, ...kept });
    expect(dataOf(await byEmail({ city: 'Paris' }))).toMatchObject(kept);
  });

  it('adds and removes tags', async () => {
    const changes = { add_tags: ['c', 'a'], remove_tags: ['b'] };
    const created = dataOf(await byEmail({ first_name: 'Grace', ...changes }), 201);
    expect(created.tags).toEqual(['c', 'a']);
    await byEmail({ tags: ['a', 'b'] });
    expect(dataOf(await byEmail(changes)).tags).toEqual(['a', 'c']);
    const many = Array.from({ length: 50 }, (_, index) => `tag ${index}`);
    expectInvalid(await byEmail({ add_tags: many }), 'data.add_tags');
    expectInvalid(await byEmail({ add_tags: ['x'], tags: [] }), 'data.add_tags');
  });

  it('needs first_name only for a new lead', async () => {
    expectInvalid(await byEmail({ city: 'Paris' }), 'data.first_name');
    expect(await total()).toBe(0);
    await createLead(api, { email: EMAIL });
    expect(actionOf(await byEmail({ city: 'Paris' }))).toBe('updated');
  });

  it.each(['first_name', 'tags', 'custom_fields', 'source', 'sms_opted_out'])(
    'refuses null for %s, whether the lead exists or not',
    async (field) => {
      const data = { first_name: 'Grace', [field]: null };
      expectInvalid(await byEmail(data), `data.${field}`);
      await createLead(api, { email: EMAIL });
      expectInvalid(await byEmail(data), `data.${field}`);
    },
  );

  it.each<[LeadBody, string]>([
    [{ zip: 5 }, 'data.zip'],
    [{ colour: 'red' }, 'data.colour'],
    [{ id: randomUUID() }, 'data.id'],
    [{ lead_score: 5 }, 'data.lead_score'],
    [{ email: 'nobody' }, 'data.email'],
    [{ custom_fields: [] }, 'data.custom_fields'],
  ])('names the field of %j', async (data, field) => {
    expectInvalid(await byEmail({ first_name: 'Grace', ...data }), field);
    expect(await total()).toBe(0);
  });

  it.each([undefined, null, [], 'x', 5])('must be an object and not %j', async (data) => {
    const { details = [] } = errorOf(await upsert({ match_on: ['email'], data }));
    expect(details.map(({ field }) => field)).toContain('data');
  });

  it('refuses unknown fields beside it', async () => {
    const body = { match_on: ['email'], data: { first_name: 'Grace', email: EMAIL }, id: 5 };
    expectInvalid(await upsert(body), 'id');
    expectInvalid(await api.post(`${UPSERT}?email=${EMAIL}`, body), 'email', 'id');
  });

  it('can repeat a stored address that new leads cannot have', async () => {
    const { id } = await createLead(api, { email: EMAIL });
    const email = 'gr\u200bace@example.com';
    await app.sql('update leads set email = $2 where id = $1', [id, email]);
    expect(dataOf(await byEmail({ email, city: 'Paris' }))).toMatchObject({ id, email });
    expectInvalid(await byEmail({ email: 'g\u200brace@example.com' }), 'data.email');
    const answer = await byEmail({ email: 'n\u200bew@example.com', first_name: 'Grace' });
    expectInvalid(answer, 'data.email');
  });
});

describe('access', () => {
  it.each([
    ['leads:read', 'leads:write'],
    ['leads:write', 'leads:read'],
  ] as const)('needs %s in addition to %s', async (missing, given) => {
    await createLead(api, { email: EMAIL });
    const { api: limited } = await app.key(tenant.id, [given, 'tasks:read']);
    for (const data of [{ email: EMAIL }, { email: 'new@example.com' }, {}]) {
      const answer = await limited.post(UPSERT, { match_on: ['email'], data });
      expectError(answer, 403, 'insufficient_scope');
      expect(errorOf(answer).message).toContain(missing);
      expect(answer.headers.get('www-authenticate')).toContain(`scope="${missing}"`);
    }
    expect(await total()).toBe(1);
  });
});

describe('Idempotency-Key', () => {
  it.each<[string, number, LeadBody | undefined]>([
    ['created', 201, undefined],
    ['updated', 200, { email: EMAIL }],
    ['unchanged', 200, { email: EMAIL, city: 'Paris' }],
  ])('replays the response of an upsert that was %s', async (action, status, existing) => {
    if (existing) await createLead(api, existing);
    const body = { match_on: ['email'], data: { first_name: 'Ada', email: EMAIL, city: 'Paris' } };
    const headers = { 'Idempotency-Key': randomUUID() };
    const first = await upsert(body, headers);
    expect([first.status, actionOf(first)]).toEqual([status, action]);
    const { id } = dataOf(first, status);
    await api.put(`${LEADS}/${id}`, { city: 'Rome' });
    const again = await upsert(body, headers);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    for (const name of ['location', 'etag']) {
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    }
    expect((await getLead(api, id)).city).toBe('Rome');
    const other = { ...body, data: { ...body.data, city: 'Oslo' } };
    expectError(await upsert(other, headers), 422, 'idempotency_key_reused');
  });

  it('keeps no response of an upsert that failed', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const body = { match_on: ['email'], data: { email: EMAIL } };
    expectInvalid(await upsert(body, headers), 'data.first_name');
    await createLead(api, { email: EMAIL });
    expect(actionOf(await upsert(body, headers))).toBe('unchanged');
  });
});

describe('concurrent upserts', () => {
  const TWENTY = Array.from({ length: 20 }, (_, index) => index);
  const KEYS: [string, () => Record<string, string>][] = [
    ['without keys', () => ({})],
    ['with Idempotency-Keys', () => ({ 'Idempotency-Key': randomUUID() })],
  ];

  describe.each(KEYS)('%s', (_, headers) => {
    it.each([
      ['email', (index: number) => (index % 2 ? EMAIL : ' Grace@Example.COM')],
      ['phone', (index: number) => (index % 2 ? '+14155552671' : '(415) 555-2671')],
      ['external_id', () => 'crm-4711'],
    ])('of one %s make one lead, which has the changes of all', async (field, spelling) => {
      const answers = await Promise.all(
        TWENTY.map((index) => {
          const data = { first_name: 'Grace', [field]: spelling(index), add_tags: [`${index}`] };
          return upsert({ match_on: [field], data }, headers());
        }),
      );
      const created = answers.filter(({ status }) => status === 201);
      expect(answers.filter(({ status }) => status !== 200)).toEqual(created);
      expect(created).toHaveLength(1);
      expect(await total()).toBe(1);
      const { tags } = await getLead(api, dataOf(created[0]!, 201).id);
      expect(tags.map(Number).toSorted((a, b) => a - b)).toEqual(TWENTY);
    });
  });

  it('with equal data write the lead once', async () => {
    const answers = await Promise.all(TWENTY.map(() => byEmail({ first_name: 'Grace' })));
    const actions = answers.map(actionOf).toSorted();
    expect(actions).toEqual(['created', ...TWENTY.slice(1).map(() => 'unchanged')]);
    const [lead] = answers.map(({ body }) => (body as { data: LeadRecord }).data);
    expect(await getLead(api, lead!.id)).toEqual(lead);
  });

  it('that match by different fields make no duplicate', async () => {
    const data = { first_name: 'Grace', email: EMAIL, external_id: 'crm-4711' };
    const answers = await Promise.all(
      TWENTY.map((index) => upsert({ match_on: [index % 2 ? 'email' : 'external_id'], data })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 201]));
    expect(await total()).toBe(1);
  });

  it.each(Array.from({ length: 4 }, (_, round) => round))(
    'create or update while leads are deleted (%d)',
    async () => {
      const { id } = await createLead(api, { email: EMAIL });
      const [deleted, ...answers] = await Promise.all([
        api.delete(`${LEADS}/${id}`),
        ...TWENTY.slice(0, 5).map((index) => byEmail({ first_name: 'Grace', city: `${index}` })),
      ]);
      expect(deleted.status).toBe(200);
      for (const { status } of answers) expect([200, 201]).toContain(status);
      expect(await total()).toBeLessThanOrEqual(1);
    },
  );

  it.each(Array.from({ length: 4 }, (_, round) => round))(
    'do not change a lead that no longer has the value (%d)',
    async () => {
      const { id } = await createLead(api, { email: EMAIL });
      const [moved, answer] = await Promise.all([
        api.put(`${LEADS}/${id}`, { email: 'moved@example.com' }),
        byEmail({ first_name: 'Grace' }),
      ]);
      const lead = dataOf(answer, answer.status);
      if (moved.status === 200) {
        expect(await getLead(api, id)).toMatchObject({ email: 'moved@example.com' });
      }
      if (answer.status === 201) expect(lead.id).not.toBe(id);
      else expect(lead).toMatchObject({ id, first_name: 'Grace', email: EMAIL });
    },
  );
});
