import { createLead, expectInvalid, type LeadRecord } from '../../../../src/testing/factories.js';
import {
  initializeRequest,
  McpHttpClient,
  mirrorHeaders,
  rpcRequest,
  STATELESS_META,
  STATELESS_REVISION,
  statelessRequest,
} from '../../../../src/testing/mcp-client.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';
import { expectRefusal, expectRpcError, mcpHelpers } from '../../../support/mcp/mcp-helpers.js';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
const LIST_LEADS = { name: 'list_leads', arguments: {} };
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const HEADER_MISMATCH = -32020;
const UNSUPPORTED_VERSION = -32022;

let app: TestServer;
let tenant: Tenant;
let lead: LeadRecord;
let mcp: McpHttpClient;
const { callerOf, stopAll } = mcpHelpers(() => app);

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
  lead = await createLead(tenant.api);
  mcp = callerOf(tenant);
});
afterAll(() => stopAll());

describe('a stateless request that is refused with a JSON-RPC error', () => {
  /** A call whose `_meta` is this. */
  const declaring = (
    _meta: unknown,
    headers: Record<string, string> = mirrorHeaders('tools/call', LIST_LEADS),
  ) =>
    mcp.post(
      rpcRequest('tools/call', { ...LIST_LEADS, ...(_meta !== undefined && { _meta }) }),
      headers,
    );
  const without = (key: string) =>
    Object.fromEntries(Object.entries(STATELESS_META).filter(([name]) => name !== key));

  it.each([
    ['no _meta', undefined],
    ['no revision', without(VERSION_KEY)],
    ['no capabilities', without(CAPABILITIES_KEY)],
    ['a revision that is no text', { ...STATELESS_META, [VERSION_KEY]: 1 }],
    ['capabilities that are no object', { ...STATELESS_META, [CAPABILITIES_KEY]: 'x' }],
  ])('400 and -32602: %s', async (_, meta) => {
    expectRpcError(await declaring(meta), 400, INVALID_PARAMS);
  });

  it.each(['2099-01-01', '2025-11-25', 'x', ''])(
    '400 and -32022 with the supported revisions: the revision "%s"',
    async (requested) => {
      const headers = {
        ...mirrorHeaders('tools/call', LIST_LEADS),
        'MCP-Protocol-Version': requested,
      };
      const answer = await declaring({ ...STATELESS_META, [VERSION_KEY]: requested }, headers);
      const data = { supported: [STATELESS_REVISION], requested };
      expectRpcError(answer, 400, UNSUPPORTED_VERSION, data);
    },
  );

  it.each<[string, Record<string, string>]>([
    ['no MCP-Protocol-Version', { 'Mcp-Method': 'tools/call', 'Mcp-Name': 'list_leads' }],
    ['no Mcp-Method', { 'MCP-Protocol-Version': STATELESS_REVISION, 'Mcp-Name': 'list_leads' }],
    ['no Mcp-Name', mirrorHeaders('tools/call')],
    [
      'another MCP-Protocol-Version',
      { ...mirrorHeaders('tools/call', LIST_LEADS), 'MCP-Protocol-Version': '2025-11-25' },
    ],
    ['another Mcp-Method', mirrorHeaders('tools/list', LIST_LEADS)],
    ['Mcp-Method in other letters', mirrorHeaders('Tools/Call', LIST_LEADS)],
    ['another Mcp-Name', mirrorHeaders('tools/call', { name: 'list_tasks' })],
    ['Mcp-Name that is no Base64', mirrorHeaders('tools/call', { name: '=?base64?*?=' })],
    ['Mcp-Name beyond ASCII', mirrorHeaders('tools/call', { name: 'list_leäds' })],
  ])('400 and -32020: %s', async (_, headers) => {
    expectRpcError(await declaring(STATELESS_META, headers), 400, HEADER_MISMATCH);
  });

  it('400 and -32020: a URI in Mcp-Name that differs from the message', async () => {
    const read = statelessRequest('resources/read', { uri: `lead://${lead.id}` });
    const headers = mirrorHeaders('resources/read', { uri: 'lead://x' });
    expectRpcError(await mcp.post(read, headers), 400, HEADER_MISMATCH);
  });

  it.each(['nope', '', 'toString', '__proto__', 'initialize', 'ping', 'logging/setLevel'])(
    '404 and -32601: the method "%s"',
    async (method) => {
      expectRpcError(await mcp.statelessRpc(method), 404, METHOD_NOT_FOUND);
    },
  );

  it('400 and -32600: several messages', async () => {
    const list = statelessRequest('tools/list');
    expectRpcError(await mcp.post([list, list], mirrorHeaders('tools/list')), 400, INVALID_REQUEST);
  });

  it('400 and -32020: initialize that declares the revision without sessions', async () => {
    const headers = { 'MCP-Protocol-Version': STATELESS_REVISION };
    expectRpcError(await mcp.post(initializeRequest(), headers), 400, HEADER_MISMATCH);
  });

  it.each(['lead://x', 'nope://x', 'lead://01a1fbde-995e-72a3-a032-ab1c988b9794', 'x', ''])(
    '200 and -32602: the URI "%s", which names nothing',
    async (uri) => {
      const data = { uri, code: 'not_found', retryable: false };
      expectRpcError(await mcp.statelessRpc('resources/read', { uri }), 200, INVALID_PARAMS, data);
    },
  );

  it('200 and the HTTP status of REST as the code: a record that the scopes do not allow', async () => {
    const limited = callerOf(await app.key(tenant.id, ['tasks:read']));
    const answer = await limited.statelessRpc('resources/read', { uri: `lead://${lead.id}` });
    expectRpcError(answer, 200, 403, { code: 'insufficient_scope' });
  });
});

describe('a stateless request that is refused with an error of REST', () => {
  const list = JSON.stringify(statelessRequest('tools/list'));
  const mirror = mirrorHeaders('tools/list');

  it('401 without a key', async () => {
    const answer = await new McpHttpClient(app.url).statelessRpc('tools/list');
    expectRefusal(answer, 401, 'unauthorized');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="latitude"');
  });

  it('403 for a foreign Origin', async () => {
    const headers = { ...mirror, Origin: 'https://evil.example' };
    expectRefusal(await mcp.post(list, headers), 403, 'origin_not_allowed');
  });

  it('413 for a large body and 415 for text/plain', async () => {
    const padded = list + ' '.repeat(300_000);
    expectRefusal(await mcp.post(padded, mirror), 413, 'payload_too_large');
    const headers = { ...mirror, 'Content-Type': 'text/plain' };
    expectRefusal(await mcp.post(list, headers), 415, 'unsupported_media_type');
  });

  it.each([
    ['no JSON', '{'],
    ['nothing', ''],
    ['a key twice', list.replace('{', '{"id":7,')],
    ['a number that would be another', list.replace('"_meta"', '"n":9007199254740993,"_meta"')],
    ['an id that is null', list.replace(/"id":\d+/, '"id":null')],
  ])('400 for %s', async (_, body) => {
    expectRefusal(await mcp.post(body, mirror), 400, 'validation_error');
  });

  it('400 for a query', async () => {
    const answer = await mcp.request('POST', { path: '/mcp?x=1', body: list, headers: mirror });
    expectInvalid(answer, 'x');
  });

  it.each(['GET', 'DELETE'])('400 for %s, which belongs to sessions', async (method) => {
    const headers = { 'MCP-Protocol-Version': STATELESS_REVISION };
    expectRefusal(await mcp.request(method, { headers }), 400, 'no_session');
  });
});
