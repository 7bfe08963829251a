import { trimText } from '../../src/platform/fields/kinds/text.js';
import {
  createLead,
  dataOf,
  expectError,
  LEADS,
  type LeadRecord,
} from '../../src/testing/factories.js';
import { TestApp } from '../../src/testing/test-app.js';
import type { Tenant } from '../../src/testing/test-server.js';
import { sessionHeader, McpHttpClient, rpcRequest } from '../../src/testing/mcp-client.js';
import { rawRequest } from '../../src/testing/raw-http.js';
import { pathOf, RECORD_ROUTES } from '../../src/testing/routes.js';
import { RECORD_TOOLS } from '../support/mcp/tools.js';
import { expectWellFormed } from './support/answers.js';
import type { Json } from './support/json.js';
import { codePoints, isBlank, NAUGHTY } from './support/texts.js';

const VISIBLE = /^[!-~]{1,128}$/;
/** Values that HTTP allows in a header. */
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
});
afterAll(() => app.stop());

it('the Big List of Naughty Strings is available', () => {
  expect(NAUGHTY.length).toBeGreaterThan(400);
});

it('finds a lead whose name and status are a naughty string', async () => {
  const short = NAUGHTY.filter((text) => !isBlank(text) && codePoints(trimText(text)) <= 50);
  for (const text of short) {
    const { id } = await createLead(tenant.api, { first_name: text, status: text });
    for (const name of ['search', 'status']) {
      const query = new URLSearchParams({ [name]: text, limit: '100' });
      const found = dataOf<LeadRecord[]>(await tenant.api.get(`${LEADS}?${query}`));
      expect({ name, text, found: found.map((one) => one.id) }).toMatchObject({
        found: expect.arrayContaining([id]) as string[],
      });
    }
    await tenant.api.delete(`${LEADS}/${id}`);
  }
});

it('answers 404 to a naughty string as an id in the path', async () => {
  for (const [index, text] of NAUGHTY.entries()) {
    const route = RECORD_ROUTES[index % RECORD_ROUTES.length]!;
    const path = pathOf(route, encodeURIComponent(text));
    const body = await route.body?.(tenant);
    const answer = await tenant.api.request(route.method, path, { body });
    expectWellFormed(answer);
    expectError(answer, 404, 'not_found');
  }
});

it('keeps a naughty string as X-Request-Id if it is valid, and replaces it otherwise', async () => {
  const authorization = `Bearer ${tenant.key.key}`;
  const sendable = NAUGHTY.filter((text) => SENDABLE.test(text));
  expect(sendable.length).toBeGreaterThan(200);
  for (const text of sendable) {
    const headers = ['Host', 'localhost', 'Authorization', authorization, 'X-Request-Id', text];
    const answer = await rawRequest(app.port, { method: 'GET', path: '/api/v1/me', headers });
    expectWellFormed(answer);
    const id = answer.headers.get('x-request-id');
    const given = text.replaceAll(/^[ \t]+|[ \t]+$/g, '');
    if (VISIBLE.test(given)) expect(id).toBe(given);
    else expect(id).toMatch(/^[0-9a-f-]{36}$/);
  }
});

it('answers 401 to a naughty string as a key', async () => {
  for (const text of NAUGHTY.filter((candidate) => SENDABLE.test(candidate))) {
    const headers = ['Host', 'localhost', 'Authorization', `Bearer ${text}`];
    const answer = await rawRequest(app.port, { method: 'GET', path: '/api/v1/me', headers });
    expectWellFormed(answer);
    expectError(answer, 401, 'unauthorized');
  }
});

describe('a naughty string on /mcp', () => {
  let rpc: (method: string, params: object) => Promise<Json>;

  beforeEach(async () => {
    // A key can send 600 messages per minute besides tool calls.
    const { key } = await app.key(tenant.id);
    const caller = new McpHttpClient(app.url, key.key);
    const session = await caller.openSession();
    rpc = async (method, params) => {
      const answer = await caller.post(rpcRequest(method, params), sessionHeader(session));
      expectWellFormed(answer);
      expect(answer.status).toBe(200);
      return answer.body as Json;
    };
  });

  it('is rejected as the id of a tool call, with the name of the field', async () => {
    for (const [index, text] of NAUGHTY.entries()) {
      const { name } = RECORD_TOOLS[index % RECORD_TOOLS.length]!;
      const { result } = await rpc('tools/call', { name, arguments: { id: text } });
      expect({ text, result }).toMatchObject({
        result: {
          isError: true,
          _meta: { 'latitude/error': { code: 'validation_error', details: [{ field: 'id' }] } },
        },
      });
    }
  });

  it.each([
    ['tool', -32602, (text: string) => ['tools/call', { name: text }] as const],
    ['resource', -32002, (text: string) => ['resources/read', { uri: text }] as const],
    ['method', -32601, (text: string) => [text, {}] as const],
  ])('is rejected as the name of a %s with %i', async (_, code, request) => {
    for (const text of NAUGHTY) {
      const answer = await rpc(...request(text));
      expect({ text, answer }).toMatchObject({ text, answer: { error: { code } } });
    }
  });
});
