import { readSettings } from '../../../../src/platform/config/settings.js';
import type { Answer } from '../../../../src/testing/api-client.js';
import { LEADS } from '../../../../src/testing/factories.js';
import {
  initializeRequest,
  sessionHeader,
  type McpHttpClient,
  mirrorHeaders,
  rpcNotification,
  rpcRequest,
  STATELESS_META,
} from '../../../../src/testing/mcp-client.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';
import {
  expectAlive,
  expectRefusal,
  expectResult,
  MCP,
  mcpHelpers,
  METHODS,
  VERSION_WITH_BATCHES,
  VERSIONS_WITHOUT_BATCHES,
} from '../../../support/mcp/mcp-helpers.js';

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

describe('the body of a POST', () => {
  let session: string;
  let inBatching: string;

  beforeAll(async () => {
    [session, inBatching] = await Promise.all([
      mcp.openSession(),
      mcp.openSession(VERSION_WITH_BATCHES),
    ]);
  });

  /** Returns the responses without and with a session. */
  function post(body: unknown, headers: Record<string, string> = {}): Promise<Answer[]> {
    return Promise.all([
      mcp.post(body, headers),
      mcp.post(body, { ...headers, ...sessionHeader(session) }),
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
    [{ jsonrpc: '1.0', id: {}, method: null, params: 1 }, 'jsonrpc', 'id', 'method', 'params'],
    [{ ...rpcRequest('ping'), result: {} }, 'body'],
    [[rpcRequest('ping'), { jsonrpc: '2.0' }], 'method'],
    [[rpcRequest('ping'), 1], 'body'],
  ])('answers 400 to %j and names the fields', async (body, ...fields) => {
    for (const answer of await post(body)) {
      expectRefusal(answer, 400, 'validation_error', ...fields);
    }
  });

  it('answers 400 to a request without a body', async () => {
    for (const answer of await post(undefined)) {
      expectRefusal(answer, 400, 'validation_error', 'body');
    }
  });

  it.each<[string, unknown, string]>([
    ['no clientInfo', { clientInfo: undefined }, 'params.clientInfo'],
    ['a clientInfo without its name', { clientInfo: { version: '1' } }, 'params.clientInfo.name'],
    ['capabilities that are no object', { capabilities: 1 }, 'params.capabilities'],
    ['no protocolVersion', { protocolVersion: undefined }, 'params.protocolVersion'],
    ['a protocolVersion that is not a string', { protocolVersion: 2025 }, 'params.protocolVersion'],
  ])('answers 400 to initialize with %s and names the parameter', async (_, params, field) => {
    const answer = await mcp.initialize(params as object);
    expectRefusal(answer, 400, 'validation_error', field);
    expect(answer.headers.get('mcp-session-id')).toBeNull();
  });

  it('answers 400 to initialize without parameters', async () => {
    expectRefusal(await mcp.post(rpcRequest('initialize')), 400, 'validation_error', 'params');
  });

  it.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'text/json'])(
    'answers 415 to the content type %s',
    async (type) => {
      const body = JSON.stringify(rpcRequest('ping'));
      for (const answer of await post(body, { 'Content-Type': type })) {
        expectRefusal(answer, 415, 'unsupported_media_type');
      }
    },
  );

  it('answers 413 to a body over the limit, and accepts one at the limit', async () => {
    const { bodyLimitBytes } = readSettings({});
    const atLimit = JSON.stringify(rpcRequest('ping', {}, 1)).padEnd(bodyLimitBytes);
    for (const answer of await post(`${atLimit} `)) expectRefusal(answer, 413, 'payload_too_large');
    expectResult(await mcp.post(atLimit, sessionHeader(session)), 1, {});
  });

  describe('batches', () => {
    it('answers the requests of a batch in an array, in a session of 2025-03-26', async () => {
      const batch = [
        rpcRequest('ping', {}, 1),
        rpcNotification('notifications/initialized'),
        rpcRequest('nothing/here', {}, 'b'),
        { jsonrpc: '2.0', id: 9, result: {} },
        rpcRequest('tools/call', { name: 'list_leads', arguments: {} }, 2),
      ];
      const { status, body } = await mcp.post(batch, sessionHeader(inBatching));
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

    it('answers a batch of one request with an array', async () => {
      const { body } = await mcp.post([rpcRequest('ping', {}, 1)], sessionHeader(inBatching));
      expect(body).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
    });

    it('answers both requests of a batch that have the same id', async () => {
      const batch = [rpcRequest('ping', {}, 1), rpcRequest('ping', {}, 1)];
      const { body } = await mcp.post(batch, sessionHeader(inBatching));
      expect(body).toEqual(batch.map(({ id }) => ({ jsonrpc: '2.0', id, result: {} })));
    });

    it('answers 202 without a body to a batch without requests', async () => {
      const batch = [rpcNotification('notifications/initialized'), rpcNotification('x')];
      const answer = await mcp.post(batch, sessionHeader(inBatching));
      expect(answer).toMatchObject({ status: 202, body: undefined });
    });

    it.each(VERSIONS_WITHOUT_BATCHES)(
      'answers 400 to a batch in a session of %s',
      async (revision) => {
        const other = await mcp.openSession(revision);
        const batches = [[rpcRequest('ping')], [rpcNotification('notifications/initialized')], []];
        for (const batch of batches) {
          const answer = await mcp.post(batch, sessionHeader(other));
          expectRefusal(answer, 400, 'validation_error', 'body');
        }
        await expectAlive(mcp, other);
      },
    );

    it('answers 400 to an empty batch', async () => {
      for (const headers of [{}, sessionHeader(session), sessionHeader(inBatching)]) {
        expectRefusal(await mcp.post([], headers), 400, 'validation_error', 'body');
      }
    });

    it('answers 400 to a batch with initialize in a session, and executes nothing', async () => {
      const call = { name: 'create_lead', arguments: { first_name: 'Never' } };
      const owner = await app.organization();
      const caller = callerOf(owner);
      const own = await caller.openSession(VERSION_WITH_BATCHES);
      const batches = [
        [initializeRequest()],
        [rpcRequest('tools/call', call), initializeRequest()],
      ];
      for (const batch of batches) {
        const answer = await caller.post(batch, sessionHeader(own));
        expectRefusal(answer, 400, 'validation_error', 'body');
      }
      expect(await owner.api.get(LEADS)).toMatchObject({ body: { meta: { total: 0 } } });
    });

    it('answers 400 to a batch with initialize without a session', async () => {
      const initialize = initializeRequest({ protocolVersion: VERSION_WITH_BATCHES });
      const batches = [[initialize], [initialize, rpcRequest('ping')], [initialize, initialize]];
      for (const batch of batches) {
        const answer = await mcp.post(batch);
        expectRefusal(answer, 400, 'validation_error', 'body');
        expect(answer.headers.get('mcp-session-id')).toBeNull();
      }
    });

    it('answers 400 no_session to a batch without a session', async () => {
      expectRefusal(await mcp.post([rpcRequest('ping')]), 400, 'no_session');
    });
  });
});

describe('the headers and the query of a request', () => {
  let session: string;

  beforeAll(async () => {
    session = await mcp.openSession();
  });

  it.each(METHODS)('answers 400 to %s with an unsupported MCP-Protocol-Version', async (method) => {
    const body = method === 'POST' ? rpcRequest('ping') : undefined;
    for (const revision of ['x', '1999-01-01', '2026-07-28']) {
      const headers = { ...sessionHeader(session), 'MCP-Protocol-Version': revision };
      const answer = await mcp.request(method, { body, headers });
      expectRefusal(answer, 400, 'validation_error', 'MCP-Protocol-Version');
    }
    await expectAlive(mcp, session);
  });

  it('accepts every supported MCP-Protocol-Version', async () => {
    for (const revision of [...VERSIONS_WITHOUT_BATCHES, VERSION_WITH_BATCHES]) {
      const headers = { ...sessionHeader(session), 'MCP-Protocol-Version': revision };
      expectResult(await mcp.post(rpcRequest('ping', {}, 1), headers), 1, {});
    }
  });

  it('answers 400 to initialize with an unsupported MCP-Protocol-Version', async () => {
    const answer = await mcp.initialize({}, { 'MCP-Protocol-Version': 'x' });
    expectRefusal(answer, 400, 'validation_error', 'MCP-Protocol-Version');
  });

  it.each(METHODS)('answers 400 to %s with an unknown query parameter', async (method) => {
    const body = method === 'POST' ? rpcRequest('ping') : undefined;
    const path = `${MCP}?session=${session}`;
    const answer = await mcp.request(method, { path, body, headers: sessionHeader(session) });
    expectRefusal(answer, 400, 'validation_error', 'session');
    await expectAlive(mcp, session);
  });

  it.each(['x', '-1', '1.5', '01x', '0x0', '99999999999999999999', 'null'])(
    'answers 400 to the Last-Event-ID %s, which is not the id of an event',
    async (id) => {
      const headers = { ...sessionHeader(session), 'Last-Event-ID': id };
      const answer = await mcp.request('GET', { headers });
      expectRefusal(answer, 400, 'validation_error', 'Last-Event-ID');
    },
  );

  it('names every invalid header and parameter of a GET', async () => {
    const headers = {
      'MCP-Protocol-Version': 'x',
      'Last-Event-ID': 'x',
      ...sessionHeader(session),
    };
    const answer = await mcp.request('GET', { path: `${MCP}?y=1`, headers });
    expectRefusal(answer, 400, 'validation_error', 'MCP-Protocol-Version', 'Last-Event-ID', 'y');
  });

  it.each(['PUT', 'PATCH', 'PROPFIND'])(
    'answers 404 to %s, with the supported methods in Allow',
    async (method) => {
      const answer = await mcp.request(method, { headers: sessionHeader(session) });
      expectRefusal(answer, 404, 'not_found');
      expect(answer.headers.get('allow')).toBe('DELETE, GET, HEAD, POST');
      expectRefusal(await callerWithoutKey().request(method), 401, 'unauthorized');
    },
  );

  it.each(['/mcp/', '/mcp/x', '/MCP', '/mcp%2f'])('answers 404 on the path %s', async (path) => {
    expectRefusal(await mcp.request('POST', { path, body: initializeRequest() }), 404, 'not_found');
  });
});

describe('null in the parameters of a message is as if it were absent', () => {
  const clientInfo = { name: 'test', version: '1', title: null, websiteUrl: null };

  it.each<[string, object]>([
    ['capabilities, without which a client has none', { capabilities: null }],
    ['capabilities, as if left out', { capabilities: undefined }],
    ['a capability', { capabilities: { roots: { listChanged: null }, sampling: null } }],
    ['_meta', { _meta: null }],
    ['a field of clientInfo', { clientInfo }],
  ])('for initialize: %s', async (_, params) => {
    for (const protocolVersion of ['2025-11-25', '2025-03-26', '2024-11-05']) {
      const answer = await mcp.initialize({ protocolVersion, ...params });
      expect(answer.status).toBe(200);
      await expectAlive(mcp, answer.headers.get('mcp-session-id')!);
    }
  });

  it('for initialize: a required parameter', async () => {
    expectRefusal(
      await mcp.initialize({ clientInfo: null }),
      400,
      'validation_error',
      'params.clientInfo',
    );
  });

  const REQUESTS: [method: string, params: object | null][] = [
    ['ping', null],
    ['tools/list', null],
    ['tools/list', { cursor: null, _meta: null }],
    ['resources/list', { cursor: null }],
    ['resources/templates/list', { _meta: { progressToken: null } }],
    ['prompts/list', null],
    [
      'prompts/get',
      { name: 'plan_my_day', arguments: { date: '2026-01-01', assigned_to_user_id: null } },
    ],
    ['tools/call', { name: 'whoami', arguments: null, _meta: null }],
    ['tools/call', { name: 'list_leads', arguments: { page: null } }],
    [
      'completion/complete',
      {
        ref: { type: 'ref/prompt', name: 'plan_my_day', title: null },
        argument: { name: 'date', value: '' },
        context: null,
      },
    ],
  ];

  it.each(REQUESTS)('for %s with %j in a session', async (method, params) => {
    const request = { jsonrpc: '2.0', id: 1, method, params };
    for (const version of [VERSION_WITH_BATCHES, ...VERSIONS_WITHOUT_BATCHES]) {
      const named = sessionHeader(await mcp.openSession(version));
      const { status, body } = await mcp.post(request, named);
      expect({ status, body: body as unknown }).toMatchObject({ status: 200, body: { id: 1 } });
      expect(body).toHaveProperty('result');
      expect(body).not.toHaveProperty('result.isError');
      if (version !== VERSION_WITH_BATCHES) continue;
      expect((await mcp.post([request], named)).body).toMatchObject([{ result: {} }]);
    }
  });

  it.each(REQUESTS.filter(([method]) => method !== 'ping'))(
    'for %s with %j without a session',
    async (method, params) => {
      const _meta = {
        ...STATELESS_META,
        'io.modelcontextprotocol/clientInfo': clientInfo,
        'io.modelcontextprotocol/clientCapabilities': { elicitation: null, sampling: null },
        progressToken: null,
      };
      const { name } = (params ?? {}) as { name?: string };
      const request = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } };
      const { status, body } = await mcp.post(request, mirrorHeaders(method, { name }));
      expect({ status, body: body as unknown }).toMatchObject({ status: 200, body: { id: 1 } });
      expect(body).toHaveProperty('result');
      expect(body).not.toHaveProperty('result.isError');
    },
  );

  it('for prompts/get: a required argument', async () => {
    for (const args of [null, { date: null }]) {
      const session = await mcp.openSession();
      const params = { name: 'plan_my_day', arguments: args };
      const { body } = await mcp.rpc(session, 'prompts/get', params);
      expect(body).toMatchObject({ error: { message: 'validation_error: date is required.' } });
    }
  });

  it('for a notification', async () => {
    const named = sessionHeader(await mcp.openSession());
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized', params: null };
    expect((await mcp.post(notification, named)).status).toBe(202);
  });
});
