import type { Answer } from '../../src/testing/api-client.js';
import {
  createLead,
  dataOf,
  errorOf,
  expectError,
  getLead,
  LEADS,
  updateLead,
} from '../../src/testing/factories.js';
import { TestServer } from '../../src/testing/test-server.js';
import type { Tenant } from '../../src/testing/test-server.js';

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

const ROUNDS = Array.from({ length: 25 }, (_, index) => index);

/** Does the same thing many times at once. */
function atOnce<T>(times: number, act: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: times }, (_, index) => act(index)));
}

/** How many answers have each status. */
function statusesOf(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe('uniqueness under simultaneous writes', () => {
  it.each([
    ['e-mail', 'email', (index: number) => (index % 2 ? 'Race@Example.com' : 'race@example.com')],
    ['phone', 'phone', (index: number) => (index % 2 ? '+14155552671' : '(415) 555-2671')],
  ])(
    'given 20 creates of one %s at once, one is 201 and nineteen are 409 naming it',
    async (_, field, form) => {
      const answers = await atOnce(20, (index) =>
        api.post(LEADS, { first_name: `Racer ${index}`, [field]: form(index) }),
      );
      expect(statusesOf(answers)).toEqual({ 201: 1, 409: 19 });
      const { id } = dataOf(
        answers.find(({ status }) => status === 201)!,
        201,
      );
      for (const answer of answers.filter(({ status }) => status === 409)) {
        expect(errorOf(answer)).toMatchObject({
          code: 'duplicate',
          details: [{ field, existing_id: id }],
        });
      }
      expect((await api.get(LEADS)).body).toMatchObject({ data: [{ id }], meta: { total: 1 } });
    },
  );

  it('given the same in two organizations, each has its one', async () => {
    const other = await app.organization();
    const answers = await atOnce(20, (index) =>
      (index % 2 ? api : other.api).post(LEADS, { first_name: 'Ada', email: 'race@example.com' }),
    );
    expect(statusesOf(answers)).toEqual({ 201: 2, 409: 18 });
  });

  it('given 10 leads that all change to one e-mail at once, one gets it', async () => {
    const leads = await atOnce(10, () => createLead(api));
    const answers = await Promise.all(
      leads.map(({ id }) => api.put(`${LEADS}/${id}`, { email: 'race@example.com' })),
    );
    expect(statusesOf(answers)).toEqual({ 200: 1, 409: 9 });
  });

  it('given e-mail and phone of twenty creates that overlap crosswise, no two leads share any', async () => {
    const answers = await atOnce(20, (index) =>
      api.post(LEADS, {
        first_name: 'Ada',
        email: `cross-${index % 4}@example.com`,
        phone: `+1 415 555 000${index % 5}`,
      }),
    );
    const made = answers
      .filter(({ status }) => status === 201)
      .map((answer) => dataOf(answer, 201));
    for (const field of ['email', 'phone'] as const) {
      expect(new Set(made.map((lead) => lead[field])).size).toBe(made.length);
    }
    expect(statusesOf(answers)).toEqual({ 201: made.length, 409: 20 - made.length });
  });

  it.each(ROUNDS)(
    'given a delete and a create of its e-mail at once, neither fails (%d)',
    async () => {
      const { id } = await createLead(api, { email: 'race@example.com' });
      const [deleted, created] = await Promise.all([
        api.delete(`${LEADS}/${id}`),
        api.post(LEADS, { first_name: 'Next', email: 'race@example.com' }),
      ]);
      expect(deleted.status).toBe(200);
      expect([201, 409]).toContain(created.status);
      if (created.status === 201) return;
      expectError(created, 409, 'duplicate');
      await createLead(api, { email: 'race@example.com' });
    },
  );
});

describe('simultaneous updates of one lead (only the fields provided are changed)', () => {
  it.each(ROUNDS)('two of different fields both survive (%d)', async (round) => {
    const { id } = await createLead(api);
    const [city, notes] = await Promise.all([
      updateLead(api, id, { city: `City ${round}` }),
      updateLead(api, id, { notes: `Notes ${round}` }),
    ]);
    const stored = await getLead(api, id);
    expect(stored).toMatchObject({ city: `City ${round}`, notes: `Notes ${round}` });
    expect(city.updated_at).not.toBe(notes.updated_at);
    expect([city.updated_at, notes.updated_at]).toContain(stored.updated_at);
  });

  it('fifteen of different fields all survive, and the score is that of the sum', async () => {
    const changes = {
      first_name: 'Grace',
      last_name: 'Hopper',
      phone: '+14155552671',
      email: 'grace@example.com',
      company: 'Navy',
      address_street: '1 Pier',
      city: 'Arlington',
      state: 'VA',
      zip: '22201',
      status: 'won',
      temperature: 'hot',
      source: 'referral',
      notes: 'Nanoseconds.',
      tags: ['cobol'],
      custom_fields: { rank: 'admiral' },
    };
    const { id } = await createLead(api);
    await Promise.all(
      Object.entries(changes).map(([field, value]) => updateLead(api, id, { [field]: value })),
    );
    expect(await getLead(api, id)).toMatchObject({ ...changes, lead_score: 100 });
  });

  it('the same change by twenty callers is one real change', async () => {
    const { id, updated_at } = await createLead(api);
    const leads = await atOnce(20, () => updateLead(api, id, { city: 'Paris' }));
    const stored = await getLead(api, id);
    expect(stored.updated_at > updated_at).toBe(true);
    for (const lead of leads) expect(lead).toStrictEqual(stored);
  });
});

describe('delete among other writes (not_found from then on)', () => {
  it.each(ROUNDS)('an update raced by a delete never brings the lead back (%d)', async () => {
    const { id } = await createLead(api);
    const [updated, deleted] = await Promise.all([
      api.put(`${LEADS}/${id}`, { city: 'Paris' }),
      api.delete(`${LEADS}/${id}`),
    ]);
    expect(deleted.status).toBe(200);
    expect([200, 404]).toContain(updated.status);
    if (updated.status === 404) expectError(updated, 404, 'not_found');
    expectError(await api.get(`${LEADS}/${id}`), 404, 'not_found');
    const rows = await app.sql<{ city: string | null; gone: boolean }>(
      'select city, deleted_at is not null as gone from leads where id = $1',
      [id],
    );
    expect(rows).toEqual([{ city: updated.status === 200 ? 'Paris' : null, gone: true }]);
  });

  it.each(ROUNDS)('ten deletes at once: one 200 and nine 404 (%d)', async () => {
    const { id } = await createLead(api);
    const answers = await atOnce(10, () => api.delete(`${LEADS}/${id}`));
    expect(statusesOf(answers)).toEqual({ 200: 1, 404: 9 });
  });
});

describe('lists among writes', () => {
  it('a page and its total belong to the same moment', async () => {
    const writes = atOnce(40, () => createLead(api));
    const pages = await atOnce(20, () => api.get(`${LEADS}?limit=100`));
    await writes;
    for (const { body } of pages) {
      const { data, meta } = body as { data: unknown[]; meta: { total: number } };
      expect(meta.total).toBe(data.length);
    }
  });
});
