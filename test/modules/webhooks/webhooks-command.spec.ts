import { urlOf } from '../../../src/testing/databases.js';
import { dataOf } from '../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';
import { latitude } from '../../support/command-line.js';
import { type WebhookRecord, WEBHOOKS } from '../../support/webhooks.js';

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
});
afterAll(() => app.stop());

it('latitude webhooks manages the webhooks of an organization', async () => {
  const webhooks = <T>(command: string, ...args: string[]) => {
    const environment = { DATABASE_URL: urlOf(app.database) };
    const all = ['webhooks', command, '--organization', tenant.id, ...args];
    return latitude<T>(environment, ...all);
  };
  const created = await webhooks<WebhookRecord>(
    ...(['create', '--url', 'https://receiver.invalid/', '--types', 'lead.created'] as const),
    ...(['--changed', 'city,zip', '--filter', '{"city":"Graz"}'] as const),
  );
  const choice = { changed: ['city', 'zip'], filter: { city: 'Graz' } };
  expect(created).toMatchObject({ types: ['lead.created'], ...choice, secret: expect.any(String) });
  const { secret: _secret, ...webhook } = created;
  expect(dataOf(await tenant.api.get(`${WEBHOOKS}/${created.id}`))).toEqual(webhook);
  expect(await webhooks('list')).toEqual([webhook]);
  const test = await webhooks<{ id: string }>('test', created.id);
  expect(test).toMatchObject({ webhook_id: created.id, type: 'webhook.test' });
  expect(await webhooks('deliveries', created.id)).toMatchObject([{ id: test.id }]);
  expect(await webhooks('delete', created.id)).toEqual({ id: created.id, deleted: true });
  expect(await webhooks('list')).toEqual([]);
});
