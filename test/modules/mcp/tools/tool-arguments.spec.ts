import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import {
  dataOf,
  errorOf,
  expectError,
  getLead,
  type LeadRecord,
  LEADS,
} from '../../../../src/testing/factories.js';
import { TestServer, type Tenant } from '../../../../src/testing/test-server.js';
import { type Agent, connectAgent, failureOf, stopWithAgents } from '../../../support/mcp/agent.js';
import { PROTOCOL_MODES } from '../../../support/mcp/mcp-sdk-clients.js';
import { expectFailure, expectInvalidArguments } from '../../../support/mcp/tool-assertions.js';

let app: TestServer;

beforeAll(async () => {
  app = await TestServer.shared();
});
afterAll(() => stopWithAgents(app));

describe.each(PROTOCOL_MODES)('the arguments of tools (%s)', (protocolMode) => {
  let us: Tenant;
  let caller: Agent;

  beforeAll(async () => {
    us = await app.organization();
    caller = await connectAgent(app, us, protocolMode);
  });

  const callOf = (name: string, args: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;

  const ID = '01a1fbde-995e-72a3-a032-ab1c988b9794';
  const IN_ARGUMENTS: readonly (readonly [name: string, args: string, field: string])[] = [
    ['create_lead', String.raw`{"first_name":"A","first_name":"B"}`, 'first_name'],
    ['create_lead', String.raw`{"first_name":"A","first_n\u0061me":"A"}`, 'first_name'],
    ['create_lead', String.raw`{"first_name":"A","custom_fields":{"a":1,"a":1}}`, 'custom_fields'],
    [
      'create_lead',
      String.raw`{"first_name":"A","custom_fields":{"a":[{"b":1,"b":2}]}}`,
      'custom_fields',
    ],
    [
      'create_lead',
      String.raw`{"first_name":"A","custom_fields":{"n":9007199254740993}}`,
      'custom_fields',
    ],
    ['create_lead', String.raw`{"first_name":"A","custom_fields":{"n":-1e400}}`, 'custom_fields'],
    [
      'create_lead',
      String.raw`{"first_name":"A","custom_fields":{"n":[100000000000000000000.5]}}`,
      'custom_fields',
    ],
    ['create_lead', String.raw`{"first_name":9007199254740993}`, 'first_name'],
    ['create_lead', String.raw`{"first_name":"A\ud800"}`, 'first_name'],
    ['create_lead', String.raw`{"first_name":"A","tags":["\udc00\ud800"]}`, 'tags'],
    ['create_lead', String.raw`{"first_name":"A","custom_fields":{"\ud800":1}}`, 'custom_fields'],
    ['create_lead', String.raw`{"first_name":"A\u0000"}`, 'first_name'],
    ['create_lead', String.raw`{"first_name":"A","custom_fields":{"a":"\u0000"}}`, 'custom_fields'],
    ['create_lead', String.raw`{"first_name":"A","__proto__":{"city":"Paris"}}`, '__proto__'],
    ['create_lead', String.raw`{"first_name":"A","__proto__":null}`, '__proto__'],
    ['create_lead', String.raw`{"__proto__":{"x":1},"first_name":"A","__proto__":{}}`, '__proto__'],
    ['create_lead', String.raw`{"first_name":"A","constructor":{"prototype":{}}}`, 'constructor'],
    ['create_lead', String.raw`{"first_name":"A","hasOwnProperty":1}`, 'hasOwnProperty'],
    ['create_lead', String.raw`{"first_name":"A","first_name.x":1}`, 'first_name.x'],
    ['list_leads', String.raw`{"limit":1,"limit":2}`, 'limit'],
    ['list_leads', String.raw`{"limit":1e999}`, 'limit'],
    ['list_leads', String.raw`{"page":9007199254740993}`, 'page'],
    ['list_leads', String.raw`{"search":"\ud83d"}`, 'search'],
    ['list_leads', String.raw`{"__proto__":{"limit":1}}`, '__proto__'],
    ['get_lead', `{"id":"${ID}","id":"${ID}"}`, 'id'],
    ['get_lead', String.raw`{"id":"\u0000"}`, 'id'],
    ['get_lead', String.raw`{"id":9007199254740993}`, 'id'],
    ['get_lead', `{"id":"${ID}","__proto__":{}}`, '__proto__'],
    ['get_lead', `{"id":"${ID}","constructor":1}`, 'constructor'],
    ['update_task', `{"id":"${ID}","title":"A","title":"A"}`, 'title'],
    ['cancel_appointment', `{"__proto__":{"id":"${ID}"},"id":"${ID}"}`, '__proto__'],
  ];

  it.each(IN_ARGUMENTS)('%s %s is a validation_error of %s', async (name, args, field) => {
    const { status, body } = await caller.post(callOf(name, args));
    expect(status).toBe(200);
    expectInvalidArguments((body as { result: CallToolResult }).result, field);
    expect(dataOf<unknown[]>(await us.api.get(LEADS))).toEqual([]);
  });

  it.each([9, 28, 30, 40, 5_000])(
    'refuse custom_fields with %i levels and name the field',
    async (levels) => {
      const value = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
      const args = `{"first_name":"A","custom_fields":${value}}`;
      const { status, body } = await caller.post(callOf('create_lead', args));
      // Arguments deeper than a body may be are not read, so they call no tool.
      const isRead = levels + 1 <= 32;
      const error = isRead ? failureOf((body as { result: CallToolResult }).result) : body.error;
      expect({ status, error }).toMatchObject({
        status: isRead ? 200 : 400,
        error: {
          code: 'validation_error',
          details: [{ field: expect.stringMatching(/(^|\.)custom_fields$/) as string }],
        },
      });
      expect(dataOf<unknown[]>(await us.api.get(LEADS))).toEqual([]);
    },
  );

  it('report malformed and invalid arguments together', async () => {
    const args = String.raw`{"email":"x","city":"\u0000","company":"A","company":"B","nope":1}`;
    const { body } = await caller.post(callOf('create_lead', args));
    const { result } = body as { result: CallToolResult };
    expectInvalidArguments(result, 'first_name', 'email', 'city', 'company', 'nope');
  });

  it.each([
    ['an unpaired surrogate', String.raw`{"first_name":"A","\ud800":1}`],
    ['\\u0000', String.raw`{"first_name":"A","\u0000":1}`],
    ['nothing', String.raw`{"first_name":"A","":1}`],
    ['control characters', String.raw`{"first_name":"A","\n\u202e":1}`],
  ])('have the error of REST for an argument whose name is %s', async (_, args) => {
    const refused = await us.api.post(LEADS, args);
    const { status, body } = await caller.post(callOf('create_lead', args));
    expect(status).toBe(200);
    const { result } = body as { result: CallToolResult };
    const { details = [] } = expectFailure(result, 'validation_error');
    for (const { field } of details) expect(field).toMatch(/\S/);
    expect(withFields(details)).toEqual(errorOf(refused).details);
  });

  it('are reported with the message of REST when a name is very long', async () => {
    const args = JSON.stringify({ first_name: 'A', ['x'.repeat(5_000)]: '\0' });
    const refused = await us.api.post(LEADS, args);
    const { body } = await caller.post(callOf('create_lead', args));
    const { result } = body as { result: CallToolResult };
    const { details = [] } = expectFailure(result, 'validation_error');
    expect(withFields(details)).toEqual(errorOf(refused).details);
  });

  /** The messages of REST, which says "fields" in place of "parameters". */
  const withFields = (details: readonly { field: string; message: string }[]) =>
    details.map(({ field, message }) => {
      return { field, message: message.replace('the parameters are', 'the fields are') };
    });

  const OUTSIDE: readonly (readonly [name: string, text: string])[] = [
    ['two ids', `{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}`],
    ['an id beyond 2^53', `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/list"}`],
    ['two methods', `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`],
    ['a method with a lone surrogate', String.raw`{"jsonrpc":"2.0","id":1,"method":"\ud800"}`],
    [
      'two names',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_leads","name":"list_tasks"}}`,
    ],
    [
      'two arguments',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_leads","arguments":{},"arguments":{}}}`,
    ],
    ['NUL in the name', callOf(String.raw`list_leads\u0000`, '{}')],
    [
      'arguments outside of params',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_leads"},"arguments":{}}`,
    ],
    ['half a document', callOf('list_leads', '{')],
    ['two documents', `${callOf('list_leads', '{}')}{}`],
    ['a byte order mark', `\ufeff${callOf('list_leads', '{}')}`],
  ];

  it.each(OUTSIDE)('are answered with 400 in a message with %s', async (_, text) => {
    expectError(await caller.post(text), 400, 'validation_error');
  });

  it('accept __proto__, constructor and prototype inside custom_fields as plain data', async () => {
    const custom = '{"__proto__":{"a":1},"constructor":{"prototype":{"b":2}},"prototype":3}';
    const args = `{"first_name":"Proto","custom_fields":${custom}}`;
    const { body } = await caller.post(callOf('create_lead', args));
    const { result } = body as { result: { structuredContent: LeadRecord; isError?: boolean } };
    expect(result.isError).toBeUndefined();
    const { id } = result.structuredContent;
    const { custom_fields } = await getLead(us.api, id);
    const sorted = (value: object) => Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    expect(sorted(custom_fields)).toEqual(sorted(JSON.parse(custom) as object));
    await us.api.delete(`${LEADS}/${id}`);
  });

  it('accept 2^53 and characters of several Unicode planes', async () => {
    const args = '{"first_name":"😀 日本 \\ud83d\\ude00","custom_fields":{"n":9007199254740992}}';
    const { body } = await caller.post(callOf('create_lead', args));
    const { result } = body as { result: { structuredContent: LeadRecord } };
    expect(result.structuredContent).toMatchObject({
      first_name: '😀 日本 😀',
      custom_fields: { n: 2 ** 53 },
    });
    await us.api.delete(`${LEADS}/${result.structuredContent.id}`);
  });
});
