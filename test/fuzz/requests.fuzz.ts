import http from 'node:http';
import fc, { type Arbitrary } from 'fast-check';
import { fieldsOf } from '../../src/platform/fields/field.js';
import { isObject } from '../../src/platform/fields/kinds/json-object.js';
import { buildLead, createLead } from '../../src/testing/factories.js';
import { TestApp } from '../../src/testing/test-app.js';
import type { Tenant } from '../../src/testing/test-server.js';
import {
  sessionHeader,
  McpHttpClient,
  mirrorHeaders,
  STATELESS_META,
} from '../../src/testing/mcp-client.js';
import { rawRequest } from '../../src/testing/raw-http.js';
import { PROTOCOL_MODES } from '../support/mcp/mcp-sdk-clients.js';
import { TOOLS } from '../support/mcp/tools.js';
import { expectWellFormed } from './support/answers.js';
import { check } from './support/check.js';
import { dtoOf, KINDS } from './support/interfaces.js';
import { type Json, jsonValues } from './support/json.js';
import { requests, type RequestContext } from './support/requests.js';
import { texts } from './support/texts.js';

/** Messages per key. The limit is 600 per minute. */
const MESSAGES_OF_A_KEY = 500;

/** Expected error codes of messages. */
const REFUSALS = {
  sessions: [-32700, -32600, -32601, -32602, -32002],
  stateless: [-32700, -32600, -32601, -32602, -32020],
};

let app: TestApp;
let tenant: Tenant;
let ids: readonly string[];

beforeAll(async () => {
  app = await TestApp.start({ settings: { mcpMaxSessions: 100_000 } });
  tenant = await app.organization();
  ids = await Promise.all(
    KINDS.flatMap(([, { get }]) => [1, 2, 3].map(() => get.makeRecord!(tenant))),
  );
});
afterAll(() => app.stop());

it('answers every request with a well-formed response', async () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const world = await requestContext();
  await check(
    fc.asyncProperty(requests(world), async (request) => {
      const answer = await rawRequest(app.port, { ...request, agent });
      if (isStartPage(request, answer.status)) return;
      expectWellFormed(answer, request.method === 'HEAD');
      expectOwnId(request.headers, answer.headers.get('x-request-id'));
    }),
    { times: 10 },
  );
  agent.destroy();
});

it.each(PROTOCOL_MODES)(
  'answers every message to /mcp with a well-formed response: %s',
  async (protocolMode) => {
    let sent = 0;
    let post: (message: unknown) => ReturnType<McpHttpClient['post']>;
    const renew = async () => {
      const { key } = await app.key(tenant.id);
      const caller = new McpHttpClient(app.url, key.key);
      const session =
        protocolMode === 'sessions' ? sessionHeader(await caller.openSession()) : undefined;
      post = (message) => {
        const sending = session ? message : withStatelessMeta(message);
        return caller.post(JSON.stringify(sending), session ?? statelessHeaders(message));
      };
    };
    await check(
      fc.asyncProperty(messages(), async (message) => {
        if (sent++ % MESSAGES_OF_A_KEY === 0) await renew();
        const answer = await post(message);
        expectWellFormed(answer);
        const { error, ...rest } = (answer.body ?? {}) as { error?: { code: unknown } };
        if (!('jsonrpc' in rest)) {
          expect([202, 400]).toContain(answer.status);
          return;
        }
        const { id = null } = message as Json;
        expect(rest).toMatchObject({ jsonrpc: '2.0', id });
        // -32603 is the 5xx of JSON-RPC.
        if (error) expect(REFUSALS[protocolMode]).toContain(error.code);
        else expect(rest).toHaveProperty('result');
      }),
      { times: 10 },
    );
  },
);

/** The start page is no route of the API. Its errors are. */
function isStartPage({ path }: { path: string }, status: number): boolean {
  return status === 200 && path.split('?')[0] === '/';
}

/** Adds the metadata of the stateless protocol version to a message, if possible. */
function withStatelessMeta(message: unknown): unknown {
  const { params = {} } = (message ?? {}) as { params?: unknown };
  const canSay = isObject(message) && isObject(params);
  return canSay ? { ...message, params: { ...params, _meta: STATELESS_META } } : message;
}

/** The headers of such a message, limited to the characters that HTTP allows. */
function statelessHeaders(message: unknown): Record<string, string> {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: unknown };
  const { name, uri } = (params ?? {}) as { name?: unknown; uri?: unknown };
  const named = [name, uri].find((value) => typeof value === 'string') ?? '';
  const letters = typeof method === 'string' ? method.replace(/[^!-~]/g, '') : '';
  return mirrorHeaders(letters, { name: `=?base64?${Buffer.from(named).toString('base64')}?=` });
}

/** The existing records and names that requests can refer to. */
async function requestContext(): Promise<RequestContext> {
  const { id: lead_id } = await createLead(tenant.api);
  const dtos = KINDS.flatMap(([, { list, create }]) => [dtoOf(app, list), dtoOf(app, create)]);
  const creations = await Promise.all(KINDS.map(async ([, { create }]) => create.args(tenant)));
  return {
    key: tenant.key.key,
    ids: [lead_id, ...ids],
    names: [...new Set(dtos.flatMap((dto) => fieldsOf(dto).map(({ name }) => name)))],
    bodies: [{}, buildLead(), { title: 'Call' }, ...creations],
  };
}

/** JSON values, most of which resemble JSON-RPC messages. */
function messages(): Arbitrary<unknown> {
  const methods = [
    ...['initialize', 'ping', 'tools/list', 'resources/list', 'resources/templates/list'],
    ...['prompts/list', 'logging/setLevel', 'completion/complete', 'tasks/get'],
    ...['notifications/initialized', 'notifications/cancelled', 'resources/subscribe'],
  ];
  const args = fc.dictionary(
    fc.oneof(fc.constantFrom('id', 'first_name', 'title', 'page', '__proto__'), texts(10)),
    fc.oneof(jsonValues(), fc.constantFrom(...ids)),
    { maxKeys: 3 },
  );
  const call = fc.record({
    method: fc.constant('tools/call'),
    params: fc.record({
      name: fc.oneof(fc.constantFrom(...TOOLS.map(({ name }) => name)), texts(20)),
      arguments: fc.oneof({ weight: 5, arbitrary: args }, { weight: 1, arbitrary: jsonValues() }),
    }),
  });
  const read = fc.record({
    method: fc.constant('resources/read'),
    params: fc.record({
      uri: fc.oneof(fc.constantFrom(...ids.map((id) => `lead://${id}`)), texts(30)),
    }),
  });
  const typed = fc.oneof(fc.constantFrom('', '01', '2026-05', ...ids), texts(20));
  const prompt = fc.record({
    method: fc.constant('prompts/get'),
    params: fc.record({
      name: fc.constantFrom('prepare_appointment', 'plan_my_day', 'follow_up_lead'),
      arguments: fc.dictionary(
        fc.constantFrom('lead_id', 'appointment_id', 'date', 'assigned_to_user_id'),
        typed,
        { maxKeys: 2 },
      ),
    }),
  });
  const completion = fc.record({
    method: fc.constant('completion/complete'),
    params: fc.record({
      ref: fc.oneof(
        fc.constantFrom('lead', 'appointment', 'task').map((kind) => {
          return { type: 'ref/resource', uri: `${kind}://{id}` };
        }),
        jsonValues(),
      ),
      argument: fc.record({ name: fc.constant('id'), value: typed }),
    }),
  });
  const other = fc.record(
    {
      method: fc.oneof(fc.constantFrom(...methods), texts(10), jsonValues()),
      params: fc.oneof(jsonValues(), fc.constant({})),
    },
    { requiredKeys: ['method'] },
  );
  const envelope = fc.record({
    jsonrpc: fc.oneof(
      { weight: 9, arbitrary: fc.constant('2.0') },
      { weight: 1, arbitrary: jsonValues() },
    ),
    id: fc.oneof(
      { weight: 4, arbitrary: fc.nat() },
      { weight: 1, arbitrary: texts(20) },
      {
        weight: 1,
        arbitrary: jsonValues(),
      },
    ),
  });
  const request = fc
    .tuple(envelope, fc.oneof(call, read, prompt, completion, other), fc.boolean())
    .map(([{ jsonrpc, id }, rest]) => ({ jsonrpc, id, ...rest }));
  const notification = fc
    .tuple(fc.oneof(call, other))
    .map(([rest]) => ({ jsonrpc: '2.0', ...rest }));
  return fc.oneof(
    { weight: 8, arbitrary: request },
    { weight: 2, arbitrary: notification },
    { weight: 1, arbitrary: fc.array(request, { maxLength: 3 }) },
    { weight: 1, arbitrary: jsonValues() },
  );
}

/** Expects the given request id if it is valid, otherwise a generated one. */
function expectOwnId(headers: readonly string[], id: string | null): void {
  const given = headers[headers.indexOf('X-Request-Id') + 1] ?? '';
  const isGiven = headers.includes('X-Request-Id') && /^[!-~]{1,128}$/.test(given);
  expect(id).toEqual(isGiven ? given : expect.any(String));
}
