import { randomUUID } from 'node:crypto';
import { KeysService } from '../../../../src/modules/auth/keys.service.js';
import { OrganizationCalls } from '../../../../src/platform/access/organization-calls.service.js';
import { dataOf, expectError } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { untilTrue } from '../../../support/mcp/mcp-helpers.js';
import { until } from '../../../support/servers/product.js';
import { verified, WebhookReceiver } from '../../../support/servers/webhook-receiver.js';
import {
  createWebhook,
  type DeliveryRecord,
  deliveriesOf,
  passTime,
  publish,
  untilDeliveries,
  type WebhookRecord,
  WEBHOOKS,
} from '../../../support/webhooks.js';

// Broken on purpose for docs/operating/runbook.md#a-webhook-is-disabled

let app: TestApp;
let receiver: WebhookReceiver;
let tenant: Tenant;

beforeAll(async () => {
  [app, receiver] = await Promise.all([
    TestApp.start({ settings: { webhooksAllowPrivateTargets: true } }),
    WebhookReceiver.start(),
  ]);
});
beforeEach(async () => {
  tenant = await app.organization();
  receiver.answer = () => ({ status: 200 });
});
afterAll(() => Promise.all([app.stop(), receiver.stop()]));

const isEnded = ({ status }: DeliveryRecord) => status !== 'pending';
const stored = async (id: string) =>
  dataOf<WebhookRecord>(await tenant.api.get(`${WEBHOOKS}/${id}`));

describe('a delivery', () => {
  it('is the event with a signature that the package standardwebhooks accepts', async () => {
    const url = receiver.url();
    const { id, secret } = await createWebhook(tenant, url);
    const event = await publish(app, tenant, { body: '{"id":"e","note":"Zoë €"}' });
    await untilTrue(() => receiver.at(url).length === 1);
    const [request] = receiver.at(url);
    expect(verified(secret, request!)).toEqual({ id: 'e', note: 'Zoë €' });
    expect(request!.headers).toMatchObject({
      'webhook-id': event.event_id,
      'content-type': 'application/json',
    });
    expect(await untilDeliveries(tenant, id, (all) => all.every(isEnded))).toMatchObject([
      {
        webhook_id: id,
        event_id: event.event_id,
        type: 'lead.updated',
        record_id: event.record_id,
        status: 'succeeded',
        attempts: 1,
        next_attempt_at: null,
        response_status: 200,
        error: null,
      },
    ]);
  });

  it('is held while the organization is suspended, and sent when it is resumed', async () => {
    const { api, id: organization } = tenant;
    const [held, other] = [receiver.url(), receiver.url()];
    const { id } = await createWebhook(tenant, held);
    const stranger = await app.organization();
    await createWebhook(stranger, other);
    const keys = app.app.get(KeysService);
    await keys.updateOrganization(organization, { suspended: true });
    await publish(app, tenant);
    // The job of the other organization was sent later.
    await publish(app, stranger);
    await untilTrue(() => receiver.at(other).length === 1);
    expect(receiver.at(held)).toEqual([]);
    await keys.updateOrganization(organization, { suspended: false });
    await untilTrue(() => receiver.at(held).length === 1);
    await until(async () => (await api.get('/api/v1/me')).status === 200);
    expect(await untilDeliveries(tenant, id, (all) => all.every(isEnded))).toMatchObject([
      { status: 'succeeded', attempts: 1 },
    ]);
  });

  it('is held as well if its webhook is being served when the organization is suspended', async () => {
    const url = receiver.url();
    await createWebhook(tenant, url);
    const keys = app.app.get(KeysService);
    let release: () => void = () => undefined;
    const suspended = new Promise<void>((resolve) => {
      release = resolve;
    });
    receiver.answer = async () => {
      await suspended;
      return { status: 200 };
    };
    await publish(app, tenant);
    await untilTrue(() => receiver.at(url).length === 1);
    await keys.updateOrganization(tenant.id, { suspended: true });
    const calls = app.app.get(OrganizationCalls);
    await until(() => calls.isSuspended({ tenant: { id: tenant.id } }));
    await publish(app, tenant);
    release();
    const isWaiting = async () => {
      const text = `select from jobs where organization_id = $1 and name = 'webhooks.deliver' and not is_running`;
      return (await app.sql(text, [tenant.id])).length > 0;
    };
    await until(isWaiting);
    expect(receiver.at(url)).toHaveLength(1);
    await keys.updateOrganization(tenant.id, { suspended: false });
    await untilTrue(() => receiver.at(url).length === 2);
  });

  it('is made once for an event that is published twice', async () => {
    const { id } = await createWebhook(tenant, receiver.url());
    await publish(app, tenant, await publish(app, tenant));
    expect(await deliveriesOf(tenant, id)).toHaveLength(1);
  });

  it('is made only for enabled webhooks of the organization with the type', async () => {
    const other = await app.organization();
    const webhooks = await Promise.all([
      createWebhook(tenant, receiver.url(), { types: ['lead.created', 'lead.updated'] }),
      createWebhook(tenant, receiver.url(), { types: ['lead.created'] }),
      createWebhook(tenant, receiver.url(), { enabled: false }),
      createWebhook(other, receiver.url()),
    ]);
    await publish(app, tenant);
    await untilTrue(() => receiver.at(webhooks[0].url).length === 1);
    expect(webhooks.map(({ url }) => receiver.at(url).length)).toEqual([1, 0, 0, 0]);
  });

  it('stores the start of the answer, the status and why it failed', async () => {
    receiver.answer = () => ({ status: 503, body: `busy\0${'x'.repeat(100_000)}` });
    const { id } = await createWebhook(tenant, receiver.url());
    await publish(app, tenant);
    const [failed] = await untilDeliveries(tenant, id, ([one]) => one!.attempts === 1);
    expect(failed).toMatchObject({
      status: 'pending',
      next_attempt_at: expect.any(String) as string,
      response_status: 503,
      error: 'The receiver answered 503.',
    });
    expect(failed!.response_body).toBe(`busy${'x'.repeat(995)}`);
    expect((await stored(id)).failing_since).not.toBeNull();
  });

  it('fails if the receiver redirects', async () => {
    const elsewhere = receiver.url();
    receiver.answer = () => ({ status: 307, headers: { Location: elsewhere } });
    const { id } = await createWebhook(tenant, receiver.url());
    await publish(app, tenant);
    const [failed] = await untilDeliveries(tenant, id, ([one]) => one!.attempts === 1);
    expect(failed!.error).toBe('The receiver answered 307. Redirects are not followed.');
    expect(receiver.at(elsewhere)).toEqual([]);
  });

  it('fails if nobody listens', async () => {
    const { id } = await createWebhook(tenant, 'http://127.0.0.1:1/');
    await publish(app, tenant);
    const [failed] = await untilDeliveries(tenant, id, ([one]) => one!.attempts === 1);
    expect(failed).toMatchObject({
      response_status: null,
      error: 'The host refused the connection.',
    });
  });
});

describe('with a receiver that fails half the time', () => {
  it('every event arrives in the order of its record', async () => {
    const url = receiver.url();
    const { id } = await createWebhook(tenant, url);
    let requests = 0;
    const accepted: string[] = [];
    receiver.answer = ({ headers }) => {
      if (requests++ % 2 === 0) return { status: 500 };
      accepted.push(headers['webhook-id']!);
      return { status: 204 };
    };
    const records = [randomUUID(), randomUUID(), randomUUID()];
    for (let number = 0; number < 5; number++) {
      for (const record_id of records) {
        await publish(app, tenant, { record_id, event_id: `${record_id} ${number}` });
      }
    }
    await until(async () => {
      await passTime(app, tenant);
      return (await deliveriesOf(tenant, id)).every(({ status }) => status === 'succeeded');
    });
    for (const record of records) {
      const ids = accepted.filter((event_id) => event_id.startsWith(record));
      expect(ids).toEqual([0, 1, 2, 3, 4].map((number) => `${record} ${number}`));
    }
    expect((await stored(id)).failing_since).toBeNull();
  });
});

describe('a receiver that does not answer', () => {
  it('delays neither other webhooks nor other records', async () => {
    const [slow, quick] = [receiver.url(), receiver.url()];
    await createWebhook(tenant, slow);
    await createWebhook(tenant, quick);
    const stuck = randomUUID();
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    receiver.answer = async ({ path, headers }) => {
      const isStuck = headers['webhook-id']!.startsWith('stuck') && slow.endsWith(path);
      if (isStuck) await released;
      return { status: 200 };
    };
    await publish(app, tenant, { record_id: stuck, event_id: 'stuck 1' });
    await untilTrue(() => receiver.idsAt(slow).includes('stuck 1'));
    await publish(app, tenant, { record_id: stuck, event_id: 'stuck 2' });
    const { event_id } = await publish(app, tenant);
    await untilTrue(() => receiver.idsAt(slow).includes(event_id));
    await untilTrue(() => receiver.idsAt(quick).length === 3);
    expect(receiver.idsAt(slow)).toEqual(['stuck 1', event_id]);
    release();
    await untilTrue(() => receiver.idsAt(slow).length === 3);
    expect(receiver.idsAt(slow)[2]).toBe('stuck 2');
  });
});

describe('a webhook', () => {
  it('is disabled after an answer of 410, with the reason', async () => {
    receiver.answer = () => ({ status: 410 });
    const { id } = await createWebhook(tenant, receiver.url());
    await publish(app, tenant);
    await until(async () => !(await stored(id)).enabled);
    expect(await stored(id)).toMatchObject({ enabled: false, disabled_reason: 'gone' });
    expect(await deliveriesOf(tenant, id)).toMatchObject([{ status: 'failed' }]);
  });

  it('is disabled after three days of failures, and continues when it is enabled', async () => {
    const url = receiver.url();
    receiver.answer = () => ({ status: 500 });
    const { id } = await createWebhook(tenant, url);
    const { event_id } = await publish(app, tenant);
    await untilDeliveries(tenant, id, ([one]) => one!.attempts === 1);
    await app.sql(
      `update webhooks set failing_since = failing_since - interval '73 hours' where id = $1`,
      [id],
    );
    await passTime(app, tenant);
    await until(async () => !(await stored(id)).enabled);
    expect(await stored(id)).toMatchObject({ disabled_reason: 'failing' });
    const text = await (await fetch(`${app.url}/metrics`)).text();
    expect(text).toMatch(/latitude_webhooks_disabled_total\{reason="failing"\} [1-9]/);

    receiver.answer = () => ({ status: 200 });
    dataOf(await tenant.api.put(`${WEBHOOKS}/${id}`, { enabled: true }));
    await untilDeliveries(tenant, id, (all) => all.every(isEnded));
    expect(await stored(id)).toMatchObject({
      enabled: true,
      disabled_reason: null,
      failing_since: null,
    });
    expect(new Set(receiver.idsAt(url))).toEqual(new Set([event_id]));
  });

  it('receives the changes made before it was disabled when it is enabled, and no later ones', async () => {
    const url = receiver.url();
    const { id } = await createWebhook(tenant, url);
    const before = new Date();
    const { updated_at: disabledAt } = dataOf<WebhookRecord>(
      await tenant.api.put(`${WEBHOOKS}/${id}`, { enabled: false }),
    );
    const { event_id } = await publish(app, tenant, { created_at: before });
    await publish(app, tenant, { created_at: new Date(Date.parse(disabledAt) + 1) });
    expect(await deliveriesOf(tenant, id)).toMatchObject([{ status: 'pending', attempts: 0 }]);
    expect(receiver.at(url)).toEqual([]);

    dataOf(await tenant.api.put(`${WEBHOOKS}/${id}`, { enabled: true }));
    await untilDeliveries(tenant, id, (all) => all.every(isEnded));
    expect(receiver.idsAt(url)).toEqual([event_id]);
  });

  it('sends no test event while it is disabled', async () => {
    const { id } = await createWebhook(tenant, receiver.url(), { enabled: false });
    expectError(
      await tenant.api.post(`${WEBHOOKS}/${id}/test`, undefined),
      409,
      'webhook_disabled',
    );
  });
});

describe('POST /api/v1/webhooks/:id/test', () => {
  it('sends one event, without retries', async () => {
    const url = receiver.url();
    const { id, secret } = await createWebhook(tenant, url);
    receiver.answer = () => ({ status: 500 });
    const test = dataOf<DeliveryRecord>(
      await tenant.api.post(`${WEBHOOKS}/${id}/test`, undefined),
      202,
    );
    expect(test).toMatchObject({ webhook_id: id, type: 'webhook.test', status: 'pending' });
    const [ended] = await untilDeliveries(tenant, id, (all) => all.every(isEnded));
    expect(ended).toMatchObject({ id: test.id, status: 'failed', response_status: 500 });
    const event = verified(secret, receiver.at(url)[0]!);
    expect(event).toMatchObject({
      ...{ id: test.event_id, type: 'webhook.test', changed: [] },
      record: { id, url },
      actor: { key_id: tenant.key.id, channel: 'api' },
    });
    expect((await stored(id)).failing_since).toBeNull();
  });
});

describe('POST /api/v1/webhooks/:id/deliveries/:delivery_id/redeliver', () => {
  const redeliver = (id: string, delivery: string) =>
    tenant.api.post(`${WEBHOOKS}/${id}/deliveries/${delivery}/redeliver`, undefined);

  it('sends an event again with its id', async () => {
    const url = receiver.url();
    const { id } = await createWebhook(tenant, url);
    const { event_id } = await publish(app, tenant);
    const [first] = await untilDeliveries(tenant, id, (all) => all.every(isEnded));
    expect(dataOf(await redeliver(id, first!.id), 202)).toMatchObject({ status: 'pending' });
    await untilTrue(() => receiver.at(url).length === 2);
    expect(receiver.idsAt(url)).toEqual([event_id, event_id]);
  });

  it('does not wait for the next retry', async () => {
    const url = receiver.url();
    receiver.answer = () => ({ status: 500 });
    const { id } = await createWebhook(tenant, url);
    await publish(app, tenant);
    const [first] = await untilDeliveries(tenant, id, ([one]) => one!.attempts === 1);
    await app.sql(
      `update webhook_deliveries set next_attempt_at = now() + interval '1 day' where id = $1`,
      [first!.id],
    );
    receiver.answer = () => ({ status: 200 });
    dataOf(await redeliver(id, first!.id), 202);
    await untilDeliveries(tenant, id, (all) => all.every(({ status }) => status === 'succeeded'));
  });

  it('answers 404 for an unknown delivery and for one of another webhook', async () => {
    const { id } = await createWebhook(tenant, receiver.url());
    const other = await createWebhook(tenant, receiver.url());
    await publish(app, tenant);
    const [delivery] = await untilDeliveries(tenant, other.id, (all) => all.length === 1);
    for (const unknown of [randomUUID(), 'x', delivery!.id]) {
      expectError(await redeliver(id, unknown), 404, 'not_found');
    }
  });
});

describe('POST /api/v1/webhooks/:id/rotate-secret', () => {
  it('signs with both secrets until the old one expires', async () => {
    const url = receiver.url();
    const { id, secret: old } = await createWebhook(tenant, url);
    const { secret, previous_secret_expires_at } = dataOf<WebhookRecord & { secret: string }>(
      await tenant.api.post(`${WEBHOOKS}/${id}/rotate-secret`, undefined),
    );
    expect(secret).not.toBe(old);
    expect(Date.parse(previous_secret_expires_at!) - Date.now()).toBeGreaterThan(23.9 * 3_600_000);
    await publish(app, tenant);
    await untilTrue(() => receiver.at(url).length === 1);
    for (const known of [secret, old]) verified(known, receiver.at(url)[0]!);

    await app.sql(
      `update webhooks set previous_secret_expires_at = now() - interval '1 second' where id = $1`,
      [id],
    );
    await publish(app, tenant);
    await untilTrue(() => receiver.at(url).length === 2);
    verified(secret, receiver.at(url)[1]!);
    expect(() => verified(old, receiver.at(url)[1]!)).toThrow('No matching signature found');
  });
});
