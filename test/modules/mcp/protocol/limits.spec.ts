import { randomUUID } from 'node:crypto';
import type { Answer } from '../../../../src/testing/api-client.js';
import { RateLimits } from '../../../../src/platform/access/limits/rate-limits.js';
import { createLead, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import {
  sessionHeader,
  McpHttpClient,
  rpcNotification,
  rpcRequest,
} from '../../../../src/testing/mcp-client.js';
import { PROTOCOL_MODES, type ProtocolMode } from '../../../support/mcp/mcp-sdk-clients.js';

const READS = 6;
const WRITES = 3;
const MESSAGES = 600;
const REVISION_WITH_BATCHES = '2025-03-26';

let app: TestApp;
let tenant: Tenant;
let caller: McpHttpClient;
let session: string;

beforeAll(async () => {
  app = await TestApp.start({ settings: { readsPerMinute: READS, writesPerMinute: WRITES } });
});
afterAll(() => app.stop());
beforeEach(async () => {
  tenant = await app.organization();
  caller = new McpHttpClient(app.url, tenant.key.key);
  session = await caller.openSession(REVISION_WITH_BATCHES);
});

function callOf(name: string, args: object = {}) {
  return rpcRequest('tools/call', { name, arguments: args });
}

function limitsIn({ headers }: Answer) {
  const [limit, remaining] = ['RateLimit-Limit', 'RateLimit-Remaining'].map((name) =>
    Number(headers.get(name)),
  );
  return { limit, remaining };
}

const post = (...messages: unknown[]) => caller.post(messages, sessionHeader(session));

describe('the rate limit headers of a batch', () => {
  const SLOW = callOf('list_leads', { search: 'ada' });
  /** Rejected before any query, so that it can end before calls that were counted earlier. */
  const QUICK = callOf('get_lead', { id: 'x' });

  it.each([
    ['a slow call before a quick one', [SLOW, QUICK], 2],
    ['a quick call before a slow one', [QUICK, SLOW], 2],
    ['slow calls around a quick one', [SLOW, QUICK, SLOW], 3],
    ['calls among other messages', [SLOW, rpcRequest('ping'), QUICK, rpcNotification('x')], 2],
    ['a resource read after a call', [SLOW, rpcRequest('resources/read', { uri: 'lead://x' })], 2],
    ['calls and whoami', [SLOW, callOf('whoami'), QUICK], 2],
  ])('report the remaining requests after %s', async (_, messages, counted) => {
    const answer = await post(...messages);
    expect(limitsIn(answer)).toEqual({ limit: READS, remaining: READS - counted });
    const next = await tenant.api.get(LEADS);
    expect(limitsIn(next)).toEqual({ limit: READS, remaining: READS - counted - 1 });
  });

  const WRITE = callOf('create_lead');

  it.each([
    ['reads', [SLOW, SLOW, SLOW, SLOW, SLOW, WRITE], { limit: READS, remaining: READS - 5 }],
    ['writes', [WRITE, WRITE, SLOW], { limit: WRITES, remaining: WRITES - 2 }],
  ])('report the window with fewer remaining requests: %s', async (_, messages, told) => {
    expect(limitsIn(await post(...messages))).toEqual(told);
  });

  it('report the exceeded window and Retry-After', async () => {
    const calls = Array.from({ length: WRITES + 1 }, () => WRITE);
    const answer = await post(...calls, SLOW);
    expect(limitsIn(answer)).toEqual({ limit: WRITES, remaining: 0 });
    expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0);
  });
});

it('a call in a batch that is refused counts as a message beside one that counts as several writes', async () => {
  const leads = Array.from({ length: 11 }, () => ({ first_name: 'A' }));
  const refused = rpcRequest('tools/call', { name: 'get_lead', arguments: 5 });
  const answer = await post(callOf('create_leads', { leads }), refused);
  // The answers come in the order in which the calls end.
  expect(answer.body).toMatchObject([
    { error: {} },
    { result: { structuredContent: { failed: 0 } } },
  ]);
  const { totalHits } = await app.app.get(RateLimits).peek('messages', tenant.key.id);
  const opened = 1;
  expect(totalHits - opened).toBe(1);
});

it('a write is answered although a refused call beside it exceeds the limit of messages', async () => {
  const batch = Array.from({ length: 100 }, () => rpcNotification('x'));
  const opened = 1;
  for (let left = MESSAGES - opened; left > 0; left -= batch.length) {
    expect(await post(...batch.slice(0, left))).toMatchObject({ status: 202 });
  }
  const refused = rpcRequest('tools/call', { name: 'get_lead', arguments: 5 });
  const answer = await post(callOf('create_lead', { first_name: 'Ada' }), refused);
  expect(answer).toMatchObject({
    status: 200,
    body: [{ error: {} }, { result: { structuredContent: { first_name: 'Ada' } } }],
  });
});

/** Sends one request in a protocol mode. */
function ask(protocolMode: ProtocolMode, method: string, params: object): Promise<Answer> {
  return protocolMode === 'sessions'
    ? caller.rpc(session, method, params)
    : caller.statelessRpc(method, params);
}

describe.each(PROTOCOL_MODES)('%s', (protocolMode) => {
  const call = (name: string, args: object = {}) =>
    ask(protocolMode, 'tools/call', { name, arguments: args });

  it('resources/read over the limit returns retry_after_seconds', async () => {
    const { id } = await createLead(tenant.api);
    for (let i = 0; i < READS; i++) await call('list_leads');
    const answer = await ask(protocolMode, 'resources/read', { uri: `lead://${id}` });
    const { data } = answer.body.error as unknown as { data: Record<string, unknown> };
    const seconds = Number(answer.headers.get('Retry-After'));
    expect(data).toMatchObject({ code: 'rate_limit_exceeded', retry_after_seconds: seconds });
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
  });

  it('resources/read within the limit returns other errors without retry_after_seconds', async () => {
    const answer = await ask(protocolMode, 'resources/read', { uri: `lead://${randomUUID()}` });
    const { data } = answer.body.error as unknown as { data: Record<string, unknown> };
    expect(data).toMatchObject({ code: 'not_found' });
    expect(data).not.toHaveProperty('retry_after_seconds');
  });

  it('whoami does not count as a read or a write', async () => {
    await call('list_leads');
    for (let i = 0; i < 2 * READS; i++) {
      const answer = await call('whoami');
      expect(limitsIn(answer)).toEqual({ limit: READS, remaining: READS - 1 });
      expect(answer.body).toMatchObject({
        result: {
          structuredContent: {
            limits: { reads: { remaining: READS - 1 }, writes: { remaining: WRITES } },
          },
        },
      });
    }
    expect(limitsIn(await call('create_lead'))).toEqual({ limit: WRITES, remaining: WRITES - 1 });
    expect(limitsIn(await call('list_leads'))).toEqual({ limit: READS, remaining: READS - 2 });
  });

  it('whoami succeeds for a key over its limits, and reports no remaining requests', async () => {
    for (let i = 0; i <= READS; i++) await call('list_leads');
    for (let i = 0; i <= WRITES; i++) await call('create_lead');
    const answer = await call('whoami');
    expect(answer.headers.get('Retry-After')).toBeNull();
    expect(answer.body).toMatchObject({
      result: {
        structuredContent: { limits: { reads: { remaining: 0 }, writes: { remaining: 0 } } },
      },
    });
  });

  it('whoami counts against the limit of messages', async () => {
    const batch = Array.from({ length: 100 }, () => rpcNotification('x'));
    const opened = 1;
    for (let left = MESSAGES - opened - 1; left > 0; left -= batch.length) {
      expect(await post(...batch.slice(0, left))).toMatchObject({ status: 202 });
    }
    expect(await call('whoami')).toMatchObject({ status: 200 });
    const flooded = await call('whoami');
    expect(flooded).toMatchObject({
      status: 429,
      body: { error: { code: 'rate_limit_exceeded' } },
    });
    expect(limitsIn(flooded)).toEqual({ limit: MESSAGES, remaining: 0 });
    expect(await call('list_leads')).toMatchObject({ status: 200 });
  });
});
