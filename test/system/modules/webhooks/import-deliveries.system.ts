import { createLead } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { importFile } from '../../../support/lead-imports.js';
import { until } from '../../../support/servers/product.js';
import { WebhookReceiver } from '../../../support/servers/webhook-receiver.js';
import { createWebhook } from '../../../support/webhooks.js';

const LEADS = 300;

let app: TestApp;
let receiver: WebhookReceiver;
let tenant: Tenant;

beforeAll(async () => {
  [app, receiver] = await Promise.all([
    TestApp.start({ settings: { webhooksAllowPrivateTargets: true } }),
    WebhookReceiver.start(),
  ]);
  tenant = await app.organization();
});
afterAll(() => Promise.all([app.stop(), receiver.stop()]));

interface Sent {
  readonly type: string;
  readonly record: { readonly email: string };
  readonly actor: { readonly channel: string };
}

it('delivers the events of an import behind others, each once and in the order of its record', async () => {
  const url = receiver.url();
  let isOpen = false;
  receiver.answer = () => ({ status: isOpen ? 200 : 503 });
  await createWebhook(tenant, url, { types: ['lead.created', 'lead.updated'] });
  const rows = Array.from({ length: LEADS }, (_, n) => `A,${n}@example.com,Oslo`);
  const csv = ['first_name,email,city', ...rows, 'A,0@example.com,Rome'].join('\n');
  expect(await importFile(tenant.api, csv)).toMatchObject({ created: LEADS, updated: 1 });
  const count = async (condition: string) => {
    const [row] = await app.sql<{ count: number }>(
      `select count(*)::int as count from webhook_deliveries where organization_id = $1 and ${condition}`,
      [tenant.id],
    );
    return row!.count;
  };
  await until(async () => (await count('is_bulk')) === LEADS + 1);
  await createLead(tenant.api, { email: 'late@example.com' });
  await until(async () => (await count('not is_bulk')) === 1);
  await app.sql(
    `update webhook_deliveries set next_attempt_at = now() where organization_id = $1 and next_attempt_at is not null`,
    [tenant.id],
  );
  const before = receiver.at(url).length;
  isOpen = true;
  await until(async () => (await count(`status = 'succeeded'`)) === LEADS + 2);
  const sent = receiver.at(url).slice(before);
  const events = sent.map(({ body }) => JSON.parse(body) as Sent);
  const succeeded = events.slice(-(LEADS + 2));
  const late = succeeded.findIndex(({ record }) => record.email === 'late@example.com');
  // Ten requests run at a time, and ten more can have begun.
  expect(late).toBeLessThan(40);
  const first = succeeded.filter(({ record }) => record.email === '0@example.com');
  expect(first.map(({ type }) => type)).toEqual(['lead.created', 'lead.updated']);
  expect(new Set(events.map(({ actor }) => actor.channel))).toEqual(new Set(['import', 'api']));
});
