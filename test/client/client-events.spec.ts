import { LatitudeClient } from '../../src/client/index.js';
import { createLead } from '../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../src/testing/test-server.js';
import { readAllEvents } from '../support/events.js';

let app: TestServer;
let tenant: Tenant;
let client: LatitudeClient;

beforeAll(async () => {
  app = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await app.organization();
  client = new LatitudeClient({ baseUrl: app.url, apiKey: tenant.key.key });
});
afterAll(() => app.stop());

describe('client.events', () => {
  it('lists a page of events', async () => {
    await createLead(tenant.api);
    const [event] = await readAllEvents(tenant.api, 1);
    expect(await client.events.list({ types: 'lead.created' })).toMatchObject({ data: [event] });
  });

  it('lists the events of a record, page by page, also after its deletion', async () => {
    await createLead(tenant.api);
    const { id } = await createLead(tenant.api, { email: 'ada@example.com' });
    await client.leads.delete(id);
    await readAllEvents(tenant.api, 3);
    const { data, meta } = await client.leads.events(id, { limit: 1 });
    expect([data[0]?.type, data[0]?.record.id]).toEqual(['lead.created', id]);
    const rest = await client.leads.events(id, { after: meta.next });
    expect(rest.data.map(({ type }) => type)).toEqual(['lead.deleted']);
    await expect(client.tasks.events(id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('follows events over pages, waits for later ones, and continues after an event', async () => {
    for (let i = 0; i < 3; i++) await createLead(tenant.api);
    const all = (await readAllEvents(tenant.api, 3)).map(({ id }) => id);
    const seen: string[] = [];
    for await (const { id } of client.events.follow({ limit: 2, after: all[0] })) {
      seen.push(id);
      if (seen.length === 2) await createLead(tenant.api);
      if (seen.length === 3) break;
    }
    expect(seen.slice(0, 2)).toEqual(all.slice(1));
    expect(seen).toEqual((await readAllEvents(tenant.api, 4)).slice(1).map(({ id }) => id));
  });

  it('stops waiting when the signal aborts', async () => {
    const events = client.events.follow({}, { signal: AbortSignal.timeout(50) });
    await expect(events.next()).rejects.toMatchObject({ name: 'LatitudeTimeoutError' });
  });
});
