import { createHmac } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { type Call, TenantDatabase } from 'latitude';
import {
  buildLead,
  createLead,
  dataOf,
  expectError,
  expectInvalid,
  type LeadRecord,
  McpHttpClient,
  type Tenant,
  TestApp,
} from 'latitude/testing';
import type { MessageDto, Status } from '../src/message.dto.js';
import { messagesExtension } from '../src/messages.extension.js';
import { MessagesService } from '../src/messages.service.js';
import type { ReceiptDto } from '../src/receipts.controller.js';
import { FakeProvider } from './fake-provider.js';

const MESSAGES = '/api/v1/messages';
const SECRET = 'known to the provider';

let provider: FakeProvider;
let app: TestApp;
let tenant: Tenant;
let lead: LeadRecord;

beforeAll(async () => {
  provider = await FakeProvider.start();
  const env = { SMS_PROVIDER_URL: provider.url, SMS_WEBHOOK_SECRET: SECRET };
  app = await TestApp.start({ extensions: [messagesExtension], env });
});
beforeEach(async () => {
  provider.status = 202;
  tenant = await app.organization();
  lead = await createLead(tenant.api, buildLead());
});
afterAll(async () => {
  await app.stop();
  await provider.stop();
});

function send(body: object = {}, { api } = tenant) {
  return api.post(MESSAGES, { lead_id: lead.id, text: 'Hello', ...body });
}

async function sendMessage(body?: object): Promise<MessageDto> {
  return dataOf(await send(body), 201);
}

async function waitForStatus({ id }: MessageDto, status: Status): Promise<void> {
  await waitUntil(async () => {
    const message = await tenant.api.get(`${MESSAGES}/${id}`);
    return dataOf<MessageDto>(message).status === status;
  });
}

/** Waits for work that no response waits for, such as a job. */
async function waitUntil(isDone: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isDone())) await setTimeout(20);
}

describe('POST /api/v1/messages', () => {
  it('returns the queued message and sends it to the phone of the lead', async () => {
    const message = await sendMessage();
    expect(message).toMatchObject({ lead_id: lead.id, text: 'Hello', status: 'queued' });
    await waitForStatus(message, 'sent');
    const sms = { id: message.id, account: tenant.id, to: lead.phone, text: 'Hello' };
    expect(provider.sentTo(lead.phone)).toEqual([sms]);
  });

  it('repeats the call of a provider that does not respond', async () => {
    provider.status = 503;
    const message = await sendMessage();
    await waitUntil(() => provider.sentTo(lead.phone).length > 0);
    provider.status = 202;
    await waitForStatus(message, 'sent');
    expect(new Set(provider.sentTo(lead.phone).map(({ id }) => id))).toEqual(new Set([message.id]));
  });

  it('sends once for repeated requests with one Idempotency-Key', async () => {
    const options = { headers: { 'Idempotency-Key': 'one' } };
    const body = { lead_id: lead.id, text: 'Once' };
    const first = await tenant.api.post(MESSAGES, body, options);
    const second = await tenant.api.post(MESSAGES, body, options);
    expect(second.body).toEqual(first.body);
    await waitForStatus(dataOf(first, 201), 'sent');
    expect(provider.sentTo(lead.phone)).toHaveLength(1);
  });

  it.each([
    ['text', { text: 'x'.repeat(501) }],
    ['lead_id', { lead_id: 'Ada' }],
    ['from', { from: 'me' }],
  ])('answers 400 that names an invalid %s', async (field, body) => {
    expectInvalid(await send(body), field);
  });

  it('answers 400 for a lead without a phone number', async () => {
    const { id } = await createLead(tenant.api);
    expectInvalid(await send({ lead_id: id }), 'lead_id');
  });

  it.each([{ sms_opted_out: true }, { on_dnc_list: true }])(
    'answers 422 and sends nothing for a lead with %j',
    async (flag) => {
      lead = await createLead(tenant.api, buildLead(flag));
      expectError(await send(), 422, 'compliance_blocked');
      expect(provider.sentTo(lead.phone)).toEqual([]);
    },
  );

  it('answers 503 and stores nothing without SMS_PROVIDER_URL', async () => {
    const { database } = app;
    const other = await TestApp.start({ extensions: [messagesExtension], database });
    const { api } = await other.key(tenant.id);
    expectError(await send({}, { ...tenant, api }), 503, 'provider_unavailable');
    expect(await api.get(MESSAGES)).toMatchObject({ body: { meta: { total: 0 } } });
    await other.stop();
  });
});

describe('GET /api/v1/messages', () => {
  it('filters by status and lead with exact totals', async () => {
    const sent = await sendMessage();
    await waitForStatus(sent, 'sent');
    provider.status = 503;
    const queued = await sendMessage();
    const { id: lead_id } = await createLead(tenant.api, buildLead());
    await sendMessage({ lead_id });
    const list = async (query: string) => {
      const { body } = await tenant.api.get(`${MESSAGES}?${query}`);
      const { data, meta } = body as { data: MessageDto[]; meta: { total: number } };
      return { ids: data.map(({ id }) => id), total: meta.total };
    };
    expect(await list(`lead_id=${lead.id}`)).toEqual({ ids: [queued.id, sent.id], total: 2 });
    expect(await list('status=sent')).toEqual({ ids: [sent.id], total: 1 });
    expect(await list('status=queued&limit=1&page=3')).toEqual({ ids: [], total: 2 });
  });
});

describe('GET /api/v1/events', () => {
  it('contains that a message was created and sent', async () => {
    const { id } = await sendMessage();
    await waitUntil(async () => {
      const { body } = await tenant.api.get('/api/v1/events?types=message.created,message.sent');
      const { data } = body as { data: { type: string; record: MessageDto }[] };
      const types = data.filter(({ record }) => record.id === id).map(({ type }) => type);
      return types.join() === 'message.created,message.sent';
    });
  });
});

describe('access', () => {
  it('answers 401 without a key', async () => {
    expectError(await app.client().get(MESSAGES), 401, 'unauthorized');
  });

  it('answers 403 for a key without the scope', async () => {
    const reader = await app.key(tenant.id, ['messages:read']);
    expectError(await send({}, reader), 403, 'insufficient_scope');
    const writer = await app.key(tenant.id, ['messages:write']);
    expectError(await writer.api.get(MESSAGES), 403, 'insufficient_scope');
  });

  it('shows another organization neither messages nor leads', async () => {
    const { id } = await sendMessage();
    const other = await app.organization();
    expectError(await other.api.get(`${MESSAGES}/${id}`), 404, 'not_found');
    expect(await other.api.get(MESSAGES)).toMatchObject({ body: { data: [], meta: { total: 0 } } });
    expectError(await send({}, other), 404, 'lead_not_found');
  });
});

describe('a transaction', () => {
  /** Sends a message with this text. */
  function sendWith(call: Call, text: string) {
    return app.app.get(MessagesService).send(call, { lead_id: lead.id, text });
  }

  /** Sends another message, waits for it, and returns the texts that the provider received. */
  async function textsBefore(text: string) {
    await waitForStatus(await sendMessage({ text }), 'sent');
    return provider.sentTo(lead.phone).map((sms) => sms.text);
  }

  it('that is rolled back sends nothing', async () => {
    const call = await app.call(tenant);
    const running = app.app.get(TenantDatabase).transaction(call, async (inner) => {
      await sendWith(inner, 'Rolled back');
      throw new Error('rolled back');
    });
    await expect(running).rejects.toThrow('rolled back');
    expect(await textsBefore('Later')).toEqual(['Later']);
  });

  it('that is a dry run sends nothing', async () => {
    const call = await app.call(tenant);
    const dryRun = app.app.get(TenantDatabase).dryRun(call, (inner) => sendWith(inner, 'Dry run'));
    expect((await dryRun).status).toBe('queued');
    expect(await textsBefore('Later')).toEqual(['Later']);
  });
});

describe('POST /api/v1/message-receipts', () => {
  /** Sends a receipt as the provider does. */
  async function report(receipt: Partial<ReceiptDto>, secret = SECRET) {
    const body = JSON.stringify(receipt);
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const headers = { 'Content-Type': 'application/json', 'X-Signature': signature };
    return fetch(`${app.url}/api/v1/message-receipts`, { method: 'POST', headers, body });
  }

  it('stores that a message was delivered', async () => {
    const { id } = await sendMessage();
    expect((await report({ account: tenant.id, id, status: 'delivered' })).status).toBe(200);
    expect(await tenant.api.get(`${MESSAGES}/${id}`)).toMatchObject({
      body: { data: { status: 'delivered' } },
    });
  });

  it('answers 400 that names an invalid field', async () => {
    const { id } = await sendMessage();
    const response = await report({ account: tenant.id, id });
    expect({ status: response.status, text: await response.text() }).toEqual({
      status: 400,
      text: expect.stringContaining('"field":"status"') as string,
    });
  });

  it('answers 401 to a receipt with another signature', async () => {
    const { id } = await sendMessage();
    const receipt = { account: tenant.id, id, status: 'delivered' } as const;
    expect((await report(receipt, 'guessed')).status).toBe(401);
  });

  it('answers 404 for a message of another organization', async () => {
    const { id } = await sendMessage();
    const other = await app.organization();
    expect((await report({ account: other.id, id, status: 'failed' })).status).toBe(404);
  });
});

describe('GET /health/ready', () => {
  it('reports a provider that fails, and stays ready', async () => {
    provider.status = 500;
    const down = { status: 'down', detail: 'The provider answers 500.' };
    const other = await TestApp.start({
      extensions: [messagesExtension],
      env: { SMS_PROVIDER_URL: provider.url },
      database: app.database,
    });
    const { status, body } = await other.client().get('/health/ready');
    await other.stop();
    expect({ status, body: body as unknown }).toMatchObject({
      status: 200,
      body: { status: 'ok', checks: { sms_provider: down } },
    });
  });
});

describe('GET /metrics', () => {
  it('counts the calls of the provider', async () => {
    await waitForStatus(await sendMessage(), 'sent');
    const metrics = await (await fetch(`${app.url}/metrics`)).text();
    expect(metrics).toMatch(/acme_sms_provider_calls_total\{result="accepted"\} [1-9]/);
  });
});

describe('/mcp', () => {
  async function ask(method: string, params: object) {
    const client = new McpHttpClient(app.url, tenant.key.key);
    const { body } = await client.statelessRpc(method, params);
    return (body as { result: object }).result;
  }

  it('sends and lists messages with the tools', async () => {
    const message = { lead_id: lead.id, text: 'Hello' };
    const sent = await ask('tools/call', { name: 'send_message', arguments: message });
    expect(sent).toMatchObject({ structuredContent: { ...message, status: 'queued' } });
    const list = await ask('tools/call', {
      name: 'list_messages',
      arguments: { lead_id: lead.id },
    });
    expect(list).toMatchObject({ structuredContent: { meta: { total: 1 } } });
  });

  it('advises not to contact a lead that opted out', async () => {
    const { id } = await createLead(tenant.api, buildLead({ sms_opted_out: true }));
    const message = { lead_id: id, text: 'Hello' };
    const result = await ask('tools/call', { name: 'send_message', arguments: message });
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result)).toContain('Do not contact the lead');
  });

  it('attaches the lead and its messages to the prompt', async () => {
    const { id } = await sendMessage();
    const input = { name: 'draft_message', arguments: { lead_id: lead.id } };
    const prompt = JSON.stringify(await ask('prompts/get', input));
    expect(prompt).toContain(`lead://${lead.id}`);
    expect(prompt).toContain(`message://${id}`);
  });
});
