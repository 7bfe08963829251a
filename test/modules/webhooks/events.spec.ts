import { randomUUID } from 'node:crypto';
import { createLead, dataOf, expectError, LEADS } from '../../../src/testing/factories.js';
import { McpHttpClient } from '../../../src/testing/mcp-client.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { RecordedEvent } from '../../../src/modules/events/recorded-event.js';
import { withoutKeyNames } from '../../support/events.js';
import { untilTrue } from '../../support/mcp/mcp-helpers.js';
import { verified, WebhookReceiver } from '../../support/servers/webhook-receiver.js';
import { becomeOverdue } from '../../support/scheduled-events.js';
import { createWebhook } from '../../support/webhooks.js';

let app: TestApp;
let receiver: WebhookReceiver;

beforeAll(async () => {
  [app, receiver] = await Promise.all([
    TestApp.start({ settings: { webhooksAllowPrivateTargets: true } }),
    WebhookReceiver.start(),
  ]);
});
afterAll(() => Promise.all([app.stop(), receiver.stop()]));

const TYPES = ['lead.created', 'lead.updated', 'lead.deleted', 'task.created'];

describe('a change of a record', () => {
  it('is sent as the feed shows it', async () => {
    const { api, ...tenant } = await app.organization();
    const url = receiver.url();
    const { secret } = await createWebhook({ api }, url, { types: TYPES });
    const custom_fields = { budget: 1.5, name: 'Zoë' };
    const { id } = await createLead(api, { custom_fields });
    dataOf(await api.put(`${LEADS}/${id}`, { city: 'Paris' }));
    dataOf(await api.delete(`${LEADS}/${id}`));
    await untilTrue(() => receiver.at(url).length === 3);
    const sent = receiver.at(url).map((request) => verified(secret, request));
    expect(sent).toEqual(withoutKeyNames(dataOf<RecordedEvent[]>(await api.get('/api/v1/events'))));
    expect(sent).toMatchObject([
      { type: 'lead.created', record: { id, custom_fields }, actor: { key_id: tenant.key.id } },
      { type: 'lead.updated', record: { id, city: 'Paris' }, changed: ['city'] },
      { type: 'lead.deleted', record: { id } },
    ]);
    expect(receiver.idsAt(url)).toEqual(sent.map((event) => event.id));
  });

  it('that time causes is sent with contactable only if the key of the webhook reads leads', async () => {
    const tenant = await app.organization();
    const tasksOnly = await app.key(tenant.id, ['tasks:read', 'webhooks:write']);
    const lead = await createLead(tenant.api, { on_dnc_list: true });
    const body = { title: 'Call', contact_id: lead.id, due_date: '2200-01-01T00:00:00Z' };
    const { id } = dataOf(await tenant.api.post('/api/v1/tasks', body), 201);
    const input = { types: ['task.overdue'], changed: ['title'] };
    const [all, some] = [receiver.url(), receiver.url()];
    await createWebhook(tenant, all, input);
    await createWebhook(tasksOnly, some, input);
    await becomeOverdue(app, tenant, id);
    await untilTrue(() => [all, some].every((url) => receiver.at(url).length === 1));
    const [whole, reduced] = [all, some].map(
      (url) => JSON.parse(receiver.at(url)[0]!.body) as object,
    );
    const feed = await tenant.api.get('/api/v1/events?types=task.overdue');
    expect(withoutKeyNames(dataOf<RecordedEvent[]>(feed))).toEqual([whole]);
    expect(whole).toMatchObject({ record: { id }, contactable: false });
    expect(whole).toEqual({ ...reduced, contactable: false });
    expect(reduced).not.toHaveProperty('contactable');
  });

  it('is not sent for a refused request, a dry run or a replay', async () => {
    const { api, key } = await app.organization();
    const url = receiver.url();
    await createWebhook({ api }, url, { types: TYPES });
    const lead = { first_name: 'Ada', email: 'ada@example.com' };
    const headers = { 'Idempotency-Key': randomUUID() };
    const { id } = dataOf(await api.post(LEADS, lead, { headers }), 201);
    dataOf(await api.post(LEADS, lead, { headers }), 201);
    expectError(await api.post(LEADS, lead), 409, 'duplicate');
    await new McpHttpClient(app.url, key.key).statelessRpc(
      'tools/call',
      { name: 'delete_lead', arguments: { id, dry_run: true } },
      1,
    );
    dataOf(await api.post('/api/v1/tasks', { title: 'the last change' }), 201);
    await untilTrue(() => receiver.at(url).some(({ body }) => body.includes('the last change')));
    const types = receiver.at(url).map(({ body }) => (JSON.parse(body) as { type: string }).type);
    expect(types.toSorted()).toEqual(['lead.created', 'task.created']);
  });
});
