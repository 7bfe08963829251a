import { randomUUID } from 'node:crypto';
import type { Answer } from '../../../../src/testing/api-client.js';
import {
  initializeRequest,
  sessionHeader,
  type McpHttpClient,
  rpcRequest,
} from '../../../../src/testing/mcp-client.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import {
  expectAlive,
  expectRefusal,
  FOREIGN_ORIGIN,
  MCP,
  mcpHelpers,
} from '../../../support/mcp/mcp-helpers.js';
import { until } from '../../../support/servers/product.js';

let app: TestApp;
let tenant: Tenant;
const { callerOf, callerWithoutKey, start, stopAll } = mcpHelpers(() => app);

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
});
afterAll(() => stopAll());

describe('the limit of sessions of one key', () => {
  const PLACES = 3;
  let small: TestApp;

  beforeAll(async () => {
    small = await start({ mcpMaxSessionsPerKey: PLACES });
  });
  afterEach(() => small.sql('delete from mcp_sessions'));

  const idsOf = async (caller: McpHttpClient, count: number) => {
    const answers = await Promise.all(Array.from({ length: count }, () => caller.initialize()));
    for (const answer of answers) {
      if (answer.status !== 200) expectRefusal(answer, 503, 'too_many_sessions');
    }
    return answers.flatMap(({ headers }) => headers.get('mcp-session-id') ?? []);
  };

  it('opens three of ten concurrent sessions of each of two keys', async () => {
    const [one, two] = [await small.key(tenant.id), await small.key(tenant.id)];
    const [first, second] = [callerOf(one, small), callerOf(two, small)];
    const [ofFirst, ofSecond] = await Promise.all([idsOf(first, 10), idsOf(second, 10)]);
    expect([ofFirst.length, ofSecond.length]).toEqual([PLACES, PLACES]);
    for (const id of ofFirst) await expectAlive(first, id);
  });

  it('is shared by all instances', async () => {
    const key = await small.key(tenant.id);
    const other = await start({ mcpMaxSessionsPerKey: PLACES });
    const callers = [callerOf(key, small), callerOf(key, other)];
    const opened = await Promise.all(callers.map((caller) => idsOf(caller, 5)));
    expect(opened.flat()).toHaveLength(PLACES);
  });

  it('leaves a place for a session that replaces another one, or follows one that has ended', async () => {
    const caller = callerOf(await small.key(tenant.id), small);
    const [first = '', second = ''] = await idsOf(caller, PLACES);
    const replaced = await caller.initialize({}, sessionHeader(first));
    expect(replaced.status).toBe(200);
    expect(await idsOf(caller, 2)).toEqual([]);
    expect((await caller.delete(second)).status).toBe(200);
    expect(await idsOf(caller, 2)).toHaveLength(1);
  });

  it('does not exist unless the setting is set', async () => {
    const caller = callerOf(await app.key(tenant.id), app);
    expect(await idsOf(caller, PLACES * 4)).toHaveLength(PLACES * 4);
  });
});

describe('the limit of sessions', () => {
  const PLACES = 5;
  let small: TestApp;
  let caller: McpHttpClient;

  beforeAll(async () => {
    small = await start({ mcpMaxSessions: PLACES });
    caller = callerOf(tenant, small);
  });
  afterEach(() => small.sql('delete from mcp_sessions'));

  function expectFull(answer: Answer): void {
    expectRefusal(answer, 503, 'too_many_sessions');
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(answer.headers.get('mcp-session-id')).toBeNull();
  }

  /** Opens a number of sessions at once. Returns the ids of those that were opened. */
  async function openAtOnce(count: number, of = caller): Promise<string[]> {
    const answers = await Promise.all(Array.from({ length: count }, () => of.initialize()));
    for (const answer of answers) if (answer.status !== 200) expectFull(answer);
    return answers.flatMap(({ headers }) => headers.get('mcp-session-id') ?? []);
  }

  it('opens five of twenty concurrent sessions with a limit of five', async () => {
    const ids = await openAtOnce(20);
    expect(new Set(ids).size).toBe(PLACES);
    for (const id of ids) await expectAlive(caller, id);
  });

  it('is shared by all instances, also when both open sessions at the same time', async () => {
    const other = callerOf(tenant, await start({ mcpMaxSessions: PLACES }));
    const opened = await Promise.all([openAtOnce(20), openAtOnce(20, other)]);
    expect(opened.flat()).toHaveLength(PLACES);
    for (const id of opened.flat()) await expectAlive(caller, id);
    expectFull(await other.initialize());
  });

  it('is shared by all organizations', async () => {
    const other = callerOf(await small.organization(), small);
    const opened = await Promise.all([openAtOnce(10), openAtOnce(10, other)]);
    expect(opened.flat()).toHaveLength(PLACES);
  });

  it('does not count refused requests to initialize', async () => {
    const refused: [number, () => Promise<Answer>][] = [
      [400, () => caller.initialize({ clientInfo: undefined })],
      [400, () => caller.initialize({ capabilities: undefined })],
      [400, () => caller.initialize({ protocolVersion: undefined })],
      [400, () => caller.post([initializeRequest()])],
      [400, () => caller.post('{')],
      [400, () => caller.post(rpcRequest('ping'))],
      [400, () => caller.initialize({}, { 'MCP-Protocol-Version': 'x' })],
      [400, () => caller.request('POST', { path: `${MCP}?x=1`, body: initializeRequest() })],
      [401, () => callerWithoutKey(small).initialize()],
      [403, () => caller.initialize({}, FOREIGN_ORIGIN)],
      [404, () => caller.post(rpcRequest('ping'), sessionHeader(randomUUID()))],
      [413, () => caller.initialize({ x: ' '.repeat(300_000) })],
      [415, () => caller.initialize({}, { 'Content-Type': 'text/plain' })],
    ];
    for (const [status, ask] of refused) {
      const answers = await Promise.all(Array.from({ length: PLACES }, ask));
      expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status));
    }
    expect(await openAtOnce(PLACES + 1)).toHaveLength(PLACES);
  });

  it('allows a new session after one has been terminated', async () => {
    const [first] = await openAtOnce(PLACES);
    expect(await openAtOnce(20)).toEqual([]);
    const answer = await caller.delete(first);
    expect(answer.body).toEqual({ data: { id: first, closed: true } });
    expect(await openAtOnce(3)).toHaveLength(1);
  });

  it('is still reached after another key has tried to terminate a session', async () => {
    const [first] = await openAtOnce(PLACES);
    const other = callerOf(await small.organization(), small);
    expectRefusal(await other.delete(first), 403, 'session_mismatch');
    expectFull(await other.initialize());
  });

  it('does not affect the requests of open sessions', async () => {
    const ids = await openAtOnce(PLACES);
    expectFull(await caller.initialize());
    for (const id of ids) {
      await expectAlive(caller, id);
      const stream = await caller.openStream(id);
      expect(await stream.next()).toMatchObject({ id: '0', data: '' });
    }
    const call = { name: 'list_leads', arguments: {} };
    const { body } = await caller.rpc(ids[0]!, 'tools/call', call);
    expect(body).toMatchObject({ result: { structuredContent: { meta: { page: 1 } } } });
  });

  it('is checked after all other errors', async () => {
    await openAtOnce(PLACES);
    expectRefusal(await caller.post('{'), 400, 'validation_error', 'body');
    expectRefusal(await caller.initialize({ capabilities: 1 }), 400, 'validation_error');
    expectRefusal(await caller.post(rpcRequest('ping')), 400, 'no_session');
    expectRefusal(await caller.post(rpcRequest('ping'), sessionHeader('x')), 404, 'not_found');
  });

  it('allows a new session in place of the named one of the same key, and of no other', async () => {
    const [first, ...others] = await openAtOnce(PLACES);
    const other = callerOf(await small.organization(), small);
    for (const id of [first!, randomUUID(), 'x']) {
      expectFull(await other.initialize({}, sessionHeader(id)));
    }
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, () => other.initialize()),
      caller.initialize({}, sessionHeader(first!)),
    ]);
    const opened = answers.pop()!;
    for (const answer of answers) expectFull(answer);
    expect(opened.status).toBe(200);
    for (const id of [...others, opened.headers.get('mcp-session-id')!]) {
      await expectAlive(caller, id);
    }
    expectRefusal(await caller.delete(first), 404, 'not_found');
    expectFull(await caller.initialize({}, sessionHeader(first!)));
  });

  it('allows new sessions after the key of the open ones has been revoked', async () => {
    const owner = await small.key(tenant.id);
    await openAtOnce(PLACES, callerOf(owner, small));
    expectFull(await caller.initialize());
    await small.revoke(owner);
    await until(async () => (await caller.initialize()).status === 200);
  });
});
