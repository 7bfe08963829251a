import { createHmac, timingSafeEqual } from 'node:crypto';
import { Body, Controller, HttpCode, Injectable, Module, Post, RawBody } from '@nestjs/common';
import { ApiError } from '../../../../src/platform/errors/api-error.js';
import { CurrentCall } from '../../../../src/platform/http/request/api-request.js';
import { Webhook } from '../../../../src/platform/http/routes/webhook.decorator.js';
import {
  type WebhookDelivery,
  WebhookVerifier,
} from '../../../../src/platform/http/routes/webhook-verifier.js';
import { LeadsModule } from '../../../../src/modules/leads/leads.module.js';
import { LeadsService } from '../../../../src/modules/leads/leads.service.js';
import type { Call } from '../../../../src/platform/data/call.js';
import { createLead, expectError, getLead } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';

const HOOK = '/api/v1/hooks/sms';
const SECRET = Buffer.from('a secret that only the sender knows');
const TOLERANCE_SECONDS = 300;

interface SmsEvent {
  readonly account: string;
  readonly lead_id: string;
  readonly text: string;
}

/** Signatures of Standard Webhooks. */
function sign(id: string, timestamp: string, body: string | Buffer): Buffer {
  return createHmac('sha256', SECRET).update(`${id}.${timestamp}.`).update(body).digest();
}

@Injectable()
class SmsVerifier extends WebhookVerifier {
  verify({ headers, body }: WebhookDelivery): string | undefined {
    const [id, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
      (name) => String(headers[name] ?? ''),
    ) as [string, string, string];
    const age = Math.abs(Date.now() / 1000 - Number(timestamp));
    const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64');
    const expected = sign(id, timestamp, body);
    if (!(age < TOLERANCE_SECONDS) || given.length !== expected.length) return undefined;
    if (!timingSafeEqual(given, expected)) return undefined;
    const { account } = JSON.parse(body.toString()) as SmsEvent;
    if (account === 'suspended') throw new ApiError('insufficient_scope');
    return account;
  }
}

@Controller(HOOK)
class SmsHooks {
  constructor(private readonly leads: LeadsService) {}

  @Post()
  @Webhook({ verify: SmsVerifier })
  async receive(@CurrentCall() call: Call, @Body() event: SmsEvent, @RawBody() bytes: Buffer) {
    await this.leads.update(call, event.lead_id, { notes: event.text });
    return { bytes: bytes.length };
  }

  @Post('accepted')
  @HttpCode(202)
  @Webhook({ verify: SmsVerifier })
  accept(@CurrentCall() call: Call) {
    return { name: call.tenant.name };
  }
}

@Module({ imports: [LeadsModule], controllers: [SmsHooks], providers: [SmsVerifier] })
class SmsModule {}

@Module({ imports: [LeadsModule], controllers: [SmsHooks] })
class WithoutVerifierModule {}

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ modules: [SmsModule], env: { BODY_LIMIT_BYTES: '2000' } });
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => app.stop());

interface Delivery {
  readonly path?: string;
  readonly timestamp?: number;
  readonly headers?: Record<string, string>;
  readonly sent?: string;
}

async function deliver(event: object | string, delivery: Delivery = {}, server = app) {
  const body = typeof event === 'string' ? event : JSON.stringify(event);
  const timestamp = String(delivery.timestamp ?? Math.floor(Date.now() / 1000));
  const response = await fetch(server.url + (delivery.path ?? HOOK), {
    method: 'POST',
    body: delivery.sent ?? body,
    headers: {
      'Content-Type': 'application/json',
      'Webhook-Id': 'msg_1',
      'Webhook-Timestamp': timestamp,
      'Webhook-Signature': `v1,${sign('msg_1', timestamp, body).toString('base64')}`,
      ...delivery.headers,
    },
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

describe('a webhook route', () => {
  it('gives the handler the organization, the parsed body and its bytes', async () => {
    const { id } = await createLead(tenant.api);
    const event = { account: tenant.id, lead_id: id, text: 'Ja, gern – gegen 9', more: [1] };
    const { status, body } = await deliver(event);
    const bytes = Buffer.byteLength(JSON.stringify(event));
    expect({ status, body }).toEqual({ status: 200, body: { data: { bytes } } });
    expect(await getLead(tenant.api, id)).toMatchObject({ notes: 'Ja, gern – gegen 9' });
  });

  it('reaches the records of no other organization', async () => {
    const { id } = await createLead(tenant.api);
    const other = await app.organization();
    expectError(await deliver({ account: other.id, lead_id: id, text: 'x' }), 404, 'not_found');
  });

  it('answers with the status of @HttpCode()', async () => {
    const path = `${HOOK}/accepted`;
    expect(await deliver({ account: tenant.id }, { path })).toMatchObject({ status: 202 });
  });

  it.each<[string, Delivery]>([
    ['a changed body', { sent: '{"account":"x"}' }],
    ['an old timestamp', { timestamp: 1 }],
    ['no signature', { headers: { 'Webhook-Signature': '' } }],
    ['an API key', { headers: { 'Webhook-Signature': '', Authorization: 'Bearer lat_x' } }],
  ])('answers 401 to %s', async (_, delivery) => {
    expectError(await deliver({ account: tenant.id }, delivery), 401, 'unauthorized');
  });

  it.each(['01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43', 'acme'])(
    'answers 401 to a delivery for the unknown organization %s',
    async (account) => {
      expectError(await deliver({ account }), 401, 'unauthorized');
    },
  );

  it('answers the error that the verifier throws', async () => {
    expectError(await deliver({ account: 'suspended' }), 403, 'insufficient_scope');
  });

  it('answers 413 to a body over the limit', async () => {
    const event = { account: tenant.id, text: 'x'.repeat(2_000) };
    expectError(await deliver(event), 413, 'payload_too_large');
  });

  it('is not in the OpenAPI document', async () => {
    const { body } = await app.client().get('/openapi.json');
    expect(JSON.stringify(body)).not.toContain('hooks/sms');
  });

  it('counts its requests by address, as those without a key', async () => {
    const settings = { readsPerMinute: 2 };
    const options = { settings, modules: [SmsModule], database: app.database };
    const limited = await TestApp.start(options);
    const { id } = await limited.organization();
    const path = `${HOOK}/accepted`;
    const send = () => deliver({ account: id }, { path }, limited);
    const answers = [await send(), await send(), await send()];
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 429]);
    expect(answers[0]?.headers.get('RateLimit-Remaining')).toBe('1');
    await limited.stop();
  });
});

it('startup fails if no module provides the verifier', async () => {
  const start = TestApp.start({ modules: [WithoutVerifierModule], database: app.database });
  await expect(start).rejects.toThrow(
    'POST /api/v1/hooks/sms is verified by SmsVerifier, which no module provides.',
  );
});
