import http from 'node:http';
import { Client as NewClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { SCOPES } from '../../../../src/platform/access/scopes.js';
import {
  FULL_SERVER_INFO,
  INSTRUCTIONS,
} from '../../../../src/modules/mcp/protocol/server-info.js';
import { SESSION_PROTOCOL_VERSIONS } from '../../../../src/modules/mcp/protocol/session-protocol.js';
import type { Answer } from '../../../../src/testing/api-client.js';
import {
  createLead,
  expectInvalid,
  type LeadRecord,
  LEADS,
} from '../../../../src/testing/factories.js';
import {
  sessionHeader,
  type McpHttpClient,
  mirrorHeaders,
  rpcNotification,
  rpcRequest,
  STATELESS_META,
  STATELESS_REVISION,
  statelessRequest,
} from '../../../../src/testing/mcp-client.js';
import { rawRequest } from '../../../../src/testing/raw-http.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import {
  expectRefusal,
  expectRpcError,
  mcpHelpers,
  statelessResultOf,
} from '../../../support/mcp/mcp-helpers.js';
import { openSessions } from '../../../support/mcp/open-sessions.js';
import { ALL_TOOLS } from '../../../support/mcp/tools.js';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
const LIST_LEADS = { name: 'list_leads', arguments: {} };

let app: TestApp;
let tenant: Tenant;
let lead: LeadRecord;
let mcp: McpHttpClient;
const { callerOf, start, stopAll } = mcpHelpers(() => app);
const { sessionsOf } = openSessions(() => app);

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
  lead = await createLead(tenant.api);
  mcp = callerOf(tenant);
});
afterAll(() => stopAll());

describe('the response to a stateless request', () => {
  it('to server/discover has the capabilities and the server info', async () => {
    expect(statelessResultOf(await mcp.statelessRpc('server/discover'))).toEqual({
      supportedVersions: [STATELESS_REVISION],
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true },
        prompts: {},
        completions: {},
      },
      instructions: INSTRUCTIONS,
      ttlMs: expect.any(Number) as number,
      cacheScope: 'public',
    });
  });

  it('to a list method equals that of a session, with a private cache hint', async () => {
    const session = await mcp.openSession();
    for (const method of [
      'tools/list',
      'prompts/list',
      'resources/list',
      'resources/templates/list',
    ]) {
      const { ttlMs, cacheScope, ...listed } = statelessResultOf(await mcp.statelessRpc(method));
      expect(listed).toEqual((await mcp.rpc(session, method)).body.result);
      expect({ ttlMs, cacheScope }).toEqual({ ttlMs: 300_000, cacheScope: 'private' });
    }
  });

  it('to tools/call and resources/read has the record of REST', async () => {
    const call = { name: 'get_lead', arguments: { id: lead.id } };
    expect(statelessResultOf(await mcp.statelessRpc('tools/call', call))).toEqual({
      content: [{ type: 'text', text: JSON.stringify(lead) }],
      structuredContent: lead,
    });
    const uri = `lead://${lead.id}`;
    expect(statelessResultOf(await mcp.statelessRpc('resources/read', { uri }))).toEqual({
      contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(lead) }],
      // It may change at any time.
      ttlMs: 0,
      cacheScope: 'private',
    });
  });

  it.each(['text', '', 0, -1, 2 ** 53 - 1])('has the id of the request: %j', async (id) => {
    expect((await mcp.statelessRpc('tools/list', {}, id)).body).toMatchObject({ id, result: {} });
  });

  it('to a notification is empty', async () => {
    const notification = rpcNotification('notifications/anything', { _meta: STATELESS_META });
    const { status, body } = await mcp.post(notification, mirrorHeaders(notification.method));
    expect({ status, body: body as unknown }).toEqual({ status: 202, body: undefined });
  });

  it('to subscriptions/listen without supported notifications ends at once', async () => {
    const notifications = { promptsListChanged: true, resourceSubscriptions: ['x://y'] };
    const params = { notifications };
    const response = await fetch(`${app.url}/mcp`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${tenant.key.key}`,
        'Content-Type': 'application/json',
        ...mirrorHeaders('subscriptions/listen'),
      },
      body: JSON.stringify(statelessRequest('subscriptions/listen', params, 'feed')),
    });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream\b/);
    const messages = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(
      ([, data]) => JSON.parse(data!) as unknown,
    );
    expect(messages).toMatchObject([
      { method: 'notifications/subscriptions/acknowledged', params: { notifications: {} } },
      { id: 'feed', result: { resultType: 'complete' } },
    ]);
  });

  it('requires no clientInfo and accepts Mcp-Name in Base64', async () => {
    const { [VERSION_KEY]: version, [CAPABILITIES_KEY]: capabilities } = STATELESS_META;
    const _meta = { [VERSION_KEY]: version, [CAPABILITIES_KEY]: capabilities };
    const name = `=?base64?${Buffer.from('list_leads').toString('base64')}?=`;
    const call = statelessRequest('tools/call', { ...LIST_LEADS, _meta });
    statelessResultOf(await mcp.post(call, mirrorHeaders('tools/call', { name })));
  });
});

describe('limits', () => {
  const READS = 3;
  const MESSAGES = 600;
  let limited: TestApp;
  let caller: McpHttpClient;
  let us: Tenant;

  beforeAll(async () => {
    limited = await start({ readsPerMinute: READS, writesPerMinute: 1 });
  });
  beforeEach(async () => {
    us = await limited.organization();
    caller = callerOf(us, limited);
  });

  const remaining = ({ headers }: Answer) => Number(headers.get('ratelimit-remaining'));

  it('count tool calls and resource reads, and no other methods', async () => {
    const uri = `lead://${lead.id}`;
    await caller.statelessRpc('server/discover');
    await caller.statelessRpc('tools/list');
    expect(remaining(await caller.statelessRpc('tools/call', LIST_LEADS))).toBe(READS - 1);
    expect(remaining(await caller.statelessRpc('resources/read', { uri }))).toBe(READS - 2);
    expect(remaining(await us.api.get(LEADS))).toBe(READS - 3);
    const create = { name: 'create_lead', arguments: { first_name: 'Ada' } };
    expect(remaining(await caller.statelessRpc('tools/call', create))).toBe(0);
  });

  it('are reported in the result of a call and in the error of a read, with headers', async () => {
    for (let read = 0; read < READS; read++) await us.api.get(LEADS);
    const call = await caller.statelessRpc('tools/call', LIST_LEADS);
    expect(resultOfFailure(call)).toMatchObject({ code: 'rate_limit_exceeded', retryable: true });
    const read = await caller.statelessRpc('resources/read', { uri: `lead://${lead.id}` });
    expectRpcError(read, 200, 429, { code: 'rate_limit_exceeded', retryable: true });
    for (const { headers } of [call, read]) {
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(headers.get('ratelimit-remaining')).toBe('0');
    }
  });

  it('apply to all other messages, whether they succeed or fail', async () => {
    const statuses: number[] = [];
    for (let sent = 0; sent < MESSAGES; sent += 50) {
      const ask = (_: unknown, n: number) => {
        if (n % 3 === 0) return caller.statelessRpc('tools/list');
        return n % 3 === 1
          ? caller.statelessRpc('nope')
          : caller.post(statelessRequest('tools/list'));
      };
      const answers = await Promise.all(Array.from({ length: 50 }, ask));
      statuses.push(...answers.map(({ status }) => status));
    }
    expect(statuses).not.toContain(429);
    expectRefusal(await caller.statelessRpc('tools/list'), 429, 'rate_limit_exceeded');
    statelessResultOf(await caller.statelessRpc('tools/call', LIST_LEADS));
    // A request with invalid headers does not call the tool.
    const unnamed = statelessRequest('tools/call', LIST_LEADS);
    expectRefusal(
      await caller.post(unnamed, mirrorHeaders('tools/call')),
      429,
      'rate_limit_exceeded',
    );
  });

  function resultOfFailure(answer: Answer) {
    const { _meta } = answer.body.result as { _meta: Record<string, unknown> };
    expect(answer.body).toMatchObject({ result: { isError: true, resultType: 'complete' } });
    return _meta['latitude/error'];
  }
});

describe('requests with and without sessions', () => {
  it('do not share the limit of sessions', async () => {
    await app.sql('delete from mcp_sessions');
    const narrow = await start({ mcpMaxSessions: 1 });
    const caller = callerOf(tenant, narrow);
    statelessResultOf(await caller.statelessRpc('tools/list'));
    const session = await caller.openSession();
    statelessResultOf(await caller.statelessRpc('tools/call', LIST_LEADS));
    const answer = await caller.statelessRpc('tools/list');
    expect(answer.headers.get('mcp-session-id')).toBeNull();
    expect(sessionsOf(narrow)).toMatchObject([{ id: session, isStreaming: false }]);
    expect(await caller.initialize()).toMatchObject({ status: 503 });
    expect(await caller.rpc(session, 'ping')).toMatchObject({ status: 200 });
  });

  it.each(['of another key', 'of no session'])(
    'ignore an Mcp-Session-Id %s if they are stateless',
    async (which) => {
      const other = callerOf(await app.organization());
      const session = which === 'of another key' ? await other.openSession() : 'x';
      const headers = { ...mirrorHeaders('tools/call', LIST_LEADS), ...sessionHeader(session) };
      const call = statelessRequest('tools/call', LIST_LEADS);
      const { structuredContent } = statelessResultOf(await mcp.post(call, headers));
      expect(structuredContent).toMatchObject({ data: [{ id: lead.id }] });
    },
  );

  it('refuse the stateless protocol version in the header of a session', async () => {
    const headers = {
      ...sessionHeader(await mcp.openSession()),
      'MCP-Protocol-Version': STATELESS_REVISION,
    };
    expectInvalid(await mcp.post(rpcRequest('ping'), headers), 'MCP-Protocol-Version');
  });

  it('are not mixed up when they are concurrent and have the same JSON-RPC id', async () => {
    const parties = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const owner = await app.organization();
        const { id } = await createLead(owner.api);
        const caller = callerOf(owner);
        return { id, caller, session: await caller.openSession() };
      }),
    );
    const asked = parties.flatMap((party) => Array.from({ length: 5 }, () => party));
    const answers = await Promise.all(
      asked.flatMap(({ caller, session }) => [
        caller.statelessRpc('tools/call', LIST_LEADS, 1),
        caller.rpc(session, 'tools/call', LIST_LEADS, 1),
      ]),
    );
    const listed = answers.map(({ body }) => {
      const { result } = body as { result: { structuredContent: { data: LeadRecord[] } } };
      return result.structuredContent.data.map(({ id }) => id);
    });
    expect(listed).toEqual(asked.flatMap(({ id }) => [[id], [id]]));
  });

  it('can share one connection', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const session = await mcp.openSession();
    const sockets = new Set<unknown>();
    const post = (body: object, headers: Record<string, string>) =>
      rawRequest(Number(new URL(app.url).port), {
        method: 'POST',
        path: '/mcp',
        headers: Object.entries({
          Host: '127.0.0.1',
          Authorization: `Bearer ${tenant.key.key}`,
          'Content-Type': 'application/json',
          'Content-Length': String(Buffer.byteLength(JSON.stringify(body))),
          ...headers,
        }).flat(),
        body: JSON.stringify(body),
        agent,
        onSocket: (socket) => sockets.add(socket),
      });
    for (let turn = 0; turn < 3; turn++) {
      statelessResultOf(await post(statelessRequest('tools/list'), mirrorHeaders('tools/list')));
      const { body } = await post(rpcRequest('ping', {}, turn), sessionHeader(session));
      expect(body).toEqual({ jsonrpc: '2.0', id: turn, result: {} });
    }
    expect(sockets.size).toBe(1);
    agent.destroy();
  });

  it.each(SCOPES)('list the same tools and templates for the scope %s', async (scope) => {
    const caller = callerOf(await app.key(tenant.id, [scope]));
    const session = await caller.openSession();
    for (const method of ['tools/list', 'resources/templates/list']) {
      const {
        ttlMs: _,
        cacheScope: __,
        ...listed
      } = statelessResultOf(await caller.statelessRpc(method));
      expect(listed).toEqual((await caller.rpc(session, method)).body.result);
    }
  });
});

describe('the client of SDK 2', () => {
  it.each([
    ['with its default settings', undefined, SESSION_PROTOCOL_VERSIONS[0]],
    ['that negotiates the revision', 'auto', STATELESS_REVISION],
    [
      'that requires the revision without sessions',
      { pin: STATELESS_REVISION },
      STATELESS_REVISION,
    ],
  ] as const)('%s lists and calls tools, and reads resources', async (_, mode, revision) => {
    const owner = await app.organization();
    const { id } = await createLead(owner.api);
    const client = new NewClient(
      { name: 'agent', version: '1' },
      mode && { versionNegotiation: { mode } },
    );
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', app.url), {
      requestInit: { headers: { Authorization: `Bearer ${owner.key.key}` } },
    });
    await client.connect(transport);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect(client.getServerVersion()).toEqual(FULL_SERVER_INFO);
    expect(client.getInstructions()).toBe(INSTRUCTIONS);
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(ALL_TOOLS.length);
    const found = await client.callTool(LIST_LEADS);
    expect(found.structuredContent).toMatchObject({ data: [{ id }] });
    const failed = await client.callTool({ name: 'get_lead', arguments: { id: 'x' } });
    expect(failed).toMatchObject({ isError: true });
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ name }) => name)).toContain('lead');
    const { contents } = await client.readResource({ uri: `lead://${id}` });
    expect(contents).toHaveLength(1);
    await expect(client.callTool({ name: 'nope' })).rejects.toMatchObject({ code: -32602 });
    await expect(client.readResource({ uri: 'lead://x' })).rejects.toThrow('not_found');
    if (transport.sessionId !== undefined) await transport.terminateSession();
    await client.close();
  });
});
