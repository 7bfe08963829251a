import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { generateKey } from '../../src/auth/api-key-format.js';
import { Authenticator } from '../../src/auth/authenticator.js';
import { KeysService } from '../../src/auth/keys.service.js';
import type { Scope } from '../../src/auth/scopes.js';
import { setLogLevel, setLogOutput } from '../../src/config/logger.js';
import { readSettings, type Settings } from '../../src/config/settings.js';
import { FULL_SERVER_INFO, INSTRUCTIONS } from '../../src/mcp/protocol/server-info.js';
import { SessionStore } from '../../src/mcp/sessions/session-store.js';
import type { Answer } from '../../src/testing/api-client.js';
import { expectInvalid, LEADS } from '../../src/testing/factories.js';
import { TestApp, type Tenant } from '../../src/testing/test-app.js';
import {
  type EventReader,
  initializeRequest,
  inSession,
  LATEST_REVISION,
  McpCaller,
  rpcNotification,
  rpcRequest,
} from '../../src/testing/mcp-client.js';
import { until } from '../support/product.js';

const MCP = '/mcp';
const BATCHING = '2025-03-26';
const WITHOUT_BATCHES = ['2025-11-25', '2025-06-18', '2024-11-05'];
const CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
const FOREIGN = { Origin: 'https://evil.example' };

let app: TestApp;
let tenant: Tenant;
let mcp: McpCaller;
const started: TestApp[] = [];

/** One more instance on the same database, with sessions and counts of its own. */
async function start(settings: Partial<Settings> = {}): Promise<TestApp> {
  const instance = await TestApp.start({ settings, database: app.database });
  started.push(instance);
  return instance;
}

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
  mcp = callerOf(tenant);
});
afterAll(() => Promise.all([app, ...started].map((instance) => instance.stop())));

function callerOf({ key }: Tenant, of = app): McpCaller {
  return new McpCaller(of.url, key.key);
}

function stranger(of = app): McpCaller {
  return new McpCaller(of.url);
}

/** One more key of the tenant's organization. */
async function colleague(of = app, scopes?: readonly Scope[]): Promise<Tenant> {
  return of.key(tenant.id, scopes);
}

function expectLimits({ headers }: Answer): void {
  for (const name of ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']) {
    expect({ [name]: headers.get(name) }).toEqual({
      [name]: expect.stringMatching(/^\d+$/) as string,
    });
  }
}

/** Expects exactly the envelope of REST with the headers of REST, and these fields where given. */
function expectRefusal(answer: Answer, status: number, code: string, ...fields: string[]): void {
  const { headers } = answer;
  expect({ status: answer.status, body: answer.body as unknown }).toEqual({
    status,
    body: {
      error: {
        code,
        message: expect.stringMatching(/./) as string,
        retryable: status === 429 || status >= 500,
        request_id: headers.get('x-request-id'),
        ...(code === 'validation_error' && { details: expect.any(Array) as unknown[] }),
      },
    },
  });
  expect(headers.get('x-request-id')).toBeTruthy();
  expect(headers.get('content-type')).toMatch(/^application\/json\b/);
  expectLimits(answer);
  if (fields.length > 0) expectInvalid(answer, ...fields);
}

/** Expects an answer of JSON-RPC whose result is this. */
function expectResult(answer: Answer, id: unknown, result: unknown): void {
  expect({ status: answer.status, body: answer.body as unknown }).toEqual({
    status: 200,
    body: { jsonrpc: '2.0', id, result },
  });
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
  expectLimits(answer);
}

/** Expects that a session answers its key. */
async function expectAlive(caller: McpCaller, session: string): Promise<void> {
  expectResult(await caller.rpc(session, 'ping', undefined, 'alive'), 'alive', {});
}

function sessionsOf(of = app) {
  return [...of.app.get(SessionStore).all()];
}

function sessionOf(id: string, of = app) {
  return sessionsOf(of).find((session) => session.id === id);
}

function untilTrue(condition: () => boolean): Promise<void> {
  return until(() => Promise.resolve(condition()));
}

function setScopes(keyId: string, ...scopes: Scope[]): Promise<unknown> {
  return app.sql('update api_keys set scopes = $2 where id = $1', [keyId, scopes]);
}

/** Every way to ask with a session header, or without one. */
const ASK: Readonly<
  Record<'POST' | 'GET' | 'DELETE', (caller: McpCaller, session?: string) => Promise<Answer>>
> = {
  POST: (caller, session) => caller.post(rpcRequest('ping'), headersOf(session)),
  GET: (caller, session) => caller.request('GET', { headers: headersOf(session) }),
  DELETE: (caller, session) => caller.delete(session),
};
const METHODS = ['POST', 'GET', 'DELETE'] as const;

function headersOf(session: string | undefined) {
  return session === undefined ? {} : inSession(session);
}

async function endedSession(): Promise<string> {
  const session = await mcp.open();
  await mcp.delete(session);
  return session;
}

describe('initialize', () => {
  it('given a key, when it POSTs initialize, then the answer is JSON with the server and the id of a session', async () => {
    const answer = await mcp.post(initializeRequest({}, 'first'));
    expectResult(answer, 'first', {
      protocolVersion: LATEST_REVISION,
      capabilities: expect.objectContaining({ tools: { listChanged: true } }),
      serverInfo: FULL_SERVER_INFO,
      instructions: INSTRUCTIONS,
    });
    // Unguessable, and of visible ASCII as the protocol wants it.
    expect(answer.headers.get('mcp-session-id')).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}$/,
    );
  });

  it('given a key, when it opens two sessions, then they are two', async () => {
    const [one, two] = await Promise.all([mcp.open(), mcp.open()]);
    expect(one).not.toBe(two);
    await mcp.delete(one);
    await expectAlive(mcp, two);
  });

  it.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])(
    'given a client of revision %s, when it initializes, then that is agreed on',
    async (protocolVersion) => {
      const { body } = await mcp.initialize({ protocolVersion });
      expect(body).toMatchObject({ result: { protocolVersion } });
    },
  );

  it.each(['2099-01-01', '2020-01-01', 'nonsense', ''])(
    'given a client of the unknown revision "%s", when it initializes, then the latest is offered',
    async (protocolVersion) => {
      const answer = await mcp.initialize({ protocolVersion });
      expect(answer.body).toMatchObject({ result: { protocolVersion: LATEST_REVISION } });
      expect(answer.headers.get('mcp-session-id')).toBeTruthy();
    },
  );

  it('given a key without any scope, when it initializes, then it has a session', async () => {
    const caller = callerOf(await colleague(app, []));
    const session = await caller.open();
    const { body } = await caller.rpc(session, 'tools/list');
    expect(body).toMatchObject({ result: { tools: [{ name: 'whoami' }] } });
  });

  it('given an empty session header, when a client initializes, then it has a session', async () => {
    const { status, headers } = await mcp.initialize({}, inSession(''));
    expect([status, headers.get('mcp-session-id')]).toEqual([200, expect.stringMatching(/./)]);
  });

  it('given a session, when initialize comes in it, then it is refused and the session lives on', async () => {
    const session = await mcp.open();
    const answer = await mcp.initialize({}, inSession(session));
    expectRefusal(answer, 400, 'validation_error', 'Mcp-Session-Id');
    expect(answer.headers.get('mcp-session-id')).toBeNull();
    await expectAlive(mcp, session);
  });

  it('given a session that has ended, when initialize comes in it, then it is 404 not_found', async () => {
    expectRefusal(await mcp.initialize({}, inSession(await endedSession())), 404, 'not_found');
  });
});

describe('requests in a session', () => {
  let session: string;

  beforeAll(async () => {
    session = await mcp.open();
  });

  it('given a notification, when it is POSTed, then the answer is 202 without a body', async () => {
    const message = rpcNotification('notifications/initialized');
    const answer = await mcp.post(message, inSession(session));
    expect(answer).toMatchObject({ status: 202, body: undefined });
    expectLimits(answer);
  });

  it.each([
    ['a result', { jsonrpc: '2.0', id: 1, result: {} }],
    ['an error', { jsonrpc: '2.0', id: 1, error: { code: -1, message: 'no' } }],
    ['an unknown notification', rpcNotification('notifications/of-tomorrow', { x: 1 })],
    ['a cancellation', rpcNotification('notifications/cancelled', { requestId: 1 })],
  ])('given %s, when it is POSTed, then the answer is 202 without a body', async (_, message) => {
    const answer = await mcp.post(message, inSession(session));
    expect(answer).toMatchObject({ status: 202, body: undefined });
  });

  it('given a ping, when it is POSTed, then the answer is an empty result', async () => {
    expectResult(await mcp.rpc(session, 'ping', {}, 5), 5, {});
  });

  it.each([
    'nothing/here',
    'tools/nothing',
    'sampling/createMessage',
    'notifications/initialized',
    '__proto__',
    '',
  ])('given the unknown method "%s", when it is asked for, then it is -32601', async (method) => {
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
    'given the id %j, when a request has it, then it comes back as it was sent',
    async (id) => {
      expectResult(await mcp.rpc(session, 'ping', {}, id), id, {});
    },
  );

  it('given many requests with one id at a time, when they are answered, then each has its own', async () => {
    const methods = Array.from({ length: 30 }, (_, n) => ['ping', 'tools/list', 'x/y'][n % 3]!);
    const answers = await Promise.all(methods.map((method) => mcp.rpc(session, method, {}, 1)));
    const shapes = answers.map(({ body }) =>
      body.error ? 'x/y' : body.result.tools ? 'tools/list' : 'ping',
    );
    expect(shapes).toEqual(methods);
    expect(new Set(answers.map(({ body }) => body.id as unknown))).toEqual(new Set([1]));
  });

  it('given keys with other scopes, when they list tools at the same time, then each sees its own', async () => {
    const scopes: Scope[] = ['leads:read', 'tasks:write'];
    const callers = await Promise.all(
      scopes.map(async (scope) => {
        const caller = callerOf(await colleague(app, [scope]));
        return { caller, open: await caller.open() };
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
      ['get_lead', 'list_leads', 'whoami'],
      ['create_task', 'delete_task', 'update_task', 'whoami'],
    ];
    expect(lists).toEqual(asked.map((_, n) => expected[n % 2]));
  });
});

describe('DELETE', () => {
  it('given a session, when its key DELETEs it, then the answer says so and it is gone', async () => {
    const session = await mcp.open();
    const answer = await mcp.delete(session);
    expect({ status: answer.status, body: answer.body as unknown }).toEqual({
      status: 200,
      body: { data: { id: session, closed: true } },
    });
    expectLimits(answer);
    expectRefusal(await mcp.delete(session), 404, 'not_found');
  });

  it('given a session, when it is DELETEd many times at once, then one DELETE has ended it', async () => {
    const session = await mcp.open();
    const answers = await Promise.all(Array.from({ length: 10 }, () => mcp.delete(session)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 404)]);
  });
});

describe('a request without a valid key', () => {
  it.each(METHODS)('given no key, when %s comes, then it is 401', async (method) => {
    const session = await mcp.open();
    const callers = [stranger(), new McpCaller(app.url, generateKey())];
    for (const caller of callers) {
      for (const id of [undefined, session, randomUUID()]) {
        const answer = await ASK[method](caller, id);
        expectRefusal(answer, 401, 'unauthorized');
        expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="latitude"');
      }
    }
    await expectAlive(mcp, session);
  });

  it('given no key, when initialize comes, then it is 401 without a session', async () => {
    const answer = await stranger().initialize();
    expectRefusal(answer, 401, 'unauthorized');
    expect(answer.headers.get('mcp-session-id')).toBeNull();
  });

  it.each<[string, Parameters<McpCaller['request']>[1]]>([
    ['unparseable JSON', { body: '{' }],
    ['another content type', { body: 'x', headers: { 'Content-Type': 'text/plain' } }],
    ['a body that is too large', { body: ' '.repeat(300_000) }],
    ['a foreign revision', { body: '{}', headers: { 'MCP-Protocol-Version': 'x' } }],
    ['an unknown parameter', { body: '{}', path: `${MCP}?x=1` }],
  ])('given no key, when %s comes, then it is 401 before everything else', async (_, options) => {
    expectRefusal(await stranger().request('POST', options), 401, 'unauthorized');
  });
});

describe('the session that a request names', () => {
  it('given no session header, when GET comes, then it is 400 no_session', async () => {
    expectRefusal(await ASK.GET(mcp), 400, 'no_session');
  });

  it('given a session header that names none or one that has ended, when GET comes, then it is 400 no_session', async () => {
    for (const session of [randomUUID(), 'x', '', '__proto__', await endedSession()]) {
      expectRefusal(await ASK.GET(mcp, session), 400, 'no_session');
    }
  });

  it.each(['ping', 'tools/list', 'tools/call', 'nothing/here'])(
    'given no session header, when %s is POSTed, then it is 400 no_session',
    async (method) => {
      expectRefusal(await mcp.post(rpcRequest(method, { name: 'list_leads' })), 400, 'no_session');
    },
  );

  it('given no session header, when what is no request is POSTed, then it is 400 no_session', async () => {
    const messages = [
      rpcNotification('notifications/initialized'),
      rpcNotification('initialize'),
      { jsonrpc: '2.0', id: 1, result: {} },
    ];
    for (const message of messages) expectRefusal(await mcp.post(message), 400, 'no_session');
  });

  it('given no session header, when DELETE comes, then it is refused', async () => {
    expectRefusal(await mcp.delete(), 400, 'no_session');
  });

  it.each(['POST', 'DELETE'] as const)(
    'given a session header that names none or one that has ended, when %s comes, then it is 404 not_found',
    async (method) => {
      for (const session of [randomUUID(), 'x', '__proto__', await endedSession()]) {
        expectRefusal(await ASK[method](mcp, session), 404, 'not_found');
      }
    },
  );

  it.each(METHODS)(
    'given the session of another key, when %s comes, then it is 403 session_mismatch and the session lives on',
    async (method) => {
      const session = await mcp.open();
      const others = [await colleague(), await app.organization()];
      for (const other of others) {
        expectRefusal(await ASK[method](callerOf(other), session), 403, 'session_mismatch');
      }
      await expectAlive(mcp, session);
    },
  );

  it('given the session of another key, when initialize comes in it, then it is 403 session_mismatch', async () => {
    const session = await mcp.open();
    const other = callerOf(await colleague());
    expectRefusal(await other.initialize({}, inSession(session)), 403, 'session_mismatch');
  });

  it('given a stream, when another key opens, posts and deletes in its session, then the stream stays', async () => {
    const owner = await colleague();
    const caller = callerOf(owner);
    const session = await caller.open('2025-06-18');
    const stream = await caller.listen(session);
    for (const method of METHODS) {
      expectRefusal(await ASK[method](mcp, session), 403, 'session_mismatch');
    }
    sessionOf(session)!.notify(CHANGED.method);
    expect(await stream.nextMessage()).toEqual({ id: '1', message: CHANGED });
  });

  it.each<[string, Parameters<McpCaller['request']>[1] & object]>([
    ['unparseable JSON', { body: '{' }],
    ['what is no JSON-RPC', { body: '{}' }],
    ['no body', {}],
    ['another content type', { body: 'x', headers: { 'Content-Type': 'text/plain' } }],
    ['a body that is too large', { body: ' '.repeat(300_000) }],
    ['a foreign revision', { body: '{}', headers: { 'MCP-Protocol-Version': 'x' } }],
    ['an unknown parameter', { body: rpcRequest('ping'), path: `${MCP}?x=1` }],
    ['a batch', { body: [rpcRequest('ping')] }],
    ['initialize without its parameters', { body: rpcRequest('initialize') }],
  ])(
    'given the header of no session or of a foreign one, when %s comes, then the session is what is told',
    async (_, { headers, ...options }) => {
      const session = await callerOf(await colleague()).open();
      const ask = (id: string) =>
        mcp.request('POST', { ...options, headers: { ...headers, ...inSession(id) } });
      expectRefusal(await ask(session), 403, 'session_mismatch');
      expectRefusal(await ask(randomUUID()), 404, 'not_found');
    },
  );

  it('given a request with several faults, when GET or DELETE comes, then the session is what is told', async () => {
    const session = await callerOf(await colleague()).open();
    const headers = { 'Last-Event-ID': 'x', 'MCP-Protocol-Version': 'x' };
    const ask = (method: string, id: string) =>
      mcp.request(method, { path: `${MCP}?x=1`, headers: { ...headers, ...inSession(id) } });
    expectRefusal(await ask('GET', session), 403, 'session_mismatch');
    expectRefusal(await ask('GET', 'x'), 400, 'no_session');
    expectRefusal(await ask('DELETE', session), 403, 'session_mismatch');
    expectRefusal(await ask('DELETE', 'x'), 404, 'not_found');
  });
});

describe('what a POST may hold', () => {
  let session: string;
  let inBatching: string;

  beforeAll(async () => {
    [session, inBatching] = await Promise.all([mcp.open(), mcp.open(BATCHING)]);
  });

  /** The answers with and without a session. */
  function post(body: unknown, headers: Record<string, string> = {}): Promise<Answer[]> {
    return Promise.all([
      mcp.post(body, headers),
      mcp.post(body, { ...headers, ...inSession(session) }),
    ]);
  }

  it.each<[unknown, ...string[]]>([
    ['{', 'body'],
    ['', 'body'],
    ['null', 'body'],
    ['"ping"', 'body'],
    ['1', 'body'],
    [Buffer.from([0x22, 0xff, 0x22]), 'body'],
    ['{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}', 'jsonrpc'],
    ['{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 'id'],
    [{}, 'jsonrpc', 'method'],
    [{ ...rpcRequest('ping'), jsonrpc: '1.0' }, 'jsonrpc'],
    [{ ...rpcRequest('ping'), jsonrpc: 2 }, 'jsonrpc'],
    [{ ...rpcRequest('ping'), id: null }, 'id'],
    [{ ...rpcRequest('ping'), id: 1.5 }, 'id'],
    [{ ...rpcRequest('ping'), id: true }, 'id'],
    [{ ...rpcRequest('ping'), id: [1] }, 'id'],
    [{ jsonrpc: '2.0', id: 1 }, 'method'],
    [{ jsonrpc: '2.0', id: 1, method: 5 }, 'method'],
    [{ ...rpcRequest('ping'), params: [] }, 'params'],
    [{ ...rpcRequest('ping'), params: 'x' }, 'params'],
    [{ ...rpcRequest('ping'), params: null }, 'params'],
    [{ jsonrpc: '1.0', id: {}, method: null, params: 1 }, 'jsonrpc', 'id', 'method', 'params'],
    [{ ...rpcRequest('ping'), result: {} }, 'body'],
    [[rpcRequest('ping'), { jsonrpc: '2.0' }], 'method'],
    [[rpcRequest('ping'), 1], 'body'],
  ])(
    'given %j, when it is POSTed, then it is refused and the field named',
    async (body, ...fields) => {
      for (const answer of await post(body)) {
        expectRefusal(answer, 400, 'validation_error', ...fields);
      }
    },
  );

  it('given no body at all, when POST comes, then it is refused', async () => {
    for (const answer of await post(undefined)) {
      expectRefusal(answer, 400, 'validation_error', 'body');
    }
  });

  it.each<[string, unknown, string]>([
    ['no clientInfo', { clientInfo: undefined }, 'params.clientInfo'],
    ['a clientInfo without its name', { clientInfo: { version: '1' } }, 'params.clientInfo.name'],
    ['no capabilities', { capabilities: undefined }, 'params.capabilities'],
    ['no protocolVersion', { protocolVersion: undefined }, 'params.protocolVersion'],
    ['a protocolVersion that is no text', { protocolVersion: 2025 }, 'params.protocolVersion'],
  ])(
    'given initialize with %s, when it is POSTed, then the parameter is named',
    async (_, params, field) => {
      const answer = await mcp.initialize(params as object);
      expectRefusal(answer, 400, 'validation_error', field);
      expect(answer.headers.get('mcp-session-id')).toBeNull();
    },
  );

  it('given initialize without parameters, when it is POSTed, then it is refused', async () => {
    expectRefusal(await mcp.post(rpcRequest('initialize')), 400, 'validation_error', 'params');
  });

  it.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'text/json'])(
    'given the content type %s, when POST comes, then it is 415',
    async (type) => {
      const body = JSON.stringify(rpcRequest('ping'));
      for (const answer of await post(body, { 'Content-Type': type })) {
        expectRefusal(answer, 415, 'unsupported_media_type');
      }
    },
  );

  it('given a body that is too large, when POST comes, then it is 413, and at the limit it is not', async () => {
    const { bodyLimitBytes } = app.settings;
    const atLimit = JSON.stringify(rpcRequest('ping', {}, 1)).padEnd(bodyLimitBytes);
    for (const answer of await post(`${atLimit} `)) expectRefusal(answer, 413, 'payload_too_large');
    expectResult(await mcp.post(atLimit, inSession(session)), 1, {});
  });

  describe('batches', () => {
    it('given a session of 2025-03-26, when a batch comes, then its requests are answered in an array', async () => {
      const batch = [
        rpcRequest('ping', {}, 1),
        rpcNotification('notifications/initialized'),
        rpcRequest('nothing/here', {}, 'b'),
        { jsonrpc: '2.0', id: 9, result: {} },
        rpcRequest('tools/call', { name: 'list_leads', arguments: {} }, 2),
      ];
      const { status, body } = await mcp.post(batch, inSession(inBatching));
      expect({ status, isArray: Array.isArray(body), length: body.length as unknown }).toEqual({
        status: 200,
        isArray: true,
        length: 3,
      });
      expect(body).toEqual(
        expect.arrayContaining([
          { jsonrpc: '2.0', id: 1, result: {} },
          expect.objectContaining({ id: 'b', error: expect.objectContaining({ code: -32601 }) }),
          expect.objectContaining({ id: 2, result: expect.any(Object) as object }),
        ]),
      );
    });

    it('given a batch of one, when it comes, then the answer is an array of one', async () => {
      const { body } = await mcp.post([rpcRequest('ping', {}, 1)], inSession(inBatching));
      expect(body).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
    });

    it('given a batch with one id twice, when it comes, then both requests are answered', async () => {
      const batch = [rpcRequest('ping', {}, 1), rpcRequest('ping', {}, 1)];
      const { body } = await mcp.post(batch, inSession(inBatching));
      expect(body).toEqual(batch.map(({ id }) => ({ jsonrpc: '2.0', id, result: {} })));
    });

    it('given a batch without a request, when it comes, then the answer is 202 without a body', async () => {
      const batch = [rpcNotification('notifications/initialized'), rpcNotification('x')];
      const answer = await mcp.post(batch, inSession(inBatching));
      expect(answer).toMatchObject({ status: 202, body: undefined });
    });

    it.each(WITHOUT_BATCHES)(
      'given a session of %s, when a batch comes, then it is refused',
      async (revision) => {
        const other = await mcp.open(revision);
        const batches = [[rpcRequest('ping')], [rpcNotification('notifications/initialized')], []];
        for (const batch of batches) {
          const answer = await mcp.post(batch, inSession(other));
          expectRefusal(answer, 400, 'validation_error', 'body');
        }
        await expectAlive(mcp, other);
      },
    );

    it('given an empty batch, when it comes, then it is refused', async () => {
      for (const headers of [{}, inSession(session), inSession(inBatching)]) {
        expectRefusal(await mcp.post([], headers), 400, 'validation_error', 'body');
      }
    });

    it('given initialize in a batch, when it comes in a session, then it is refused and nothing is done', async () => {
      const call = { name: 'create_lead', arguments: { first_name: 'Never' } };
      const owner = await app.organization();
      const caller = callerOf(owner);
      const own = await caller.open(BATCHING);
      const batches = [
        [initializeRequest()],
        [rpcRequest('tools/call', call), initializeRequest()],
      ];
      for (const batch of batches) {
        const answer = await caller.post(batch, inSession(own));
        expectRefusal(answer, 400, 'validation_error', 'Mcp-Session-Id');
      }
      expect(await owner.api.get(LEADS)).toMatchObject({ body: { meta: { total: 0 } } });
    });

    it('given initialize in a batch, when it comes without a session, then it is refused', async () => {
      const initialize = initializeRequest({ protocolVersion: BATCHING });
      const batches = [[initialize], [initialize, rpcRequest('ping')], [initialize, initialize]];
      for (const batch of batches) {
        const answer = await mcp.post(batch);
        expectRefusal(answer, 400, 'validation_error', 'body');
        expect(answer.headers.get('mcp-session-id')).toBeNull();
      }
    });

    it('given a batch without initialize, when it comes without a session, then it is no_session', async () => {
      expectRefusal(await mcp.post([rpcRequest('ping')]), 400, 'no_session');
    });
  });
});

describe('the head of a request', () => {
  let session: string;

  beforeAll(async () => {
    session = await mcp.open();
  });

  it.each(METHODS)(
    'given a revision that is not supported, when %s declares it, then the header is named',
    async (method) => {
      const body = method === 'POST' ? rpcRequest('ping') : undefined;
      for (const revision of ['x', '1999-01-01', '2026-07-28']) {
        const headers = { ...inSession(session), 'MCP-Protocol-Version': revision };
        const answer = await mcp.request(method, { body, headers });
        expectRefusal(answer, 400, 'validation_error', 'MCP-Protocol-Version');
      }
      await expectAlive(mcp, session);
    },
  );

  it('given a supported revision, when a request declares it, then it is answered', async () => {
    for (const revision of [...WITHOUT_BATCHES, BATCHING]) {
      const headers = { ...inSession(session), 'MCP-Protocol-Version': revision };
      expectResult(await mcp.post(rpcRequest('ping', {}, 1), headers), 1, {});
    }
  });

  it('given initialize that declares a revision which is not supported, when it comes, then it is refused', async () => {
    const answer = await mcp.initialize({}, { 'MCP-Protocol-Version': 'x' });
    expectRefusal(answer, 400, 'validation_error', 'MCP-Protocol-Version');
  });

  it.each(METHODS)(
    'given an unknown query parameter, when %s comes, then it is named',
    async (method) => {
      const body = method === 'POST' ? rpcRequest('ping') : undefined;
      const path = `${MCP}?session=${session}`;
      const answer = await mcp.request(method, { path, body, headers: inSession(session) });
      expectRefusal(answer, 400, 'validation_error', 'session');
      await expectAlive(mcp, session);
    },
  );

  it.each(['x', '-1', '1.5', '1', '01x', '0x0', '99999999999999999999', 'null'])(
    'given Last-Event-ID %s, which names no event of the session, when GET comes, then it is named',
    async (id) => {
      const headers = { ...inSession(session), 'Last-Event-ID': id };
      const answer = await mcp.request('GET', { headers });
      expectRefusal(answer, 400, 'validation_error', 'Last-Event-ID');
    },
  );

  it('given a request with several faults, when GET comes, then all are named', async () => {
    const headers = { 'MCP-Protocol-Version': 'x', 'Last-Event-ID': 'x', ...inSession(session) };
    const answer = await mcp.request('GET', { path: `${MCP}?y=1`, headers });
    expectRefusal(answer, 400, 'validation_error', 'MCP-Protocol-Version', 'Last-Event-ID', 'y');
  });

  it.each(['PUT', 'PATCH', 'PROPFIND'])(
    'given %s, when it comes to /mcp, then it is 404 and Allow names what there is',
    async (method) => {
      const answer = await mcp.request(method, { headers: inSession(session) });
      expectRefusal(answer, 404, 'not_found');
      expect(answer.headers.get('allow')).toBe('DELETE, GET, HEAD, POST');
      expectRefusal(await stranger().request(method), 401, 'unauthorized');
    },
  );

  it.each(['/mcp/', '/mcp/x', '/MCP', '/mcp%2f'])(
    'given the path %s, when initialize comes, then it is 404',
    async (path) => {
      expectRefusal(
        await mcp.request('POST', { path, body: initializeRequest() }),
        404,
        'not_found',
      );
    },
  );
});

describe('the cap', () => {
  const PLACES = 5;
  let small: TestApp;
  let caller: McpCaller;

  beforeAll(async () => {
    small = await start({ mcpMaxSessions: PLACES });
    caller = callerOf(tenant, small);
  });
  afterEach(() => {
    const sessions = small.app.get(SessionStore);
    for (const session of [...sessions.all()]) sessions.terminate(session);
  });

  function expectFull(answer: Answer): void {
    expectRefusal(answer, 503, 'too_many_sessions');
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(answer.headers.get('mcp-session-id')).toBeNull();
  }

  /** Opens so many at once; answers those that were opened. */
  async function openAtOnce(count: number, of = caller): Promise<string[]> {
    const answers = await Promise.all(Array.from({ length: count }, () => of.initialize()));
    for (const answer of answers) if (answer.status !== 200) expectFull(answer);
    return answers.flatMap(({ headers }) => headers.get('mcp-session-id') ?? []);
  }

  it('given five places, when twenty sessions are opened at once, then exactly five are', async () => {
    const ids = await openAtOnce(20);
    expect(new Set(ids).size).toBe(PLACES);
    for (const id of ids) await expectAlive(caller, id);
  });

  it('given five places, when keys of several organizations ask, then they share them', async () => {
    const other = callerOf(await small.organization(), small);
    const opened = await Promise.all([openAtOnce(10), openAtOnce(10, other)]);
    expect(opened.flat()).toHaveLength(PLACES);
  });

  it('given many refused initializes, when sessions are opened, then every place is still there', async () => {
    const refused: [number, () => Promise<Answer>][] = [
      [400, () => caller.initialize({ clientInfo: undefined })],
      [400, () => caller.initialize({ capabilities: undefined })],
      [400, () => caller.initialize({ protocolVersion: undefined })],
      [400, () => caller.post([initializeRequest()])],
      [400, () => caller.post('{')],
      [400, () => caller.post(rpcRequest('ping'))],
      [400, () => caller.initialize({}, { 'MCP-Protocol-Version': 'x' })],
      [400, () => caller.request('POST', { path: `${MCP}?x=1`, body: initializeRequest() })],
      [401, () => stranger(small).initialize()],
      [403, () => caller.initialize({}, FOREIGN)],
      [404, () => caller.initialize({}, inSession(randomUUID()))],
      [413, () => caller.initialize({ x: ' '.repeat(300_000) })],
      [415, () => caller.initialize({}, { 'Content-Type': 'text/plain' })],
    ];
    for (const [status, ask] of refused) {
      const answers = await Promise.all(Array.from({ length: PLACES }, ask));
      expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status));
    }
    expect(await openAtOnce(PLACES + 1)).toHaveLength(PLACES);
  });

  it('given a full house, when many more are refused and one session ends, then there is one place', async () => {
    const [first] = await openAtOnce(PLACES);
    expect(await openAtOnce(20)).toEqual([]);
    const answer = await caller.delete(first);
    expect(answer.body).toEqual({ data: { id: first, closed: true } });
    expect(await openAtOnce(3)).toHaveLength(1);
  });

  it('given a full house, when another key tries to end a session, then no place falls free', async () => {
    const [first] = await openAtOnce(PLACES);
    const other = callerOf(await small.organization(), small);
    expectRefusal(await other.delete(first), 403, 'session_mismatch');
    expectFull(await other.initialize());
  });

  it('given a full house, when its sessions go on, then they are served', async () => {
    const ids = await openAtOnce(PLACES);
    expectFull(await caller.initialize());
    for (const id of ids) {
      await expectAlive(caller, id);
      const stream = await caller.listen(id);
      expect(await stream.next()).toMatchObject({ id: '0', data: '' });
    }
    const call = { name: 'list_leads', arguments: {} };
    const { body } = await caller.rpc(ids[0]!, 'tools/call', call);
    expect(body).toMatchObject({ result: { structuredContent: { meta: { page: 1 } } } });
  });

  it('given a full house, when what is wrong by itself comes, then that is told first', async () => {
    await openAtOnce(PLACES);
    expectRefusal(await caller.post('{'), 400, 'validation_error', 'body');
    expectRefusal(await caller.initialize({ capabilities: 1 }), 400, 'validation_error');
    expectRefusal(await caller.post(rpcRequest('ping')), 400, 'no_session');
    expectRefusal(await caller.initialize({}, inSession('x')), 404, 'not_found');
  });

  it('given a full house of one key, when that key is revoked, then its places fall free', async () => {
    const owner = await colleague(small);
    await openAtOnce(PLACES, callerOf(owner, small));
    expectFull(await caller.initialize());
    await small.app.get(KeysService).revoke(owner.key.id);
    await until(async () => (await caller.initialize()).status === 200);
  });
});

describe('the time to live', () => {
  const TTL_SECONDS = 60;
  const realNow = performance.now.bind(performance);
  let passedMs = 0;

  /** Sets the clock of the application forward. */
  const passTimeToLive = () => {
    passedMs += TTL_SECONDS * 1_000;
    jest.spyOn(performance, 'now').mockImplementation(() => realNow() + passedMs);
  };
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('given a session without use and one with an open stream, when the time is over, then only the first has ended', async () => {
    const brief = await start({ mcpSessionTtlSeconds: TTL_SECONDS });
    const caller = callerOf(tenant, brief);
    const other = callerOf(await colleague(), brief);
    const listened = await caller.open();
    const stream = await caller.listen(listened);
    const unused = await caller.open();
    // Asking with another key does not extend its life.
    expectRefusal(await ASK.POST(other, unused), 403, 'session_mismatch');
    passTimeToLive();
    expectRefusal(await ASK.POST(other, unused), 404, 'not_found');
    expectRefusal(await ASK.POST(caller, unused), 404, 'not_found');
    expectRefusal(await ASK.DELETE(caller, unused), 404, 'not_found');
    expectRefusal(await ASK.GET(caller, unused), 400, 'no_session');
    await expectAlive(caller, listened);
    stream.leave();
    await untilTrue(() => sessionsOf(brief).every(({ isStreaming }) => !isStreaming));
    passTimeToLive();
    expectRefusal(await ASK.POST(other, listened), 404, 'not_found');
    await untilTrue(() => sessionsOf(brief).length === 0);
  });
});

describe('streams', () => {
  let owner: Tenant;
  let caller: McpCaller;

  beforeEach(async () => {
    owner = await app.organization();
    caller = callerOf(owner);
  });

  /** Lets the key call other tools than before, of which its sessions learn by and by. */
  const change = (...scopes: Scope[]) => setScopes(owner.key.id, ...scopes);

  /** What the sessions do then, at once. */
  const notify = (session: string): void => {
    sessionOf(session)!.notify(CHANGED.method);
  };

  const untilAway = (session: string) => untilTrue(() => !sessionOf(session)!.isStreaming);
  const untilKept = (session: string, event: number) =>
    untilTrue(() => sessionOf(session)!.hasEvent(event));

  async function expectEnd(stream: EventReader): Promise<void> {
    expect(await stream.next()).toBeUndefined();
  }

  it('given a session of 2025-11-25, when GET comes, then a stream begins with an id to come back with', async () => {
    const stream = await caller.listen(await caller.open());
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    expect(stream.headers.get('cache-control')).toContain('no-cache');
    for (const name of ['x-request-id', 'ratelimit-limit', 'ratelimit-reset']) {
      expect(stream.headers.get(name)).toBeTruthy();
    }
    expect(await stream.next()).toEqual({
      id: '0',
      data: '',
      retry: expect.stringMatching(/^\d+$/),
    });
  });

  it.each(['2025-06-18', '2025-03-26', '2024-11-05'])(
    'given a session of %s, when GET comes, then the first event is the first message',
    async (revision) => {
      const session = await caller.open(revision);
      const stream = await caller.listen(session);
      notify(session);
      expect(await stream.nextMessage()).toEqual({ id: '1', message: CHANGED });
    },
  );

  it('given a stream, when the scopes of the key change in the database, then the client is told, and sees other tools', async () => {
    const session = await caller.open();
    const stream = await caller.listen(session);
    await stream.next();
    await change('tasks:read');
    expect(await stream.nextMessage()).toEqual({ id: '1', message: CHANGED });
    await until(async () => {
      const { body } = await caller.rpc(session, 'tools/list');
      return body.result.tools.length === 3;
    });
    await change('tasks:read', 'leads:read');
    expect(await stream.nextMessage()).toEqual({ id: '2', message: CHANGED });
  });

  it('given two sessions of the key and one of another, when its scopes change, then its two are told', async () => {
    const other = await colleague();
    const theirs = await callerOf(other).open('2025-06-18');
    const sessions = await Promise.all([caller.open('2025-06-18'), caller.open('2025-06-18')]);
    const streams = await Promise.all(sessions.map((session) => caller.listen(session)));
    await change('leads:read');
    for (const stream of streams) {
      expect(await stream.nextMessage()).toEqual({ id: '1', message: CHANGED });
    }
    expect(sessionOf(theirs)!.hasEvent(1)).toBe(false);
  });

  it('given a client that was away, when it comes back with Last-Event-ID, then it gets what it missed once', async () => {
    const session = await caller.open();
    const first = await caller.listen(session);
    const { id } = (await first.next())!;
    first.leave();
    await untilAway(session);
    await change('leads:read');
    await untilKept(session, 1);

    const second = await caller.listen(session, { 'Last-Event-ID': id! });
    expect(await second.next()).toMatchObject({ id, data: '' });
    expect(await second.nextMessage()).toEqual({ id: '1', message: CHANGED });
    second.leave();
    await untilAway(session);

    const third = await caller.listen(session, { 'Last-Event-ID': '1' });
    expect(await third.next()).toMatchObject({ id: '1', data: '' });
    notify(session);
    expect(await third.nextMessage()).toEqual({ id: '2', message: CHANGED });
  });

  it('given a client that was away, when it comes back without Last-Event-ID, then it gets what was not sent yet', async () => {
    const session = await caller.open('2025-06-18');
    notify(session);
    const first = await caller.listen(session);
    expect(await first.nextMessage()).toMatchObject({ id: '1' });
    first.leave();
    await untilAway(session);
    notify(session);
    const second = await caller.listen(session);
    expect(await second.nextMessage()).toMatchObject({ id: '2' });
  });

  it('given events that were read, when a client comes back from before them, then they are told again', async () => {
    const session = await caller.open('2025-06-18');
    const first = await caller.listen(session);
    notify(session);
    expect(await first.nextMessage()).toMatchObject({ id: '1' });
    const second = await caller.listen(session, { 'Last-Event-ID': '0' });
    expect(await second.nextMessage()).toMatchObject({ id: '1' });
  });

  it('given a stream, when a newer one is opened, then the old one ends and the newer gets the events', async () => {
    const session = await caller.open();
    const old = await caller.listen(session);
    await old.next();
    const newer = await caller.listen(session);
    await newer.next();
    await expectEnd(old);
    notify(session);
    expect(await newer.nextMessage()).toEqual({ id: '1', message: CHANGED });
  });

  it('given a stream, when HEAD comes, then it is answered without a body and the stream stays', async () => {
    const session = await caller.open('2025-06-18');
    const head = () => caller.request('HEAD', { headers: inSession(session) });
    expect(await head()).toMatchObject({ status: 200, body: undefined });
    expect(sessionOf(session)!.isStreaming).toBe(false);
    const stream = await caller.listen(session);
    expect(await head()).toMatchObject({ status: 200, body: undefined });
    notify(session);
    expect(await stream.nextMessage()).toEqual({ id: '1', message: CHANGED });
    expect(await caller.request('HEAD')).toMatchObject({ status: 400, body: undefined });
  });

  it('given a stream, when its session is DELETEd, then it ends', async () => {
    const session = await caller.open();
    const stream = await caller.listen(session);
    await stream.next();
    await caller.delete(session);
    await expectEnd(stream);
    expectRefusal(await ASK.GET(caller, session), 400, 'no_session');
  });

  it('given a stream, when its client leaves, then the session goes on', async () => {
    const session = await caller.open();
    const stream = await caller.listen(session);
    await stream.next();
    stream.leave();
    await untilAway(session);
    await expectAlive(caller, session);
  });

  it.each(['GET', 'POST'])(
    'given a client that leaves while its key is looked up, when that is done, then %s leaves nothing open',
    async (method) => {
      const session = await caller.open();
      const before = sessionsOf();
      const authenticator = app.app.get(Authenticator);
      const authenticate = authenticator.authenticate.bind(authenticator);
      let found = (): void => undefined;
      const gate = new Promise<void>((resolve) => (found = resolve));
      const spy = jest.spyOn(authenticator, 'authenticate').mockImplementationOnce(async (key) => {
        await gate;
        return authenticate(key);
      });
      const arrival = once(app.app.getHttpServer(), 'request');
      const abort = new AbortController();
      const leaving = fetch(app.url + MCP, {
        method,
        signal: abort.signal,
        headers: {
          Authorization: `Bearer ${owner.key.key}`,
          ...(method === 'GET' ? inSession(session) : { 'Content-Type': 'application/json' }),
        },
        ...(method === 'POST' && { body: JSON.stringify(initializeRequest()) }),
      }).catch(() => undefined);
      const [, response] = (await arrival) as [IncomingMessage, ServerResponse];
      const closed = once(response, 'close');
      abort.abort();
      await Promise.all([leaving, closed]);
      found();
      await spy.mock.results[0]!.value;
      // What follows on the look-up has been done when another request has been answered.
      await expectAlive(caller, session);
      spy.mockRestore();
      expect(sessionOf(session)!.isStreaming).toBe(false);
      expect(sessionsOf()).toEqual(before);
    },
  );
});

// That it comes within a second is shown in session-revalidation.spec.ts and authenticator.spec.ts.
describe('the end of a key', () => {
  /** When the stream of a session ended that this key has opened, and that the session is gone. */
  async function endOf(owner: Tenant, end: () => Promise<unknown>): Promise<number> {
    const caller = callerOf(owner);
    const session = await caller.open();
    const stream = await caller.listen(session);
    await stream.next();
    expectRefusal(await ASK.GET(mcp, session), 403, 'session_mismatch');
    await end();
    expect(await stream.next()).toBeUndefined();
    const endedAt = Date.now();
    // Where it still were, it would be the session of another key.
    expectRefusal(await ASK.GET(mcp, session), 400, 'no_session');
    for (const method of METHODS) {
      await until(async () => (await ASK[method](caller, session)).status === 401);
    }
    return endedAt;
  }

  it('given streams of two keys, when one key is revoked, then its stream and session end and the other go on', async () => {
    const [owner, other] = await Promise.all([colleague(), colleague()]);
    const kept = await callerOf(other).open('2025-06-18');
    const stream = await callerOf(other).listen(kept);
    await endOf(owner, () => app.app.get(KeysService).revoke(owner.key.id));
    await expectAlive(callerOf(other), kept);
    sessionOf(kept)!.notify(CHANGED.method);
    expect(await stream.nextMessage()).toEqual({ id: '1', message: CHANGED });
  });

  it('given a stream, when its key expires, then the stream and the session end, not earlier', async () => {
    const owner = await app.key(tenant.id);
    let expiresAt: Date | undefined;
    // Only now, so that the stream is there before the key expires, however long that takes.
    const endedAt = await endOf(owner, async () => {
      const [key] = await app.sql<{ expires_at: Date }>(
        `update api_keys set expires_at = now() + interval '1 second' where id = $1
         returning expires_at`,
        [owner.key.id],
      );
      expiresAt = key!.expires_at;
    });
    expect(endedAt).toBeGreaterThanOrEqual(expiresAt!.getTime());
  });
});

describe('the end of the application', () => {
  it('given open streams, when it stops, then it ends them instead of waiting for them', async () => {
    const instance = await TestApp.start({ database: app.database });
    const caller = callerOf(tenant, instance);
    const streams = await Promise.all(
      Array.from({ length: 5 }, async () => caller.listen(await caller.open('2025-06-18'))),
    );
    const cutOff = jest.spyOn(instance.app.getHttpServer(), 'closeAllConnections');
    const stopped = instance.stop();
    for (const stream of streams) expect(await stream.next()).toBeUndefined();
    await stopped;
    expect(cutOff).not.toHaveBeenCalled();
  });
});

describe('the flood guard', () => {
  const MESSAGES = 600;
  const BATCH = 100;
  let limited: TestApp;
  let owner: Tenant;
  let caller: McpCaller;
  let session: string;

  beforeAll(async () => {
    limited = await start({ readsPerMinute: 50, writesPerMinute: 50 });
  });
  beforeEach(async () => {
    owner = await limited.organization();
    caller = callerOf(owner, limited);
    session = await caller.open(BATCHING);
  });

  /** Sends messages until so many are left, of which opening the session was one. */
  async function leave(count: number): Promise<void> {
    const message = rpcNotification('notifications/initialized');
    for (let missing = MESSAGES - 1 - count; missing > 0; missing -= BATCH) {
      const batch = Array.from({ length: Math.min(missing, BATCH) }, () => message);
      expect(await caller.post(batch, inSession(session))).toMatchObject({ status: 202 });
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
    const end = Date.parse(headers.get('date')!) / 1_000 + retryAfter;
    expect(Math.abs(end - Number(headers.get('ratelimit-reset')))).toBeLessThanOrEqual(1);
  }

  it('given a key, when it sends single messages at once, then exactly 600 are answered', async () => {
    const statuses: number[] = [];
    for (let sent = 0; sent < 650; sent += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, ping));
      for (const answer of answers) {
        statuses.push(answer.status);
        if (answer.status !== 200) expectFlood(answer);
      }
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(MESSAGES - 1);
    expect(statuses.filter((status) => status === 429)).toHaveLength(51);
  });

  it('given a key that sent all its messages, when anything else comes, then it is 429, whatever it is', async () => {
    await leave(0);
    const answers = [
      await ping(),
      await caller.initialize(),
      await caller.post('{', inSession(session)),
      await caller.post(rpcRequest('ping'), inSession(randomUUID())),
      await caller.post(rpcNotification('notifications/initialized'), inSession(session)),
      await ASK.GET(caller, session),
      await caller.delete(session),
    ];
    for (const answer of answers) expectFlood(answer);
    expectRefusal(await stranger(limited).initialize(), 401, 'unauthorized');
    const foreign = { ...inSession(session), ...FOREIGN };
    expectRefusal(await caller.post(rpcRequest('ping'), foreign), 403, 'origin_not_allowed');
  });

  it('given a key that sent all its messages, when another key of its organization comes, then it is served', async () => {
    await leave(0);
    expectFlood(await ping());
    const other = callerOf(await limited.key(owner.id), limited);
    await expectAlive(other, await other.open());
  });

  it('given a key that sent all its messages, when it calls tools, then they work, alone and in a batch', async () => {
    await leave(0);
    expectFlood(await ping());
    expect(await call('list_leads')).toMatchObject({
      status: 200,
      body: { result: { structuredContent: { data: [] } } },
    });
    const created = await call('create_lead', { first_name: 'Ada' });
    expect(created.body).toMatchObject({ result: { structuredContent: { first_name: 'Ada' } } });
    const list = rpcRequest('tools/call', { name: 'list_leads', arguments: {} });
    const { status, body } = await caller.post([list, list], inSession(session));
    expect([status, body.length]).toEqual([200, 2]);
    expectFlood(await caller.post([list, rpcRequest('ping')], inSession(session)));
    expectFlood(await ping());
  });

  it('given one message left, when known tools are called first, then it is still left', async () => {
    await leave(1);
    for (let n = 0; n < 5; n++) expect(await call('list_tasks')).toMatchObject({ status: 200 });
    expectResult(await ping(), 1, {});
    expectFlood(await ping());
  });

  it.each<[string, number, () => Promise<Answer>]>([
    ['an invalid body', 400, () => caller.post('{', inSession(session))],
    ['what is no JSON-RPC', 400, () => caller.post({}, inSession(session))],
    ['another content type', 415, () => caller.post('x', { 'Content-Type': 'text/plain' })],
    ['a body that is too large', 413, () => caller.post(' '.repeat(300_000), inSession(session))],
    ['a request without a session', 400, () => caller.post(rpcRequest('ping'))],
    ['a request in no session', 404, () => caller.post(rpcRequest('ping'), inSession('x'))],
    ['a refused initialize', 400, () => caller.initialize({ clientInfo: 1 })],
    ['a call of an unknown tool', 200, () => call('nothing_here')],
    ['a call of no tool', 200, () => caller.rpc(session, 'tools/call', {})],
    ['a notification', 202, () => caller.post(rpcNotification('x'), inSession(session))],
    ['a GET', 400, () => ASK.GET(caller)],
    ['a DELETE', 404, () => caller.delete(randomUUID())],
  ])('given one message left, when %s comes, then that was it', async (_, status, ask) => {
    await leave(1);
    expect(await ask()).toMatchObject({ status });
    expectFlood(await ping());
  });

  it('given one message left, when a batch of two comes, then it is refused and nothing of it is done', async () => {
    await leave(1);
    const create = { name: 'create_lead', arguments: { first_name: 'Never' } };
    const batch = [rpcRequest('tools/call', create), rpcRequest('ping'), rpcRequest('ping')];
    expectFlood(await caller.post(batch, inSession(session)));
    expect(await owner.api.get(LEADS)).toMatchObject({ body: { meta: { total: 0 } } });
  });

  it.each<[string, () => Promise<Answer>]>([
    ['a call of a known tool without a session', () => caller.post(listLeads())],
    ['a call of a known tool in no session', () => caller.post(listLeads(), inSession('x'))],
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
          headers: inSession(session),
        }),
    ],
    [
      'a call of a known tool with a foreign revision',
      () => caller.post(listLeads(), { ...inSession(session), 'MCP-Protocol-Version': 'x' }),
    ],
    ['resources/read without an address', () => caller.rpc(session, 'resources/read', {})],
  ])(
    'given one message left, when %s is refused, then that has counted, as a message or as a read',
    async (_, ask) => {
      await leave(1);
      const answer = await ask();
      expect(answer.body.error).toBeDefined();
      const { status } = await ping();
      const read = await owner.api.get('/api/v1/me');
      const left = Number(read.headers.get('ratelimit-remaining'));
      expect({ status, left }).not.toEqual({ status: 200, left: 49 });
    },
  );

  it('given a call that asks for a task, which is not offered, when it is made, then it is an ordinary one', async () => {
    const asTask = { ...listLeads().params, task: { ttl: 1 } };
    const answer = await caller.rpc(session, 'tools/call', asTask);
    expect(answer.body.result.structuredContent.data).toEqual([]);
  });

  it('given protocol messages, when they are answered or refused, then neither reads nor writes have been counted', async () => {
    for (let n = 0; n < 3; n++) {
      await ping();
      await caller.rpc(session, 'tools/list', {});
      await caller.post('{', inSession(session));
      await ASK.GET(caller);
      await caller.delete(randomUUID());
      await call('nothing_here');
    }
    const read = await owner.api.get('/api/v1/me');
    const write = await owner.api.post(LEADS, {});
    const left = [read, write].map(({ headers }) => headers.get('ratelimit-remaining'));
    expect(left).toEqual(['49', '49']);
  });

  it('given requests without a key, when they are more than the reads of a minute, then they are 429', async () => {
    const alone = await start({ readsPerMinute: 3 });
    const statuses: number[] = [];
    for (const method of [...METHODS, ...METHODS]) {
      statuses.push((await ASK[method](stranger(alone))).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429, 429]);
    await callerOf(owner, alone).open();
  });
});

describe('Origin (MCP SDK: DNS rebinding)', () => {
  const ORIGIN = 'https://app.example';

  const initialize = (caller: McpCaller, origin: string) =>
    caller.initialize({}, { Origin: origin });

  it('given no Origin, when a request comes, then it passes', async () => {
    await mcp.open();
  });

  it.each([
    'http://localhost',
    'http://localhost:3000',
    'https://localhost:8443',
    'http://127.0.0.1',
    'http://127.0.0.1:6274',
    'https://127.0.0.1:1',
    'http://[::1]',
    'http://[::1]:65535',
  ])('given the default, when a page of %s asks, then it passes', async (origin) => {
    expect(await initialize(mcp, origin)).toMatchObject({ status: 200 });
  });

  it.each([
    'null',
    '',
    '*',
    'https://evil.example',
    'http://localhost.evil.example',
    'http://localhost:3000.evil.example',
    'http://evil.example:3000#localhost',
    'http://localhost@evil.example',
    'http://evil-localhost',
    'http://127.0.0.1.evil.example',
    'http://127.0.0.2',
    'http://10.0.0.1',
    'http://[::2]',
    'http://0.0.0.0:3000',
    'ftp://localhost',
    'file://',
    'chrome-extension://localhost',
    'localhost',
    'http://localhost/',
    'http://localhost:',
    'http://localhost, https://evil.example',
    'https://evil.example http://localhost',
  ])('given the default, when a page of "%s" asks, then it is 403', async (origin) => {
    expectRefusal(await initialize(mcp, origin), 403, 'origin_not_allowed');
    expectRefusal(await initialize(stranger(), origin), 403, 'origin_not_allowed');
  });

  it('given this very host by name, when a page of a foreign origin asks, then it is 403', async () => {
    const origin = `http://rebound.example:${app.port}`;
    expectRefusal(await initialize(mcp, origin), 403, 'origin_not_allowed');
  });

  it.each(['GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'OPTIONS', 'PROPFIND'])(
    'given a foreign Origin, when %s comes anywhere under /mcp, then it is 403 before everything else',
    async (method) => {
      const session = await mcp.open();
      for (const path of ['/mcp', '/mcp?x=1', '/mcp/', '/mcp/x', '/mcp/x/y?z', '/mcp/%E0%A4%A']) {
        for (const caller of [mcp, stranger()]) {
          const headers = { ...FOREIGN, ...inSession(session) };
          const answer = await caller.request(method, { path, headers });
          expectRefusal(answer, 403, 'origin_not_allowed');
          expect(answer.headers.get('www-authenticate')).toBeNull();
        }
      }
      await expectAlive(mcp, session);
    },
  );

  it('given a foreign Origin, when HEAD comes, then it is 403', async () => {
    const session = await mcp.open();
    const headers = { ...FOREIGN, ...inSession(session) };
    expect(await mcp.request('HEAD', { headers })).toMatchObject({ status: 403, body: undefined });
  });

  it('given a foreign Origin, when a preflight comes, then no page may ask', async () => {
    const headers = { ...FOREIGN, 'Access-Control-Request-Method': 'POST' };
    const answer = await stranger().request('OPTIONS', { headers });
    expectRefusal(answer, 403, 'origin_not_allowed');
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  it.each(['/api/v1/me', '/mcps', '/health/live', '/openapi.json'])(
    'given a foreign Origin, when %s is asked for, then it is answered as without one',
    async (path) => {
      const [without, foreign] = await Promise.all([
        mcp.request('GET', { path }),
        mcp.request('GET', { path, headers: FOREIGN }),
      ]);
      expect(foreign.status).toBe(without.status);
    },
  );

  describe('where MCP_ALLOWED_ORIGINS and CORS_ORIGINS are set', () => {
    const preflight = {
      Origin: ORIGIN,
      'Access-Control-Request-Method': 'DELETE',
      'Access-Control-Request-Headers': 'authorization, mcp-session-id, last-event-id',
    };
    let open: TestApp;
    let caller: McpCaller;

    beforeAll(async () => {
      const { mcpAllowedOrigins, corsOrigins } = readSettings({
        MCP_ALLOWED_ORIGINS: `${ORIGIN}, https://two.example:8443`,
        CORS_ORIGINS: `${ORIGIN}, https://rest.example`,
      });
      open = await start({ mcpAllowedOrigins, corsOrigins });
      caller = callerOf(tenant, open);
    });

    it.each([ORIGIN, 'https://two.example:8443'])(
      'given the list, when a page of %s on it asks, then it passes',
      async (origin) => {
        expect(await initialize(caller, origin)).toMatchObject({ status: 200 });
      },
    );

    it.each([
      'http://localhost:3000',
      'http://127.0.0.1',
      'http://app.example',
      'https://app.example:444',
      'https://app.example.evil.example',
      'https://x.app.example',
      'https://two.example',
      'https://rest.example',
      'loopback',
      'null',
    ])('given the list, when a page of %s asks, then it is 403', async (origin) => {
      expectRefusal(await initialize(caller, origin), 403, 'origin_not_allowed');
    });

    it('given the list, when no Origin comes, then it passes', async () => {
      await caller.open();
    });

    it('given a page of an allowed origin, when it asks, then it may read the session and the limits', async () => {
      const opened = await initialize(caller, ORIGIN);
      const refused = await caller.post('{', { Origin: ORIGIN });
      const session = opened.headers.get('mcp-session-id')!;
      const stream = await caller.listen(session, { Origin: ORIGIN });
      for (const { headers } of [opened, refused, stream]) {
        expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
        const exposed = headers.get('access-control-expose-headers')!.split(',');
        expect(exposed).toEqual(
          expect.arrayContaining(['Mcp-Session-Id', 'RateLimit-Reset', 'Retry-After']),
        );
      }
    });

    it('given a page of an allowed origin, when its browser asks beforehand, then it may send the headers of the protocol', async () => {
      const { status, headers } = await stranger(open).request('OPTIONS', { headers: preflight });
      expect(status).toBe(204);
      expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(headers.get('access-control-allow-methods')).toContain('DELETE');
      expect(headers.get('access-control-allow-headers')).toContain('mcp-session-id');
      expect(headers.get('access-control-allow-headers')).toContain('last-event-id');
    });
  });
});

describe('the probes of OAuth clients', () => {
  const PATHS = [
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
    '/register',
    '/authorize',
    '/token',
  ];

  it.each(PATHS)('given no key, when %s is asked for, then it is 404 in JSON', async (path) => {
    for (const caller of [stranger(), mcp]) {
      expectRefusal(await caller.request('GET', { path }), 404, 'not_found');
      const body = { client_name: 'test', redirect_uris: ['http://localhost:1'] };
      expectRefusal(await caller.request('POST', { path, body }), 404, 'not_found');
    }
    const answer = await stranger().request('GET', { path, headers: FOREIGN });
    expectRefusal(answer, 404, 'not_found');
    expect(answer.headers.get('www-authenticate')).toBeNull();
  });
});

describe('the log, a line a request', () => {
  let logging: TestApp;
  let text = '';

  beforeAll(async () => {
    setLogOutput({ write: (line) => (text += line) });
    logging = await start({ logLevel: 'trace', mcpMaxSessions: 2 });
  });
  afterAll(() => {
    setLogLevel('silent');
  });

  it('given sessions that are used and misused, when all that is logged, then it holds neither their ids nor a key', async () => {
    const other = await logging.organization();
    const owner = callerOf(tenant, logging);
    const revoked = await colleague(logging);
    const session = await owner.open(BATCHING);
    const theirs = await callerOf(revoked, logging).open();
    const named = inSession(session);
    const stream = await owner.listen(session);
    await ASK.GET(owner, theirs);
    const answers = [
      await owner.rpc(session, 'ping'),
      await owner.rpc(session, 'tools/call', { name: 'get_lead', arguments: { id: session } }),
      await owner.rpc(session, 'nothing/here', { session }),
      await owner.post([rpcRequest('ping'), rpcNotification('x')], named),
      await owner.post('{', named),
      await owner.request('POST', { path: `${MCP}?s=${session}`, body: rpcRequest('ping') }),
      await owner.request('GET', { path: `${MCP}/${session}`, headers: named }),
      await owner.request('GET', { headers: { ...named, 'Last-Event-ID': session } }),
      await ASK.POST(callerOf(other, logging), session),
      await ASK.DELETE(owner, randomUUID()),
      await owner.initialize(),
      await owner.initialize({}, FOREIGN),
      await ASK.POST(stranger(logging), session),
    ];
    expect(answers.map(({ status }) => status)).toEqual([
      200, 200, 200, 200, 400, 400, 404, 400, 403, 404, 503, 403, 401,
    ]);
    await logging.app.get(KeysService).revoke(revoked.key.id);
    await untilTrue(() => sessionOf(theirs, logging) === undefined);
    await owner.delete(session);
    expect(await stream.next()).toBeUndefined();

    const requests = () => text.match(/"msg":"request"/g)?.length ?? 0;
    // With the two that opened a session, the refused GET, the stream and the DELETE.
    await untilTrue(() => requests() === answers.length + 5);
    expect(text).toContain('"route":"/mcp"');
    const secrets = [session, theirs, ...[tenant, other, revoked].map(({ key }) => key.key)];
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    expect(text).not.toContain(tenant.key.key.slice(8));
  });
});
