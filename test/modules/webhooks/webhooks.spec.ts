import { RecordRemoval } from '../../../src/platform/data/records/record-removal.service.js';
import { createLead, dataOf, expectError, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { WebhooksRepository } from '../../../src/modules/webhooks/webhooks.repository.js';
import { until } from '../../support/servers/product.js';
import { ownerPool } from '../../../src/testing/databases.js';
import { WebhooksJobs } from '../../../src/modules/webhooks/webhooks.jobs.js';
import {
  createWebhook,
  expectInvalid,
  deliveriesOf,
  publish,
  type WebhookRecord,
  WEBHOOKS,
} from '../../support/webhooks.js';

let app: TestApp;
let tenant: Tenant;

/** An address that is never called, because the webhooks are disabled or no event is published. */
const URL = 'https://receiver.invalid/hook';

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => app.stop());

describe('POST /api/v1/webhooks', () => {
  it('returns the webhook with its secret, which no other response has', async () => {
    const { secret, ...created } = await createWebhook(tenant, URL, { description: 'CRM' });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(created).toEqual({
      id: expect.any(String) as string,
      url: URL,
      types: ['lead.updated'],
      changed: null,
      filter: null,
      description: 'CRM',
      enabled: true,
      disabled_reason: null,
      failing_since: null,
      previous_secret_expires_at: null,
      created_at: expect.any(String) as string,
      updated_at: created.created_at,
    });
    expect(dataOf(await tenant.api.get(`${WEBHOOKS}/${created.id}`))).toEqual(created);
    expect(dataOf(await tenant.api.get(WEBHOOKS))).toEqual([created]);
  });

  it('sends a test event with the id of the request', async () => {
    const { id } = await createWebhook(tenant, URL);
    const headers = { 'X-Request-Id': 'test-it' };
    dataOf(await tenant.api.post(`${WEBHOOKS}/${id}/test`, undefined, { headers }), 202);
    const [row] = await app.sql<{ body: string }>(
      `select body from webhook_deliveries where webhook_id = '${id}'`,
    );
    expect(JSON.parse(row?.body ?? '')).toMatchObject({ actor: { request_id: 'test-it' } });
  });

  it('repeats no response to a key without the read scopes of the types', async () => {
    const create = ({ api }: Tenant) =>
      api.post(
        WEBHOOKS,
        { url: URL, types: ['lead.updated'] },
        { headers: { 'Idempotency-Key': 'once' } },
      );
    const { secret: _secret, ...webhook } = dataOf<WebhookRecord>(await create(tenant), 201);
    const { api } = await app.key(tenant.id, ['webhooks:write', 'tasks:read']);
    expectInvalid(await create({ ...tenant, api }), 'types has lead.updated, for which');
    const colleague = await app.key(tenant.id, ['webhooks:write', 'leads:read']);
    expect(dataOf(await create(colleague), 201)).toEqual(webhook);
  });

  it.each([
    [
      'a creation',
      (id: string) => ['', { url: `${URL}/${id}`, types: ['lead.updated'] }] as const,
      201,
    ],
    ['a new secret', (id: string) => [`/${id}/rotate-secret`, undefined] as const, 200],
  ])('stores no secret of %s: a replay leaves it out', async (_, requestOf, status) => {
    const { id } = await createWebhook(tenant, URL);
    const [path, body] = requestOf(id);
    const headers = { 'Idempotency-Key': 'secret' };
    const send = () => tenant.api.post(WEBHOOKS + path, body, { headers });
    const { secret, ...webhook } = dataOf<WebhookRecord>(await send(), status);
    expect(secret).toMatch(/^whsec_/);
    const replay = await send();
    expect(dataOf<object>(replay, status)).toEqual(webhook);
    expect(replay.headers.get('idempotency-replayed')).toBe('true');
    const stored = await app.sql('select body from idempotency_keys where key = $1', ['secret']);
    expect(JSON.stringify(stored)).not.toContain('whsec_');
  });

  it.each([
    ['url', { url: 'ftp://example.com/' }, 'url must be an http or https URL'],
    ['url', { url: 'https://user:password@example.com/' }, 'url must be an http or https URL'],
    ['url', { url: '/hook' }, 'url must be an http or https URL'],
    ['url', { url: 'http:example.com' }, 'url must be an http or https URL'],
    ['url', { url: 'https://exam\tple.com/' }, 'url must be an http or https URL'],
    ['types', { types: [] }, 'types must have at least one type'],
    ['types', { types: ['lead.unknown'] }, 'types has the unknown type lead.unknown'],
    ['types', { types: 'lead.updated' }, 'types must be an array of strings'],
    ['secret', { secret: 'whsec_mine' }, 'secret is unknown or cannot be set'],
  ])('refuses a wrong %s: %j', async (_, fields, message) => {
    const body = { url: URL, types: ['lead.updated'], ...fields };
    expectInvalid(await tenant.api.post(WEBHOOKS, body), message);
  });

  it('refuses types that the key may not read', async () => {
    const { api } = await app.key(tenant.id, ['webhooks:write', 'leads:read']);
    await createWebhook({ api }, URL, { types: ['lead.updated'] });
    const refused = await api.post(WEBHOOKS, { url: URL, types: ['lead.updated', 'task.created'] });
    const message = 'types has task.created, for which the key needs tasks:read';
    expectInvalid(refused, message);
  });

  it('refuses more than 50 webhooks, also of concurrent requests', async () => {
    await app.sql(
      `insert into webhooks (organization_id, id, url, types, enabled, scopes, secret)
       select $1, gen_random_uuid(), 'https://example.com/', '{}', false, '{}', ''
       from generate_series(1, 49)`,
      [tenant.id],
    );
    const create = () => tenant.api.post(WEBHOOKS, { url: URL, types: ['lead.updated'] });
    const responses = await Promise.all(Array.from({ length: 8 }, create));
    const refused = responses.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(7);
    for (const response of refused) expectError(response, 409, 'too_many_webhooks');
  });
});

describe('PUT /api/v1/webhooks/:id', () => {
  const put = (id: string, changes: object, api = tenant.api) =>
    api.put(`${WEBHOOKS}/${id}`, changes);

  it('changes the given fields', async () => {
    const { id, url } = await createWebhook(tenant, URL);
    const changes = { types: ['task.created'], enabled: false, description: 'paused' };
    expect(dataOf(await put(id, changes))).toMatchObject({ url, ...changes });
  });

  it('needs the read scopes of all types for another URL or other types', async () => {
    const { id } = await createWebhook(tenant, URL, { types: ['lead.updated', 'task.created'] });
    const { api } = await app.key(tenant.id, ['webhooks:read', 'webhooks:write', 'leads:read']);
    const message = 'types has task.created, for which the key needs tasks:read';
    for (const changes of [
      { url: 'https://elsewhere.invalid/' },
      { types: ['lead.created', 'task.created'] },
    ]) {
      expectInvalid(await put(id, changes, api), message);
    }
    dataOf(await put(id, { enabled: false }, api));
    dataOf(await put(id, { types: ['lead.created'] }, api));
  });

  it('stores the read scopes, so that only events of these scopes are queued', async () => {
    const { id } = await createWebhook(tenant, URL);
    await app.sql(`update webhooks set scopes = '{tasks:read}' where id = $1`, [id]);
    await publish(app, tenant);
    expect(await deliveriesOf(tenant, id)).toEqual([]);
  });
});

describe('a new webhook', () => {
  it('receives no event of a change that was made before it was created', async () => {
    const { id, created_at: createdAt } = await createWebhook(tenant, URL);
    const created_at = new Date(createdAt);
    await publish(app, tenant, { created_at: new Date(created_at.getTime() - 1) });
    const { event_id } = await publish(app, tenant, { created_at });
    expect(await deliveriesOf(tenant, id)).toMatchObject([{ event_id }]);
  });
});

describe('DELETE /api/v1/webhooks/:id', () => {
  it('removes the webhook with its deliveries', async () => {
    const { id } = await createWebhook(tenant, URL);
    await publish(app, tenant);
    expect(dataOf(await tenant.api.delete(`${WEBHOOKS}/${id}`))).toEqual({ id, deleted: true });
    expectError(await tenant.api.get(`${WEBHOOKS}/${id}`), 404, 'not_found');
    expectError(await tenant.api.get(`${WEBHOOKS}/${id}/deliveries`), 404, 'not_found');
    const left = await app.sql('select from webhook_deliveries where webhook_id = $1', [id]);
    expect(left).toEqual([]);
  });
});

describe('GET /api/v1/webhooks/:id/deliveries', () => {
  it('filters by status', async () => {
    const { id } = await createWebhook(tenant, URL);
    await publish(app, tenant);
    for (const [status, count] of [
      ['pending', 1],
      ['failed', 0],
    ] as const) {
      const { body } = await tenant.api.get(`${WEBHOOKS}/${id}/deliveries?status=${status}`);
      expect(body).toMatchObject({ meta: { total: count } });
    }
  });
});

describe('deliveries', () => {
  it('are removed by a purge of their record', async () => {
    const { id } = await createWebhook(tenant, URL);
    const lead = await createLead(tenant.api);
    await publish(app, tenant, { record_id: lead.id });
    const kept = await publish(app, tenant);
    dataOf(await tenant.api.delete(`${LEADS}/${lead.id}`));
    await app.app
      .get(RecordRemoval)
      .purge({ tenant: { id: tenant.id } }, new Date(Date.now() + 60_000));
    expect(await deliveriesOf(tenant, id)).toMatchObject([{ record_id: kept.record_id }]);
  });

  it('are removed after 30 days', async () => {
    const { id } = await createWebhook(tenant, URL);
    const { event_id } = await publish(app, tenant);
    const kept = await publish(app, tenant);
    await app.sql(
      `update webhook_deliveries set created_at = now() - interval '31 days' where event_id = $1`,
      [event_id],
    );
    await app.app.get(WebhooksJobs).cleanUp(await app.call(tenant));
    expect(await deliveriesOf(tenant, id)).toMatchObject([{ event_id: kept.event_id }]);
  });
});

describe('If-Match', () => {
  it('accepts the ETag of a creation and of a new secret, which GET answers as well', async () => {
    const created = await tenant.api.post(WEBHOOKS, { url: URL, types: ['lead.created'] });
    const path = `${WEBHOOKS}/${dataOf<WebhookRecord>(created, 201).id}`;
    const rotated = await tenant.api.post(`${path}/rotate-secret`, undefined);
    expect(rotated.headers.get('ETag')).not.toBe(created.headers.get('ETag'));
    const read = await tenant.api.get(path);
    expect(rotated.headers.get('ETag')).toBe(read.headers.get('ETag'));
    const conditional = { headers: { 'If-Match': rotated.headers.get('ETag')! } };
    dataOf<WebhookRecord>(await tenant.api.put(path, { description: '1' }, conditional));
  });

  it('refuses a change of another version', async () => {
    const { id } = await createWebhook(tenant, URL);
    const path = `${WEBHOOKS}/${id}`;
    const { headers } = await tenant.api.get(path);
    const conditional = { headers: { 'If-Match': headers.get('ETag')! } };
    dataOf<WebhookRecord>(await tenant.api.put(path, { description: '1' }, conditional));
    const refused = await tenant.api.put(path, { description: '2' }, conditional);
    expectError(refused, 412, 'precondition_failed');
  });
});

it('a webhook whose delivery succeeds while another one fails stays enabled', async () => {
  const { id } = await createWebhook(tenant, URL);
  await app.sql(`update webhooks set failing_since = now() - interval '4 days' where id = '${id}'`);
  const pool = ownerPool(app.database);
  const success = await pool.connect();
  await success.query('begin');
  await success.query('update webhooks set failing_since = null where id = $1', [id]);
  const failure = app.app.get(WebhooksRepository).storeFailure(await app.call(tenant), id, false);
  await until(async () => {
    const waiting = await app.sql(`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`);
    return waiting.length > 0;
  });
  await success.query('commit');
  success.release();
  await pool.end();
  expect(await failure).toBeUndefined();
  expect(dataOf(await tenant.api.get(`${WEBHOOKS}/${id}`))).toMatchObject({ enabled: true });
});
