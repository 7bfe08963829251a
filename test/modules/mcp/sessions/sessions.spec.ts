import { randomUUID } from 'node:crypto';
import { generateKey } from '../../../../src/platform/access/api-key-format.js';
import type { Scope } from '../../../../src/platform/access/scopes.js';
import {
  FULL_SERVER_INFO,
  INSTRUCTIONS,
} from '../../../../src/modules/mcp/protocol/server-info.js';
import {
  initializeRequest,
  sessionHeader,
  LATEST_REVISION,
  McpHttpClient,
  rpcNotification,
} from '../../../../src/testing/mcp-client.js';
import { createLead } from '../../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';
import {
  expectAlive,
  expectLimits,
  expectRefusal,
  expectResult,
  MCP,
  mcpHelpers,
  METHODS,
  SEND,
  terminatedSession,
} from '../../../support/mcp/mcp-helpers.js';

const UNKNOWN_SESSION = '00000000-0000-4000-8000-000000000000';

let app: TestServer;
let tenant: Tenant;
let mcp: McpHttpClient;
const { callerOf, callerWithoutKey, stopAll } = mcpHelpers(() => app);

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
  mcp = callerOf(tenant);
});
afterAll(() => stopAll());

describe('initialize', () => {
  it('returns the server info in JSON and a session id', async () => {
    const answer = await mcp.post(initializeRequest({}, 'first'));
    expectResult(answer, 'first', {
      protocolVersion: LATEST_REVISION,
      capabilities: expect.objectContaining({ tools: { listChanged: true } }),
      serverInfo: FULL_SERVER_INFO,
      instructions: INSTRUCTIONS,
    });
    // Unguessable and visible ASCII, as the protocol requires.
    expect(answer.headers.get('mcp-session-id')).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}$/,
    );
  });

  it('opens two independent sessions for two requests of a key', async () => {
    const [one, two] = await Promise.all([mcp.openSession(), mcp.openSession()]);
    expect(one).not.toBe(two);
    await mcp.delete(one);
    await expectAlive(mcp, two);
  });

  it.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])(
    'accepts the supported revision %s',
    async (protocolVersion) => {
      const { body } = await mcp.initialize({ protocolVersion });
      expect(body).toMatchObject({ result: { protocolVersion } });
    },
  );

  it.each(['2099-01-01', '2020-01-01', 'nonsense', ''])(
    'offers the latest revision for the unknown revision "%s"',
    async (protocolVersion) => {
      const answer = await mcp.initialize({ protocolVersion });
      expect(answer.body).toMatchObject({ result: { protocolVersion: LATEST_REVISION } });
      expect(answer.headers.get('mcp-session-id')).toBeTruthy();
    },
  );

  it('opens a session for a key without scopes', async () => {
    const caller = callerOf(await app.key(tenant.id, []));
    const session = await caller.openSession();
    const { body } = await caller.rpc(session, 'tools/list');
    expect(body).toMatchObject({ result: { tools: [{ name: 'whoami' }] } });
  });

  it('opens a session when the session header is empty', async () => {
    const { status, headers } = await mcp.initialize({}, sessionHeader(''));
    expect([status, headers.get('mcp-session-id')]).toEqual([200, expect.stringMatching(/./)]);
  });
});

describe('initialize with a session id', () => {
  /** Expects that initialize with this session id opens a new session. Returns its id. */
  async function expectNewSession(id: string): Promise<string> {
    const { status, headers } = await mcp.initialize({}, sessionHeader(id));
    expect(status).toBe(200);
    const session = headers.get('mcp-session-id')!;
    expect(session).not.toBe(id);
    await expectAlive(mcp, session);
    return session;
  }

  it.each(['x', UNKNOWN_SESSION, '__proto__', ' ', `${UNKNOWN_SESSION}, ${UNKNOWN_SESSION}`])(
    'opens a session if there is no session "%s"',
    async (id) => {
      await expectNewSession(id);
    },
  );

  it('opens a session if the named one has ended, which stays ended', async () => {
    const ended = await terminatedSession(mcp);
    await expectNewSession(ended);
    expectRefusal(await mcp.delete(ended), 404, 'not_found');
    expectRefusal(await SEND.POST(mcp, ended), 404, 'not_found');
    expectRefusal(await SEND.GET(mcp, ended), 400, 'no_session');
  });

  it.each([
    ['as it was given', (id: string) => id],
    ['in capitals', (id: string) => id.toUpperCase()],
  ])('closes the named session of the same key and its stream, %s', async (_, spell) => {
    const old = await mcp.openSession();
    const stream = await mcp.openStream(old);
    await stream.next();
    await expectNewSession(spell(old));
    expect(await stream.next()).toBeUndefined();
    expectRefusal(await SEND.POST(mcp, old), 404, 'not_found');
  });

  it('opens independent sessions for concurrent requests that name the same session', async () => {
    const old = await mcp.openSession();
    const opened = await Promise.all(Array.from({ length: 5 }, () => expectNewSession(old)));
    expect(new Set(opened).size).toBe(5);
    for (const session of opened) await expectAlive(mcp, session);
  });

  it('neither ends nor reveals the session of another key', async () => {
    for (const owner of [await app.key(tenant.id), await app.organization()]) {
      const theirs = await callerOf(owner).openSession();
      const stream = await callerOf(owner).openStream(theirs);
      await stream.next();
      const [known, unknown] = [
        await mcp.post(initializeRequest({}, 'same'), sessionHeader(theirs)),
        await mcp.post(initializeRequest({}, 'same'), sessionHeader(randomUUID())),
      ];
      expect([known.status, known.body]).toEqual([200, unknown.body]);
      await expectAlive(callerOf(owner), theirs);
      await callerOf(owner).rpc(theirs, 'resources/subscribe', { uri: 'lead://list' });
      await createLead(owner.api);
      expect((await stream.nextMessage()).message).toMatchObject({
        params: { uri: 'lead://list' },
      });
      stream.disconnect();
    }
  });

  it('closes nothing if it is refused', async () => {
    const old = await mcp.openSession();
    const named = sessionHeader(old);
    const refused = [
      await mcp.initialize({ capabilities: 1 }, named),
      await mcp.initialize({}, { ...named, 'MCP-Protocol-Version': 'x' }),
      await mcp.request('POST', { path: `${MCP}?x=1`, body: initializeRequest(), headers: named }),
      await mcp.post([initializeRequest()], named),
    ];
    for (const answer of refused) expectRefusal(answer, 400, 'validation_error');
    await expectAlive(mcp, old);
  });
});

describe('requests in a session', () => {
  let session: string;

  beforeAll(async () => {
    session = await mcp.openSession();
  });

  it('answers 202 without a body to notifications/initialized', async () => {
    const message = rpcNotification('notifications/initialized');
    const answer = await mcp.post(message, sessionHeader(session));
    expect(answer).toMatchObject({ status: 202, body: undefined });
    expectLimits(answer);
  });

  it.each([
    ['a result', { jsonrpc: '2.0', id: 1, result: {} }],
    ['an error', { jsonrpc: '2.0', id: 1, error: { code: -1, message: 'no' } }],
    ['an unknown notification', rpcNotification('notifications/of-tomorrow', { x: 1 })],
    ['a cancellation', rpcNotification('notifications/cancelled', { requestId: 1 })],
  ])('answers 202 without a body to %s', async (_, message) => {
    const answer = await mcp.post(message, sessionHeader(session));
    expect(answer).toMatchObject({ status: 202, body: undefined });
  });

  it('answers a ping with an empty result', async () => {
    expectResult(await mcp.rpc(session, 'ping', {}, 5), 5, {});
  });

  it.each([
    'nothing/here',
    'tools/nothing',
    'sampling/createMessage',
    'notifications/initialized',
    '__proto__',
    '',
  ])('answers -32601 to the unknown method "%s"', async (method) => {
    const { status, body } = await mcp.rpc(session, method, {}, 6);
    expect({ status, body: body as unknown }).toEqual({
      status: 200,
      body: {
        jsonrpc: '2.0',
        id: 6,
        error: { code: -32601, message: expect.any(String) as string },
      },
    });
  });

  it.each([0, 1, -7, Number.MAX_SAFE_INTEGER, '', '0', '7', 'é"\n', '__proto__', 'x'.repeat(500)])(
    'returns the request id %j unchanged',
    async (id) => {
      expectResult(await mcp.rpc(session, 'ping', {}, id), id, {});
    },
  );

  it('answers each of several concurrent requests with the same id', async () => {
    const methods = Array.from({ length: 30 }, (_, n) => ['ping', 'tools/list', 'x/y'][n % 3]!);
    const answers = await Promise.all(methods.map((method) => mcp.rpc(session, method, {}, 1)));
    const shapes = answers.map(({ body }) =>
      body.error ? 'x/y' : body.result.tools ? 'tools/list' : 'ping',
    );
    expect(shapes).toEqual(methods);
    expect(new Set(answers.map(({ body }) => body.id as unknown))).toEqual(new Set([1]));
  });

  it('lists the tools of each key for concurrent requests with different scopes', async () => {
    const scopes: Scope[] = ['leads:read', 'tasks:write'];
    const callers = await Promise.all(
      scopes.map(async (scope) => {
        const caller = callerOf(await app.key(tenant.id, [scope]));
        return { caller, open: await caller.openSession() };
      }),
    );
    const asked = Array.from({ length: 40 }, (_, n) => callers[n % 2]!);
    const answers = await Promise.all(
      asked.map(({ caller, open }) => caller.rpc(open, 'tools/list', {}, 1)),
    );
    const lists = answers.map(({ body }) =>
      (body.result.tools as { name: string }[]).map(({ name }) => name).sort(),
    );
    const expected = [
      ['count_records', 'describe_fields', 'find_duplicates', 'get_lead', 'list_leads', 'whoami'],
      ['create_task', 'delete_task', 'update_task', 'update_tasks', 'whoami'],
    ];
    expect(lists).toEqual(asked.map((_, n) => expected[n % 2]));
  });
});

describe('DELETE /mcp', () => {
  it('terminates the session and confirms it', async () => {
    const session = await mcp.openSession();
    const answer = await mcp.delete(session);
    expect({ status: answer.status, body: answer.body as unknown }).toEqual({
      status: 200,
      body: { data: { id: session, closed: true } },
    });
    expectLimits(answer);
    expectRefusal(await mcp.delete(session), 404, 'not_found');
  });

  it('terminates the session with a header about a body that it does not have', async () => {
    const session = await mcp.openSession();
    const headers = {
      Authorization: `Bearer ${tenant.key.key}`,
      'Content-Encoding': 'utf-8',
      ...sessionHeader(session),
    };
    const { status } = await fetch(`${app.url}/mcp`, { method: 'DELETE', headers });
    expect(status).toBe(200);
  });

  it('succeeds once when it is sent several times concurrently', async () => {
    const session = await mcp.openSession();
    const answers = await Promise.all(Array.from({ length: 10 }, () => mcp.delete(session)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 404)]);
  });
});

describe('a request without a valid key', () => {
  it.each(METHODS)('is answered with 401: %s', async (method) => {
    const session = await mcp.openSession();
    const callers = [callerWithoutKey(), new McpHttpClient(app.url, generateKey())];
    for (const caller of callers) {
      for (const id of [undefined, session, randomUUID()]) {
        const answer = await SEND[method](caller, id);
        expectRefusal(answer, 401, 'unauthorized');
        expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="latitude"');
      }
    }
    await expectAlive(mcp, session);
  });

  it('is answered with 401 and opens no session', async () => {
    const answer = await callerWithoutKey().initialize();
    expectRefusal(answer, 401, 'unauthorized');
    expect(answer.headers.get('mcp-session-id')).toBeNull();
  });

  it.each<[string, Parameters<McpHttpClient['request']>[1]]>([
    ['unparseable JSON', { body: '{' }],
    ['another content type', { body: 'x', headers: { 'Content-Type': 'text/plain' } }],
    ['a body that is too large', { body: ' '.repeat(300_000) }],
    ['an unknown revision', { body: '{}', headers: { 'MCP-Protocol-Version': 'x' } }],
    ['an unknown parameter', { body: '{}', path: `${MCP}?x=1` }],
  ])('is answered with 401 before all other checks: %s', async (_, options) => {
    expectRefusal(await callerWithoutKey().request('POST', options), 401, 'unauthorized');
  });
});
