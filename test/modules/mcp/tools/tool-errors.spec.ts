import { randomUUID } from 'node:crypto';
import { type Scope, SCOPES } from '../../../../src/platform/access/scopes.js';
import { buildLead, createLead, getLead } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { TestServer, type Tenant } from '../../../../src/testing/test-server.js';
import {
  type Agent,
  type Arguments,
  connectAgent,
  stopWithAgents,
  textOf,
} from '../../../support/mcp/agent.js';
import { casesOf, PROTOCOL_MODES } from '../../../support/mcp/mcp-sdk-clients.js';
import {
  expectFailure,
  expectInvalidArguments,
  type Row,
} from '../../../support/mcp/tool-assertions.js';
import { shareOf } from '../../../support/share-of.js';
import {
  byName,
  RECORD_TOOLS,
  SCOPED_TOOLS,
  TOOLS,
  validArguments,
} from '../../../support/mcp/tools.js';

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
});
afterAll(() => stopWithAgents(app));

describe.each(PROTOCOL_MODES)('tools (%s)', (protocolMode) => {
  const connect = (server: { readonly url: string }, owner: Tenant) =>
    connectAgent(server, owner, protocolMode);
  const recordTools = casesOf(protocolMode, byName(RECORD_TOOLS));
  const scopedTools = casesOf(protocolMode, byName(SCOPED_TOOLS));
  const scopes = casesOf(protocolMode, SCOPES);
  let agent: Agent;

  beforeAll(async () => {
    agent = await connect(app, tenant);
  });

  describe('a call that fails', () => {
    it('has the request id of its HTTP request', async () => {
      const { request_id } = await agent.fail('get_lead', { id: randomUUID() });
      expect(agent.lastAnswer.headers.get('x-request-id')).toBe(request_id);
      expect(agent.lastAnswer.status).toBe(200);
    });

    const SOME_ID = '01a1fbde-995e-72a3-a032-ab1c988b9794';

    const INVALID: readonly (readonly [name: string, args: Arguments, fields: string])[] = [
      ['create_lead', {}, 'first_name'],
      [
        'create_lead',
        { last_name: 5, email: 'ada', tags: 'poet', custom_fields: [], nickname: 'A' },
        'first_name last_name email tags custom_fields nickname',
      ],
      [
        'create_lead',
        { sms_opted_out: 'yes', on_dnc_list: 1 },
        'first_name sms_opted_out on_dnc_list',
      ],
      ['create_lead', { first_name: 'A', id: SOME_ID, lead_score: 5 }, 'id lead_score'],
      ['list_leads', { limit: 0, page: 1.5, sort_by: 'notes', q: 'A' }, 'limit page sort_by q'],
      ['list_leads', { limit: true, search: 5, created_after: 1 }, 'limit search created_after'],
      ['list_leads', { id: SOME_ID }, 'id'],
      ['list_leads', { limit: '5', page: '1' }, 'limit page'],
      ['create_lead', { first_name: 'A', zip: 94607, state: true }, 'zip state'],
      ['delete_lead', { id: SOME_ID, dry_run: 'true' }, 'dry_run'],
      ['delete_lead', { id: SOME_ID, dry_run: 1 }, 'dry_run'],
      ['get_lead', { id: SOME_ID, fields: 'all', limit: 1 }, 'fields limit'],
      ['create_appointment', {}, 'lead_id start_time end_time'],
      [
        'create_appointment',
        { lead_id: 'x', start_time: '2026-02-30', end_time: 5, status: 'done' },
        'lead_id start_time end_time status',
      ],
      ['update_appointment', { id: 'x', lead_id: SOME_ID, status: 5 }, 'id lead_id status'],
      ['cancel_appointment', { reason: 'Rain' }, 'id reason'],
      ['update_task', { id: SOME_ID, title: '', priority: 'top' }, 'title priority'],
      ['delete_task', { id: SOME_ID, force: true }, 'force'],
    ];

    it.each(INVALID)('validation_error: %s %j', async (name, args, fields) => {
      expectInvalidArguments(await agent.call(name, args), ...fields.split(' '));
    });

    it('validation_error that depends on the stored record', async () => {
      const tool = RECORD_TOOLS.find(({ name }) => name === 'update_appointment')!;
      const id = await tool.makeRecord(tenant);
      const result = await agent.call(tool.name, { id, end_time: '2020-01-01T00:00:00Z' });
      expectInvalidArguments(result, 'end_time');
    });

    it.each(recordTools)('validation_error of the id: %s', async (name, tool) => {
      const others = await tool.args(tenant);
      // Each tool tries a third of the ids. Together they try all.
      const ids = ['', ' ', 'x', `${randomUUID()}0`, 5, null, true, {}, [randomUUID()]];
      for (const id of shareOf(
        ids,
        recordTools.findIndex(([one]) => one === name),
        3,
      )) {
        expectInvalidArguments(await agent.call(name, { ...others, id }), 'id');
      }
      expectInvalidArguments(await agent.call(name, others), 'id');
    });

    it.each(recordTools)('not_found: %s', async (name, tool) => {
      const args = { ...(await tool.args(tenant)), id: randomUUID() };
      expectFailure(await agent.call(name, args), 'not_found');
    });

    const TIMES = { start_time: '2026-01-01T10:00Z', end_time: '2026-01-01T11:00Z' };

    it('lead_not_found, on creates and updates', async () => {
      const unknown = randomUUID();
      const results = [
        await agent.call('create_appointment', { lead_id: unknown, ...TIMES }),
        await agent.call('create_task', { title: 'Call', contact_id: unknown }),
      ];
      const { id } = await agent.succeed<Row>('create_task', { title: 'Call' });
      results.push(await agent.call('update_task', { id, contact_id: unknown }));
      for (const result of results) expectFailure(result, 'lead_not_found');
      expect(await agent.succeed('get_task', { id })).toMatchObject({ contact_id: null });
    });

    it('duplicate, with the id of the existing record in the text', async () => {
      const twin = await createLead(tenant.api, buildLead());
      const other = await createLead(tenant.api, buildLead());
      const { email, phone } = twin;
      for (const result of [
        await agent.call('create_lead', { first_name: 'A', email, phone }),
        await agent.call('update_lead', { id: other.id, email: email!.toUpperCase(), phone }),
      ]) {
        const { details = [] } = expectFailure(result, 'duplicate');
        expect(details.map(({ field }) => field).sort()).toEqual(['email', 'phone']);
        for (const { existing_id } of details) expect(existing_id).toBe(twin.id);
        expect(textOf(result).match(new RegExp(twin.id, 'g'))).toHaveLength(1);
      }
      expect(await getLead(tenant.api, other.id)).toStrictEqual(other);
    });

    it('duplicate, without the id of the record for a key that lacks leads:read', async () => {
      const { id, email } = await createLead(tenant.api, buildLead());
      const writer = await connect(app, await app.key(tenant.id, ['leads:write']));
      const result = await writer.call('create_lead', { first_name: 'A', email });
      const { details = [] } = expectFailure(result, 'duplicate');
      expect(details).toEqual([{ field: 'email', message: expect.any(String) as string }]);
      expect(JSON.stringify(result)).not.toContain(id);
    });

    const requires = (tool: (typeof TOOLS)[number], scope: Scope) =>
      tool.scope === scope || tool.scopes?.includes(scope) === true;

    it.each(scopes)('insufficient_scope for a key with all scopes but %s', async (scope) => {
      const others = SCOPES.filter((one) => one !== scope);
      const limited = await connect(app, await app.key(tenant.id, others));
      const refused = TOOLS.filter((tool) => requires(tool, scope));
      const accepted = TOOLS.filter((tool) => !requires(tool, scope));
      for (const tool of [...refused, ...shareOf(accepted, SCOPES.indexOf(scope), 4)]) {
        const args = await validArguments(tool, tenant);
        const result = await limited.call(tool.name, args);
        if (!requires(tool, scope)) {
          expect({ name: tool.name, isError: result.isError }).toEqual({ name: tool.name });
          continue;
        }
        const { required_scope, message } = expectFailure(result, 'insufficient_scope');
        expect(required_scope).toBe(scope);
        expect(message).toContain(scope);
        // 403 takes precedence over 400 (docs/contract/errors.md#order-of-checks), so the error does
        // not describe the arguments.
        expectFailure(await limited.call(tool.name, { nonsense: 1 }), 'insufficient_scope');
      }
    });

    it('changes nothing for a key that lacks the scope', async () => {
      const reader = await connect(app, await app.key(tenant.id, ['leads:read']));
      const lead = await createLead(tenant.api);
      expectFailure(await reader.call('delete_lead', { id: lead.id }), 'insufficient_scope');
      expect(await getLead(tenant.api, lead.id)).toStrictEqual(lead);
    });

    it.each([
      'send_message',
      '',
      'list_lead',
      'LIST_LEADS',
      'constructor',
      '__proto__',
      'toString',
    ])('JSON-RPC -32602 for the unknown tool %j', async (name) => {
      await expect(agent.call(name, {})).rejects.toMatchObject({ code: -32602 });
    });

    it.each([
      ['no parameters', undefined],
      ['no name', { arguments: {} }],
      ['a name that is not a string', { name: 5, arguments: {} }],
      ['arguments that are a list', { name: 'list_leads', arguments: [] }],
      ['arguments that are a text', { name: 'list_leads', arguments: '{}' }],
      ['a name that is null', { name: null, arguments: {} }],
    ])('JSON-RPC -32602 for tools/call with %s', async (_, params) => {
      const message = { jsonrpc: '2.0', id: 'call', method: 'tools/call', params };
      const { status, body } = await agent.post(JSON.stringify(message));
      expect({ status, body }).toEqual({
        status: 200,
        body: {
          jsonrpc: '2.0',
          id: 'call',
          error: { code: -32602, message: expect.stringMatching(/\w+/) as string },
        },
      });
    });
  });

  describe('a failure of the database', () => {
    const LEAK = /relation|permission|denied|sqlstate|select |insert |pg_|postgres|driver|stack/i;
    let broken: TestApp;
    let owner: Tenant;
    let caller: Agent;

    beforeAll(async () => {
      broken = await TestApp.start();
      owner = await broken.organization();
      caller = await connect(broken, owner);
    });
    afterAll(() => stopWithAgents(broken));

    it('is reported by each tool without SQL, and each works again afterwards', async () => {
      const calls = [];
      for (const [name, tool] of scopedTools) {
        calls.push({ name, tool, args: await validArguments(tool, owner) });
      }
      await broken.sql('revoke all on all tables in schema public from latitude_app');
      for (const { name, tool, args } of calls) {
        const failed = await caller.call(name, args);
        expect({ name, isError: failed.isError }).toEqual({ name, isError: true });
        // `create_failed` is the code of all writes that fail.
        expectFailure(failed, tool.effect === 'reads' ? 'query_failed' : 'create_failed');
        expect(JSON.stringify(failed)).not.toMatch(LEAK);
      }
      await broken.sql(
        'grant select, insert, update, delete on all tables in schema public to latitude_app',
      );
      for (const { name, args } of calls) await caller.succeed(name, args);
    });
  });
});
