import { Controller, Get, Module, Param } from '@nestjs/common';
import { RequireScope } from '../../../../src/platform/http/routes/access.js';
import {
  createLead,
  dataOf,
  errorOf,
  expectError,
  expectInvalid,
  getLead,
  LEADS,
  updateLead,
} from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';

import { MessagesModule } from '../../../support/modules/messages.module.js';

@Controller(LEADS)
class SummaryController {
  @Get('summary')
  @RequireScope('leads:read')
  summary() {
    return { leads: 'in short' };
  }
}

@Module({ controllers: [SummaryController] })
class SummaryModule {}

@Controller('api/v1/things')
class ThingsController {
  @Get(':id')
  @RequireScope('leads:read')
  get(@Param('id') id: string) {
    return { thing: id };
  }
}

@Module({ controllers: [ThingsController] })
class ThingsModule {}

@Controller('api/v1/things')
class LatestThingController {
  @Get('latest')
  @RequireScope('leads:read')
  latest() {
    return { thing: 'the latest' };
  }
}

@Module({ controllers: [LatestThingController] })
class LatestThingModule {}

describe("a team's own route on leads (compliance_blocked)", () => {
  let app: TestApp;
  let tenant: Tenant;

  beforeAll(async () => {
    app = await TestApp.start({ modules: [MessagesModule], settings: { writesPerMinute: 50 } });
    tenant = await app.organization();
  });
  afterAll(() => app.stop());

  const messagesOf = (id: string) => `${LEADS}/${id}/messages`;

  it('answers 201 in the envelope, with Location, for a lead that may be contacted', async () => {
    const { id } = await createLead(tenant.api);
    const answer = await tenant.api.post(messagesOf(id.toUpperCase()), { text: ' Hello ' });
    const message = dataOf<{ id: string }>(answer, 201);
    expect(message).toEqual({ id: message.id, lead_id: id, text: 'Hello', urgent: false });
    expect(answer.headers.get('location')).toBe(`${messagesOf(id.toUpperCase())}/${message.id}`);
  });

  it.each([
    [{ sms_opted_out: true }, ['opted out']],
    [{ on_dnc_list: true }, ['do-not-call']],
    [{ sms_opted_out: true, on_dnc_list: true }, ['opted out', 'do-not-call']],
  ])('answers 422 compliance_blocked for a lead with %j', async (flags, reasons) => {
    const { id } = await createLead(tenant.api, flags);
    const answer = await tenant.api.post(messagesOf(id), { text: 'Hello' });
    expectError(answer, 422, 'compliance_blocked');
    const error = errorOf(answer);
    expect(Object.keys(error).sort()).toEqual(['code', 'message', 'request_id', 'retryable']);
    expect(error.retryable).toBe(false);
    expect(error.request_id).toBe(answer.headers.get('x-request-id'));
    for (const reason of reasons) expect(error.message).toContain(reason);
  });

  it('uses the current flags of the lead', async () => {
    const { id } = await createLead(tenant.api, { sms_opted_out: true });
    await updateLead(tenant.api, id, { sms_opted_out: false });
    dataOf(await tenant.api.post(messagesOf(id), { text: 'Hello' }), 201);
    await updateLead(tenant.api, id, { on_dnc_list: true });
    const answer = await tenant.api.post(messagesOf(id), { text: 'Hello' });
    expectError(answer, 422, 'compliance_blocked');
  });

  it.each([
    [{}, ['text']],
    [{ text: '' }, ['text']],
    [{ text: 'x'.repeat(161), urgent: 'yes', to: 'me' }, ['text', 'urgent', 'to']],
  ])('validates its own DTO: %j', async (body, fields) => {
    const { id } = await createLead(tenant.api, { sms_opted_out: true });
    expectInvalid(await tenant.api.post(messagesOf(id), body), ...fields);
  });

  it('requires a key with the scope that it declares', async () => {
    const { id } = await createLead(tenant.api);
    expectError(await app.client().post(messagesOf(id), {}), 401, 'unauthorized');
    const reader = await app.key(tenant.id, ['leads:read', 'tasks:write']);
    expectError(await reader.api.post(messagesOf(id), {}), 403, 'insufficient_scope');
    const writer = await app.key(tenant.id, ['leads:write']);
    dataOf(await writer.api.post(messagesOf(id), { text: 'Hello' }), 201);
  });

  it("answers not_found for another organization's lead, a deleted lead and a malformed id", async () => {
    const { id } = await createLead(tenant.api);
    const stranger = await app.organization();
    expectError(await stranger.api.post(messagesOf(id), { text: 'Hi' }), 404, 'not_found');
    await tenant.api.delete(`${LEADS}/${id}`);
    expectError(await tenant.api.post(messagesOf(id), { text: 'Hi' }), 404, 'not_found');
    expectError(await tenant.api.post(messagesOf('x'), { text: 'Hi' }), 404, 'not_found');
  });

  it('counts toward the write limit of the key, and sends the RateLimit headers with every answer', async () => {
    const { api } = await app.organization();
    const { id } = await createLead(api);
    const left = async () =>
      Number((await api.post(messagesOf(id), { text: 'Hi' })).headers.get('ratelimit-remaining'));
    expect(await left()).toBe(48);
    expect(await left()).toBe(47);
    for (let remaining = 47; remaining > 0; remaining--) await left();
    const answer = await api.post(messagesOf(id), { text: 'Hi' });
    expectError(answer, 429, 'rate_limit_exceeded');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('a static route next to a route with :id', () => {
  it('takes precedence over :id of leads, which still matches ids', async () => {
    const app = await TestApp.start({ modules: [SummaryModule] });
    try {
      const { api } = await app.organization();
      expect(dataOf(await api.get(`${LEADS}/summary`))).toEqual({ leads: 'in short' });
      const lead = await createLead(api);
      expect(await getLead(api, lead.id)).toStrictEqual(lead);
      expectError(await api.get(`${LEADS}/summarys`), 404, 'not_found');
      expectError(await api.delete(`${LEADS}/summary`), 404, 'not_found');
    } finally {
      await app.stop();
    }
  });

  it.each([
    ['after', [ThingsModule, LatestThingModule]],
    ['before', [LatestThingModule, ThingsModule]],
  ])('takes precedence when its module is listed %s the other', async (_, modules) => {
    const app = await TestApp.start({ modules });
    try {
      const { api } = await app.organization();
      expect(dataOf(await api.get('/api/v1/things/latest'))).toEqual({ thing: 'the latest' });
      expect(dataOf(await api.get('/api/v1/things/7'))).toEqual({ thing: '7' });
    } finally {
      await app.stop();
    }
  });
});
