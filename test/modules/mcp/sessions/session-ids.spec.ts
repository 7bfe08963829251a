import { randomUUID } from 'node:crypto';
import {
  initializeRequest,
  sessionHeader,
  type McpHttpClient,
  rpcNotification,
  rpcRequest,
} from '../../../../src/testing/mcp-client.js';
import { createLead, updateLead } from '../../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';
import {
  expectAlive,
  expectRefusal,
  MCP,
  mcpHelpers,
  METHODS,
  SEND,
  terminatedSession,
} from '../../../support/mcp/mcp-helpers.js';

let app: TestServer;
let tenant: Tenant;
let mcp: McpHttpClient;
const { callerOf, stopAll } = mcpHelpers(() => app);

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
  mcp = callerOf(tenant);
});
afterAll(() => stopAll());

describe('the session id of a request', () => {
  it('is required by GET: 400 no_session', async () => {
    expectRefusal(await SEND.GET(mcp), 400, 'no_session');
  });

  it('is 400 no_session on GET if the session is unknown or terminated', async () => {
    for (const session of [randomUUID(), 'x', '', '__proto__', await terminatedSession(mcp)]) {
      expectRefusal(await SEND.GET(mcp, session), 400, 'no_session');
    }
  });

  it.each(['ping', 'tools/list', 'tools/call', 'nothing/here'])(
    'is required by POST of %s: 400 no_session',
    async (method) => {
      expectRefusal(await mcp.post(rpcRequest(method, { name: 'list_leads' })), 400, 'no_session');
    },
  );

  it('is required by POST of notifications and responses: 400 no_session', async () => {
    const messages = [
      rpcNotification('notifications/initialized'),
      rpcNotification('initialize'),
      { jsonrpc: '2.0', id: 1, result: {} },
    ];
    for (const message of messages) expectRefusal(await mcp.post(message), 400, 'no_session');
  });

  it('is required by DELETE: 400 no_session', async () => {
    expectRefusal(await mcp.delete(), 400, 'no_session');
  });

  it.each(['POST', 'DELETE'] as const)(
    'is 404 not_found on %s if the session is unknown or terminated',
    async (method) => {
      for (const session of [randomUUID(), 'x', '__proto__', await terminatedSession(mcp)]) {
        expectRefusal(await SEND[method](mcp, session), 404, 'not_found');
      }
    },
  );

  it.each(METHODS)(
    'is 403 session_mismatch on %s with another key, and the session stays open',
    async (method) => {
      const session = await mcp.openSession();
      const others = [await app.key(tenant.id), await app.organization()];
      for (const other of others) {
        expectRefusal(await SEND[method](callerOf(other), session), 403, 'session_mismatch');
      }
      await expectAlive(mcp, session);
    },
  );

  it('does not let another key end the stream of the session', async () => {
    const owner = await app.key(tenant.id);
    const caller = callerOf(owner);
    const session = await caller.openSession('2025-06-18');
    const stream = await caller.openStream(session);
    for (const method of METHODS) {
      expectRefusal(await SEND[method](mcp, session), 403, 'session_mismatch');
    }
    const { id } = await createLead(owner.api);
    const uri = `lead://${id}`;
    await caller.rpc(session, 'resources/subscribe', { uri });
    await updateLead(owner.api, id, { notes: 'x' });
    expect((await stream.nextMessage()).message).toMatchObject({ params: { uri } });
    stream.disconnect();
  });

  it.each<[string, Parameters<McpHttpClient['request']>[1] & object]>([
    ['unparseable JSON', { body: '{' }],
    ['a body that is not JSON-RPC', { body: '{}' }],
    ['no body', {}],
    ['another content type', { body: 'x', headers: { 'Content-Type': 'text/plain' } }],
    ['a body that is too large', { body: ' '.repeat(300_000) }],
    ['an unknown revision', { body: '{}', headers: { 'MCP-Protocol-Version': 'x' } }],
    ['an unknown parameter', { body: rpcRequest('ping'), path: `${MCP}?x=1` }],
    ['a batch', { body: [rpcRequest('ping')] }],
    ['a batch with initialize', { body: [initializeRequest()] }],
    ['a notification', { body: rpcNotification('initialize') }],
  ])('is checked before %s on POST', async (_, { headers, ...options }) => {
    const session = await callerOf(await app.key(tenant.id)).openSession();
    const ask = (id: string) =>
      mcp.request('POST', { ...options, headers: { ...headers, ...sessionHeader(id) } });
    expectRefusal(await ask(session), 403, 'session_mismatch');
    expectRefusal(await ask(randomUUID()), 404, 'not_found');
  });

  it('is checked before the query and the other headers of GET and DELETE', async () => {
    const session = await callerOf(await app.key(tenant.id)).openSession();
    const headers = { 'Last-Event-ID': 'x', 'MCP-Protocol-Version': 'x' };
    const ask = (method: string, id: string) =>
      mcp.request(method, { path: `${MCP}?x=1`, headers: { ...headers, ...sessionHeader(id) } });
    expectRefusal(await ask('GET', session), 403, 'session_mismatch');
    expectRefusal(await ask('GET', 'x'), 400, 'no_session');
    expectRefusal(await ask('DELETE', session), 403, 'session_mismatch');
    expectRefusal(await ask('DELETE', 'x'), 404, 'not_found');
  });
});
