import { randomUUID } from 'node:crypto';
import type { Answer } from '../../../../src/testing/api-client.js';
import { LEADS } from '../../../../src/testing/factories.js';
import {
  sessionHeader,
  type McpHttpClient,
  rpcNotification,
  rpcRequest,
} from '../../../../src/testing/mcp-client.js';
import type { TestApp } from '../../../../src/testing/test-app.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';
import {
  expectAlive,
  expectRefusal,
  expectResult,
  FOREIGN_ORIGIN,
  MCP,
  mcpHelpers,
  METHODS,
  SEND,
  VERSION_WITH_BATCHES,
} from '../../../support/mcp/mcp-helpers.js';

let app: TestServer;
const { callerOf, callerWithoutKey, start, stopAll } = mcpHelpers(() => app);

beforeAll(async () => {
  app = await TestServer.shared();
});
afterAll(() => stopAll());

describe('the limit of messages', () => {
  const MESSAGES = 600;
  const BATCH = 100;
  let limited: TestApp;
  let owner: Tenant;
  let caller: McpHttpClient;
  let session: string;
  let startedAt: number;

  beforeAll(async () => {
    limited = await start({ readsPerMinute: 50, writesPerMinute: 50 });
  });
  beforeEach(async () => {
    startedAt = Date.now();
    owner = await limited.organization();
    caller = callerOf(owner, limited);
    session = await caller.openSession(VERSION_WITH_BATCHES);
  });

  /** Sends messages until this number remains. The initialize request of the session counts as one. */
  async function leave(count: number): Promise<void> {
    const message = rpcNotification('notifications/initialized');
    for (let missing = MESSAGES - 1 - count; missing > 0; missing -= BATCH) {
      const batch = Array.from({ length: Math.min(missing, BATCH) }, () => message);
      expect(await caller.post(batch, sessionHeader(session))).toMatchObject({ status: 202 });
    }
  }

  const ping = () => caller.rpc(session, 'ping', {}, 1);
  const call = (name: string, args = {}) =>
    caller.rpc(session, 'tools/call', { name, arguments: args });

  const listLeads = (args: unknown = {}) =>
    rpcRequest('tools/call', { name: 'list_leads', arguments: args });

  function expectFlood(answer: Answer): void {
    expectRefusal(answer, 429, 'rate_limit_exceeded');
    const { headers } = answer;
    expect(headers.get('ratelimit-limit')).toBe(String(MESSAGES));
    expect(headers.get('ratelimit-remaining')).toBe('0');
    const retryAfter = Number(headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(60);
    const sentAt = Number(headers.get('ratelimit-reset')) - retryAfter;
    expect(sentAt).toBeGreaterThanOrEqual(startedAt / 1_000 - 1);
    expect(sentAt).toBeLessThanOrEqual(Date.now() / 1_000 + 1);
  }

  it('allows a key exactly 600 concurrent messages', async () => {
    await leave(BATCH);
    const statuses: number[] = [];
    for (let sent = 0; sent < 150; sent += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, ping));
      for (const answer of answers) {
        statuses.push(answer.status);
        if (answer.status !== 200) expectFlood(answer);
      }
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(BATCH);
    expect(statuses.filter((status) => status === 429)).toHaveLength(50);
  });

  it('answers 429 to every request of a key over the limit', async () => {
    await leave(0);
    const answers = [
      await ping(),
      await caller.initialize(),
      await caller.post('{', sessionHeader(session)),
      await caller.post(rpcRequest('ping'), sessionHeader(randomUUID())),
      await caller.post(rpcNotification('notifications/initialized'), sessionHeader(session)),
      await SEND.GET(caller, session),
      await caller.delete(session),
    ];
    for (const answer of answers) expectFlood(answer);
    expectRefusal(await callerWithoutKey(limited).initialize(), 401, 'unauthorized');
    const foreign = { ...sessionHeader(session), ...FOREIGN_ORIGIN };
    expectRefusal(await caller.post(rpcRequest('ping'), foreign), 403, 'origin_not_allowed');
  });

  it('does not apply to another key of the organization', async () => {
    await leave(0);
    expectFlood(await ping());
    const other = callerOf(await limited.key(owner.id), limited);
    await expectAlive(other, await other.openSession());
  });

  it('does not apply to tool calls, single or in a batch', async () => {
    await leave(0);
    expectFlood(await ping());
    expect(await call('list_leads')).toMatchObject({
      status: 200,
      body: { result: { structuredContent: { data: [] } } },
    });
    const created = await call('create_lead', { first_name: 'Ada' });
    expect(created.body).toMatchObject({ result: { structuredContent: { first_name: 'Ada' } } });
    const list = rpcRequest('tools/call', { name: 'list_leads', arguments: {} });
    const { status, body } = await caller.post([list, list], sessionHeader(session));
    expect([status, body.length]).toEqual([200, 2]);
    expectFlood(await caller.post([list, rpcRequest('ping')], sessionHeader(session)));
    expectFlood(await ping());
  });

  it('does not count calls of known tools', async () => {
    await leave(1);
    for (let n = 0; n < 5; n++) expect(await call('list_tasks')).toMatchObject({ status: 200 });
    expectResult(await ping(), 1, {});
    expectFlood(await ping());
  });

  it.each<[string, number, () => Promise<Answer>]>([
    ['an invalid body', 400, () => caller.post('{', sessionHeader(session))],
    ['a body that is not JSON-RPC', 400, () => caller.post({}, sessionHeader(session))],
    ['another content type', 415, () => caller.post('x', { 'Content-Type': 'text/plain' })],
    [
      'a body that is too large',
      413,
      () => caller.post(' '.repeat(300_000), sessionHeader(session)),
    ],
    ['a request without a session', 400, () => caller.post(rpcRequest('ping'))],
    [
      'a request in an unknown session',
      404,
      () => caller.post(rpcRequest('ping'), sessionHeader('x')),
    ],
    ['a refused initialize', 400, () => caller.initialize({ clientInfo: 1 })],
    ['a call of an unknown tool', 200, () => call('nothing_here')],
    ['a call without a tool name', 200, () => caller.rpc(session, 'tools/call', {})],
    ['a notification', 202, () => caller.post(rpcNotification('x'), sessionHeader(session))],
    ['a GET', 400, () => SEND.GET(caller)],
    ['a DELETE', 404, () => caller.delete(randomUUID())],
  ])('counts %s', async (_, status, ask) => {
    await leave(1);
    expect(await ask()).toMatchObject({ status });
    expectFlood(await ping());
  });

  it('refuses a batch that exceeds it, and executes and counts nothing', async () => {
    await leave(2);
    const create = { name: 'create_lead', arguments: { first_name: 'Never' } };
    const pings = Array.from({ length: 3 }, () => rpcRequest('ping'));
    const batch = [rpcRequest('tools/call', create), ...pings];
    const answer = await caller.post(batch, sessionHeader(session));
    expectRefusal(answer, 429, 'rate_limit_exceeded');
    expect(answer.body.error.message).toContain('counts as 3 messages, and 2 of 600');
    expect(answer.headers.get('ratelimit-remaining')).toBe('2');
    expect(await owner.api.get(LEADS)).toMatchObject({ body: { meta: { total: 0 } } });
    for (let left = 2; left > 0; left--) expectResult(await ping(), 1, {});
    expectFlood(await ping());
  });

  it.each<[string, number, () => Promise<string | undefined>]>([
    ['of a revision without batches', 400, () => caller.openSession()],
    ['with initialize', 400, () => Promise.resolve(session)],
    ['without a session', 400, () => Promise.resolve(undefined)],
    ['in an unknown session', 404, () => Promise.resolve(randomUUID())],
  ])('counts a refused batch %s as one message', async (reason, status, open) => {
    const id = await open();
    // Another session has counted one message more.
    await leave(reason.includes('revision') ? 21 : 20);
    const first = rpcRequest(reason === 'with initialize' ? 'initialize' : 'ping');
    const batch = [first, ...Array.from({ length: 4 }, () => rpcRequest('ping')), listLeads()];
    const headers = id === undefined ? {} : sessionHeader(id);
    expect(await caller.post(batch, headers)).toMatchObject({ status });
    for (let more = 19; more > 0; more--) expectResult(await ping(), 1, {});
    expectFlood(await ping());
  });

  it.each<[string, () => Promise<Answer>]>([
    ['a call of a known tool without a session', () => caller.post(listLeads())],
    [
      'a call of a known tool in an unknown session',
      () => caller.post(listLeads(), sessionHeader('x')),
    ],
    [
      'a call of a known tool with arguments that are no object',
      () => caller.rpc(session, 'tools/call', listLeads(1).params),
    ],
    [
      'a call of a known tool with an unknown query parameter',
      () =>
        caller.request('POST', {
          path: `${MCP}?x=1`,
          body: listLeads(),
          headers: sessionHeader(session),
        }),
    ],
    [
      'a call of a known tool with an unsupported revision',
      () => caller.post(listLeads(), { ...sessionHeader(session), 'MCP-Protocol-Version': 'x' }),
    ],
    ['resources/read without a URI', () => caller.rpc(session, 'resources/read', {})],
  ])('counts %s, which is refused, as a message or as a read', async (_, ask) => {
    await leave(1);
    const answer = await ask();
    expect(answer.body.error).toBeDefined();
    const { status } = await ping();
    const read = await owner.api.get('/api/v1/me');
    const left = Number(read.headers.get('ratelimit-remaining'));
    expect({ status, left }).not.toEqual({ status: 200, left: 49 });
  });

  it('treats a call with a task, which is not supported, like any other call', async () => {
    const asTask = { ...listLeads().params, task: { ttl: 1 } };
    const answer = await caller.rpc(session, 'tools/call', asTask);
    expect(answer.body.result.structuredContent.data).toEqual([]);
  });

  it('does not count messages as reads or writes', async () => {
    for (let n = 0; n < 3; n++) {
      await ping();
      await caller.rpc(session, 'tools/list', {});
      await caller.post('{', sessionHeader(session));
      await SEND.GET(caller);
      await caller.delete(randomUUID());
      await call('nothing_here');
    }
    const read = await owner.api.get('/api/v1/me');
    const write = await owner.api.post(LEADS, {});
    const left = [read, write].map(({ headers }) => headers.get('ratelimit-remaining'));
    expect(left).toEqual(['49', '49']);
  });

  it('answers 429 to more requests without a key than reads per minute', async () => {
    const alone = await start({ readsPerMinute: 3 });
    const statuses: number[] = [];
    for (const method of [...METHODS, ...METHODS]) {
      statuses.push((await SEND[method](callerWithoutKey(alone))).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429, 429]);
    await callerOf(owner, alone).openSession();
  });
});
