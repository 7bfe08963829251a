import type { Answer } from '../../../src/testing/api-client.js';
import {
  createLead,
  dataOf,
  errorOf,
  expectError,
  getLead,
  LEADS,
  updateLead,
} from '../../../src/testing/factories.js';
import { TestServer } from '../../../src/testing/test-server.js';
import type { Tenant } from '../../../src/testing/test-server.js';

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

const ROUNDS = Array.from({ length: 8 }, (_, index) => index);

/** Runs `act` concurrently this many times. */
function atOnce<T>(times: number, act: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: times }, (_, index) => act(index)));
}

/** Counts the answers by status. */
function statusesOf(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe('tags under concurrent updates', () => {
  it('has every tag that was added and none that was removed', async () => {
    const old = Array.from({ length: 20 }, (_, index) => `old ${index}`);
    const { id } = await createLead(api, { tags: old });
    const answers = await atOnce(20, (index) =>
      api.put(`${LEADS}/${id}`, { add_tags: [`new ${index}`], remove_tags: [`old ${index}`] }),
    );
    expect(statusesOf(answers)).toEqual({ 200: 20 });
    const { tags } = await getLead(api, id);
    expect(tags.toSorted()).toEqual(old.map((tag) => tag.replace('old', 'new')).toSorted());
  });
});

describe('uniqueness under concurrent writes', () => {
  it.each([
    ['e-mail', 'email', (index: number) => (index % 2 ? 'Race@Example.com' : 'race@example.com')],
    ['phone', 'phone', (index: number) => (index % 2 ? '+14155552671' : '(415) 555-2671')],
    ['external id', 'external_id', () => 'crm-4711'],
  ])(
    'answers one 201 and nineteen 409 to 20 concurrent creates with the same %s',
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

  it('accepts one lead with the same e-mail in each of two organizations', async () => {
    const other = await app.organization();
    const answers = await atOnce(20, (index) =>
      (index % 2 ? api : other.api).post(LEADS, { first_name: 'Ada', email: 'race@example.com' }),
    );
    expect(statusesOf(answers)).toEqual({ 201: 2, 409: 18 });
  });

  it('accepts one of 10 concurrent updates to the same e-mail', async () => {
    const leads = await atOnce(10, () => createLead(api));
    const answers = await Promise.all(
      leads.map(({ id }) => api.put(`${LEADS}/${id}`, { email: 'race@example.com' })),
    );
    expect(statusesOf(answers)).toEqual({ 200: 1, 409: 9 });
  });

  it('stores no duplicate from 20 concurrent creates with overlapping e-mails and phones', async () => {
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
    'answers 201 or 409 to a create with the e-mail of a lead that is being deleted (%d)',
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

describe('concurrent updates of one lead', () => {
  it.each(ROUNDS)('keep the changes of two different fields (%d)', async (round) => {
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

  it('keep the changes of fifteen different fields, and compute the score from all fields', async () => {
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

  it('change updated_at once for twenty equal updates', async () => {
    const { id, updated_at } = await createLead(api);
    const leads = await atOnce(20, () => updateLead(api, id, { city: 'Paris' }));
    const stored = await getLead(api, id);
    expect(stored.updated_at > updated_at).toBe(true);
    for (const lead of leads) expect(lead).toStrictEqual(stored);
  });
});

describe('DELETE during concurrent writes', () => {
  it.each(ROUNDS)('is not undone by a concurrent update (%d)', async () => {
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

  it.each(ROUNDS)('answers one 200 and nine 404 to ten concurrent requests (%d)', async () => {
    const { id } = await createLead(api);
    const answers = await atOnce(10, () => api.delete(`${LEADS}/${id}`));
    expect(statusesOf(answers)).toEqual({ 200: 1, 404: 9 });
  });
});

describe('lists during concurrent writes', () => {
  it('return a page and a total of the same snapshot', async () => {
    const writes = atOnce(40, () => createLead(api));
    const pages = await atOnce(20, () => api.get(`${LEADS}?limit=100`));
    await writes;
    for (const { body } of pages) {
      const { data, meta } = body as { data: unknown[]; meta: { total: number } };
      expect(meta.total).toBe(data.length);
    }
  });
});
