import {
  createLead,
  dataOf,
  getLead,
  LEADS,
  type LeadRecord,
} from '../../../src/testing/factories.js';
import { TestServer } from '../../../src/testing/test-server.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { readAllEvents } from '../../support/events.js';

let app: TestServer;
let api: Tenant['api'];

beforeAll(async () => {
  app = await TestServer.shared();
});
beforeEach(async () => {
  ({ api } = await app.organization());
});

describe('concurrent updates of the same fields of several leads', () => {
  const numbers = Array.from({ length: 12 }, (_, index) => index);
  let leads: LeadRecord[];

  beforeEach(async () => {
    leads = await Promise.all(
      numbers.map((index) => createLead(api, { email: `lead${index}@example.com`, notes: 'old' })),
    );
  });

  it('write to each lead its own values, and an event with what has changed', async () => {
    const answers = await Promise.all(
      leads.map(({ id }, index) =>
        api.put(`${LEADS}/${id}`, { notes: index % 3 ? `new ${index}` : 'old', city: 'Graz' }),
      ),
    );
    const events = await readAllEvents(api, 24);
    for (const [index, answer] of answers.entries()) {
      const notes = index % 3 ? `new ${index}` : 'old';
      expect(dataOf(answer)).toMatchObject({ id: leads[index]!.id, notes, city: 'Graz' });
      expect(await getLead(api, leads[index]!.id)).toEqual(dataOf(answer));
      const event = events.find(({ type, record }) => {
        return type === 'lead.updated' && record.id === leads[index]!.id;
      })!;
      expect(event.changed.toSorted()).toEqual(index % 3 ? ['city', 'notes'] : ['city']);
      expect(event.record).toEqual(dataOf(answer));
    }
  });

  it('are each answered by themselves if some are refused', async () => {
    const [changed, unchanged, missing, duplicate, outdated, current] = leads.map(({ id }) => id);
    await api.delete(`${LEADS}/${missing}`);
    const tag = (await api.get(`${LEADS}/${current}`)).headers.get('etag')!;
    const put = (id: string, email: string, etag?: string) =>
      api.put(`${LEADS}/${id}`, { email }, { headers: { ...(etag && { 'If-Match': etag }) } });
    const before = await getLead(api, unchanged!);
    const answers = await Promise.all([
      put(changed!, 'changed@example.com'),
      put(unchanged!, 'lead1@example.com'),
      put(missing!, 'missing@example.com'),
      put(duplicate!, 'lead8@example.com'),
      put(outdated!, 'outdated@example.com', '"another"'),
      put(current!, 'current@example.com', tag),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 409, 412, 200]);
    const emails = await Promise.all(
      [changed, duplicate, outdated, current].map(async (id) => (await getLead(api, id!)).email),
    );
    expect(emails).toEqual([
      ...['changed@example.com', 'lead3@example.com'],
      ...['lead4@example.com', 'current@example.com'],
    ]);
    expect(answers[1]).toMatchObject({ body: { data: before } });
  });

  it('are all carried out, also those of one lead', async () => {
    const [{ id }] = leads as [LeadRecord];
    const answers = await Promise.all(
      leads.flatMap((lead, index) => [
        api.put(`${LEADS}/${lead.id}`, { notes: `own ${index}` }),
        api.put(`${LEADS}/${id}`, { notes: `shared ${index}` }),
      ]),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(24).fill(200));
    const events = await readAllEvents(api, 12 + 24);
    const notes = events
      .filter(({ type, record }) => type === 'lead.updated' && record.id === id)
      .map(({ record }) => record.notes as string);
    expect(notes.toSorted()).toEqual(
      ['own 0', ...numbers.map((index) => `shared ${index}`)].toSorted(),
    );
    expect((await getLead(api, id)).notes).toBe(notes.at(-1));
  });
});
