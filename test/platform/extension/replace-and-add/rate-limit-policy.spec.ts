import { Injectable, Module } from '@nestjs/common';
import { defineExtension } from '../../../../src/platform/extension/extension.js';
import { RateLimitPolicy } from '../../../../src/platform/access/limits/rate-limit-policy.js';
import type { Call, KeyLimits } from '../../../../src/platform/data/call.js';
import { expectError, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { connectAgent, stopWithAgents, textOf } from '../../../support/mcp/agent.js';

/** Reads the limits from the name of the key. */
@Injectable()
class LimitsByName extends RateLimitPolicy {
  async limitsOf({ actor }: Call): Promise<KeyLimits | undefined> {
    const [reads, writes] = (await Promise.resolve(actor.key.name)).split('/').map(Number);
    return reads === undefined || writes === undefined ? undefined : { reads, writes };
  }
}

@Module({})
class EmptyModule {}

const extension = defineExtension({
  name: 'acme-limits',
  module: EmptyModule,
  replaces: [{ provide: RateLimitPolicy, useClass: LimitsByName }],
});

let app: TestApp;
beforeAll(async () => {
  app = await TestApp.start({
    extensions: [extension],
    settings: { readsPerMinute: 60, writesPerMinute: 30 },
  });
});
afterAll(() => stopWithAgents(app));

const limitsIn = ({ body }: { body: unknown }) =>
  (body as { data: { limits: object } }).data.limits;

describe('a RateLimitPolicy', () => {
  it('limits the reads and writes of a key', async () => {
    const { api } = await app.organization({ name: '2/1' });
    const first = await api.get(LEADS);
    expect(first.headers.get('RateLimit-Limit')).toBe('2');
    expect(first.headers.get('RateLimit-Remaining')).toBe('1');
    await api.get(LEADS);
    expectError(await api.get(LEADS), 429, 'rate_limit_exceeded');
    expect((await api.post(LEADS, { first_name: 'Ada' })).status).toBe(201);
    expectError(await api.post(LEADS, { first_name: 'Bob' }), 429, 'rate_limit_exceeded');
  });

  it('is shown by GET /api/v1/me and whoami', async () => {
    const tenant = await app.organization({ name: '7/5' });
    const me = await tenant.api.get('/api/v1/me');
    expect(limitsIn(me)).toEqual({ reads_per_minute: 7, writes_per_minute: 5 });
    const agent = await connectAgent(app, tenant);
    const whoami: unknown = JSON.parse(textOf(await agent.call('whoami')));
    expect(whoami).toMatchObject({ limits: { reads: { limit: 7 }, writes: { limit: 5 } } });
  });

  it('leaves a key the limits of the settings', async () => {
    const { api } = await app.organization({ name: 'plain' });
    const me = await api.get('/api/v1/me');
    expect(limitsIn(me)).toEqual({ reads_per_minute: 60, writes_per_minute: 30 });
  });

  it('takes precedence over the limits of a key, which apply without it', async () => {
    const own = { readsPerMinute: 100, writesPerMinute: 90 };
    const limited = await app.organization({ name: '7/5', ...own });
    const plain = await app.organization({ name: 'plain', ...own });
    const [first, second] = [
      await limited.api.get('/api/v1/me'),
      await plain.api.get('/api/v1/me'),
    ];
    expect(limitsIn(first)).toEqual({ reads_per_minute: 7, writes_per_minute: 5 });
    expect(limitsIn(second)).toEqual({ reads_per_minute: 100, writes_per_minute: 90 });
  });

  it('answers 500 to a key with a limit that is not an integer above 0', async () => {
    const { api } = await app.organization({ name: '0/1' });
    expectError(await api.get(LEADS), 500, 'internal_error');
  });
});
