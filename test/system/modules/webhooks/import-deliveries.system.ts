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

function newGate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

it('delivers the events of an import behind others, each once and in the order of its record', async () => {
  const url = receiver.url();
  let gate = newGate();
  receiver.answer = async () => {
    await gate.opened;
    return { status: 200 };
  };
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
  // Only the requests that have arrived are answered. The next ones wait, of which there are few at a time.
  const first = gate;
  gate = newGate();
  first.open();
  const isLate = ({ record }: Sent) => record.email === 'late@example.com';
  const arrived = () => receiver.at(url).map(({ body }) => JSON.parse(body) as Sent);
  await until(() => Promise.resolve(arrived().some(isLate)));
  expect(arrived().length).toBeLessThan(LEADS);
  gate.open();
  await until(async () => (await count(`status = 'succeeded'`)) === LEADS + 2);
  const ids = receiver.idsAt(url);
  const sent = receiver
    .at(url)
    .filter(({ headers }, n) => ids.indexOf(headers['webhook-id']!) === n);
  expect(sent).toHaveLength(LEADS + 2);
  const events = sent.map(({ body }) => JSON.parse(body) as Sent);
  const ofFirst = events.filter(({ record }) => record.email === '0@example.com');
  expect(ofFirst.map(({ type }) => type)).toEqual(['lead.created', 'lead.updated']);
  expect(new Set(events.map(({ actor }) => actor.channel))).toEqual(new Set(['import', 'api']));
});
