import { randomUUID } from 'node:crypto';
import { DeliveriesService } from '../../../src/modules/webhooks/deliveries.service.js';
import { createLead, dataOf, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { untilTrue } from '../../support/mcp/mcp-helpers.js';
import { WebhookReceiver } from '../../support/servers/webhook-receiver.js';
import { createWebhook, deliveriesOf, publish, untilDeliveries } from '../../support/webhooks.js';

const TYPES = ['lead.created', 'lead.updated', 'lead.deleted'];

let app: TestApp;
let receiver: WebhookReceiver;

beforeAll(async () => {
  [app, receiver] = await Promise.all([
    TestApp.start({ settings: { webhooksAllowPrivateTargets: true } }),
    WebhookReceiver.start(),
  ]);
});
afterAll(() => Promise.all([app.stop(), receiver.stop()]));

const textsOf = async (webhook: string) => {
  const rows = await app.sql<{ body: string }>(
    'select body from webhook_deliveries where webhook_id = $1 order by seq',
    [webhook],
  );
  return rows.map(({ body }) => body);
};

const bodiesOf = async (webhook: string) =>
  (await textsOf(webhook)).map((body) => JSON.parse(body) as { record: object });

describe('an erasure', () => {
  it('while a delivery is sent does not let the answer of the receiver be stored', async () => {
    const tenant = await app.organization({ scopes: [...app.scopes.ordinary, 'leads:erase'] });
    const webhook = await createWebhook(tenant, receiver.url(), { types: TYPES });
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    receiver.answer = async ({ body }) => {
      if (body.includes('London')) await released;
      return { status: 200, body };
    };
    const { id } = await createLead(tenant.api, { city: 'London' });
    await untilTrue(() => receiver.received.some(({ body }) => body.includes(id)));
    dataOf(await tenant.api.post(`${LEADS}/${id}/erase`, undefined));
    release();
    const [first] = await untilDeliveries(
      tenant,
      webhook.id,
      (all) => all.length === 2 && all.every(({ status }) => status === 'succeeded'),
    );
    expect(first).toMatchObject({
      type: 'lead.created',
      response_status: 200,
      response_body: null,
    });
    for (const { record } of await bodiesOf(webhook.id)) expect(record).toEqual({ id });
  });

  it('before a delivery is queued empties its body', async () => {
    const tenant = await app.organization({ scopes: [...app.scopes.ordinary, 'leads:erase'] });
    const webhook = await createWebhook(tenant, 'https://receiver.invalid/hook', { types: TYPES });
    const { id } = await createLead(tenant.api, { city: 'London' });
    const created_at = new Date();
    dataOf(await tenant.api.post(`${LEADS}/${id}/erase`, undefined));
    await untilDeliveries(tenant, webhook.id, (all) => all.length === 2);
    const body = JSON.stringify({ type: 'lead.updated', record: { id, city: 'London' } });
    await publish(app, tenant, { record_id: id, body, created_at });
    const later = new Date(Date.now() + 60_000);
    await publish(app, tenant, { record_id: id, body, created_at: later });
    const ofImport = {
      event_id: randomUUID(),
      type: 'lead.updated',
      record_id: id,
      body,
      created_at,
    };
    const call = { tenant: { id: tenant.id, phoneRegion: 'US' } };
    await app.app.get(DeliveriesService).queue(call, [ofImport], true);
    expect(await deliveriesOf(tenant, webhook.id)).toHaveLength(5);
    const records = (await bodiesOf(webhook.id)).map(({ record }) => record);
    expect(records).toEqual([{ id }, { id }, { id }, { id, city: 'London' }, { id }]);
    const [erased] = await textsOf(webhook.id);
    expect(erased).toBe(JSON.stringify(JSON.parse(erased!)));
  });
});
