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
