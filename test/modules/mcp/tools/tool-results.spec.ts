import { TEST_SETTINGS } from '../../../../src/testing/test-settings.mjs';
import { randomUUID } from 'node:crypto';
import { type Scope, SCOPES } from '../../../../src/platform/access/scopes.js';
import {
  buildLead,
  createLead,
  dataOf,
  expectError,
  type LeadRecord,
  LEADS,
} from '../../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';
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
  expectValid,
  type ListedTool,
  type Page,
  restRecord,
  type Row,
  toolPageOf,
  withoutLead,
} from '../../../support/mcp/tool-assertions.js';
import {
  byName,
  RECORD_TOOLS,
  type ToolCase,
  TOOLS,
  validArguments,
} from '../../../support/mcp/tools.js';

const APPOINTMENTS = '/api/v1/appointments';
const TASKS = '/api/v1/tasks';

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
  let agent: Agent;
  let listed: readonly ListedTool[];

  beforeAll(async () => {
    agent = await connect(app, tenant);
    listed = await agent.listTools();
  });

  const listedTool = (name: string): ListedTool => listed.find((tool) => tool.name === name)!;

  describe('a call that succeeds', () => {
    /** Calls a tool and expects a result that equals its text and matches its output schema. */
    async function call(tool: ToolCase, args: Arguments): Promise<Row> {
      const result = await agent.call(tool.name, args);
      expect(result).toEqual({
        content: expect.any(Array) as unknown[],
        structuredContent: expect.any(Object) as object,
      });
      expect(JSON.parse(textOf(result))).toEqual(result.structuredContent);
      expectValid(listedTool(tool.name).outputSchema!, result.structuredContent);
      return result.structuredContent as Row;
    }

    const having = (...effects: ToolCase['effect'][]) =>
      casesOf(protocolMode, byName(TOOLS.filter(({ effect }) => effects.includes(effect))));

    it.each(casesOf(protocolMode, byName(RECORD_TOOLS.filter(({ effect }) => effect === 'reads'))))(
      '%s returns the same record as REST',
      async (_, tool) => {
        const id = await tool.makeRecord(tenant);
        const record = await call(tool, { id });
        expect(withoutLead(record)).toEqual(dataOf<Row>(await restRecord(tool, tenant, id)));
        expect(await call(tool, { id: ` ${id.toUpperCase()} ` })).toStrictEqual(record);
      },
    );

    // upsert-lead.spec.ts has the tests of upsert_lead, whose arguments are not fields of the record.
    it.each(having('creates', 'updates').filter(([name]) => name !== 'upsert_lead'))(
      '%s returns the record that REST reads afterwards',
      async (_, tool) => {
        const args = await validArguments(tool, tenant);
        const record = await call(tool, args);
        const stored = dataOf<Row>(await restRecord(tool, tenant, record.id));
        expect(withoutLead(record)).toEqual(stored);
        // A hold has expires_at in place of seconds.
        const given = Object.keys(args).filter((field) => !/_time$|^seconds$/.test(field));
        for (const field of given)
          expect({ [field]: record[field] }).toEqual({ [field]: args[field] });
      },
    );

    it.each(['delete_lead', 'delete_task'])('%s deletes the record', async (name) => {
      const tool = RECORD_TOOLS.find((candidate) => candidate.name === name)!;
      const id = await tool.makeRecord(tenant);
      expect(await call(tool, { id })).toStrictEqual({ id, deleted: true });
      expectError(await restRecord(tool, tenant, id), 404, 'not_found');
      expectFailure(await agent.call(name, { id }), 'not_found');
    });

    describe.each(having('deletes'))('%s as a dry run', (name, { scope, makeRecord, ...tool }) => {
      const restOf = (id: string) => restRecord(tool, tenant, id);

      it('answers with the result of the call and changes nothing', async () => {
        const id = await makeRecord!(tenant);
        const before = await restOf(id);
        const { would_answer, ...rest } = await call(
          { ...tool, name, scope },
          { id, dry_run: true },
        );
        const record = withoutLead(rest.record as Row);
        expect({ ...rest, record }).toEqual({
          id: undefined,
          dry_run: true,
          record: dataOf(before),
        });
        expect(await restOf(id)).toMatchObject({ status: 200, body: before.body as unknown });
        expect(await call({ ...tool, name, scope }, { id, dry_run: false })).toEqual(would_answer);
      });

      it('omits the record for a key that may not read it', async () => {
        const id = await makeRecord!(tenant);
        const writer = await connect(app, await app.key(tenant.id, [scope as Scope]));
        const answer = await writer.succeed(name, { id, dry_run: true });
        expect(Object.keys(answer)).toEqual(['dry_run', 'would_answer']);
      });

      it('fails with the errors of the call', async () => {
        const id = await makeRecord!(tenant);
        const dry_run = true;
        expectFailure(await agent.call(name, { id: randomUUID(), dry_run }), 'not_found');
        expectInvalidArguments(await agent.call(name, { id: 'x', dry_run, x: 1 }), 'id', 'x');
        for (const value of ['true', 1, 0, [], {}]) {
          expectInvalidArguments(await agent.call(name, { id, dry_run: value }), 'dry_run');
        }
        const reader = await connect(app, await app.key(tenant.id, ['leads:read']));
        expectFailure(await reader.call(name, { id, dry_run }), 'insufficient_scope');
        const stranger = await connect(app, await app.organization());
        expectFailure(await stranger.call(name, { id, dry_run }), 'not_found');
        expect(await restOf(id)).toMatchObject({ status: 200 });
      });

      it('counts as a write', async () => {
        const id = await makeRecord!(tenant);
        const left = async () => {
          expect((await agent.call(name, { id, dry_run: true })).isError).toBeUndefined();
          return Number(agent.lastAnswer.headers.get('ratelimit-remaining'));
        };
        // Not always by one: far from the limit, an instance counts requests in advance.
        const numbers = [await left(), await left(), await left()];
        expect(new Set(numbers).size).toBeGreaterThan(1);
        expect(agent.lastAnswer.headers.get('ratelimit-limit')).toBe(
          String(TEST_SETTINGS.writesPerMinute),
        );
      });
    });

    it.each(['create_lead', 'update_lead', 'list_leads'])(
      '%s does not accept dry_run',
      async (name) => {
        const result = await agent.call(name, {
          dry_run: true,
          ...(name === 'create_lead' && { first_name: 'A' }),
        });
        const { details = [] } = expectFailure(result, 'validation_error');
        expect(details.map(({ field }) => field)).toContain('dry_run');
      },
    );

    it('cancel_appointment cancels the appointment and can be repeated', async () => {
      const tool = RECORD_TOOLS.find(({ name }) => name === 'cancel_appointment')!;
      const id = await tool.makeRecord(tenant);
      for (let time = 0; time < 2; time++) {
        expect(await call(tool, { id })).toStrictEqual({ id, cancelled: true });
        const appointment = dataOf<Row>(await restRecord(tool, tenant, id));
        expect(appointment).toMatchObject({ id, status: 'cancelled' });
      }
    });

    it('an update changes only the given fields', async () => {
      const lead = await createLead(tenant.api, buildLead());
      const changed = await agent.succeed<LeadRecord>('update_lead', {
        id: lead.id,
        clear: ['company'],
        notes: 'Called.',
      });
      const { lead_score, updated_at } = changed;
      expect(changed).toEqual({ ...lead, company: null, notes: 'Called.', lead_score, updated_at });
      expect(updated_at > lead.updated_at).toBe(true);
      expect(await agent.succeed('update_lead', { id: lead.id })).toEqual(changed);
    });

    it('an update adds and removes tags', async () => {
      const { id } = await createLead(tenant.api, { tags: ['a', 'b'] });
      const changed = await agent.succeed<LeadRecord>('update_lead', {
        ...{ id, add_tags: ['c'], remove_tags: ['a'], tags: null },
      });
      expect(changed).toMatchObject({ id, tags: ['b', 'c'] });
      const { details } = await agent.fail('update_lead', { id, tags: ['d'], add_tags: ['e'] });
      expect(details).toMatchObject([{ field: 'add_tags' }]);
    });

    it('a list without arguments returns all records', async () => {
      const result = await agent.call('list_leads');
      const { meta } = (await tenant.api.get(LEADS)).body as Page;
      expect(result.structuredContent).toMatchObject({ meta });
    });

    describe('of a list', () => {
      let us: Tenant;
      let caller: Agent;
      let lead: LeadRecord;
      const assignee = randomUUID();

      beforeAll(async () => {
        us = await app.organization();
        caller = await connect(app, us);
        lead = await createLead(us.api, {
          first_name: 'Grace',
          last_name: 'Hopper',
          status: 'new',
        });
        const statuses = ['scheduled', 'confirmed', 'scheduled', 'no_show'];
        const priorities = ['low', 'high', 'urgent', 'medium'];
        for (let i = 0; i < 4; i++) {
          const temperature = i % 2 === 0 ? 'hot' : null;
          await createLead(us.api, {
            first_name: `Ada ${i}`,
            temperature,
            email: `ada${i}@example.com`,
          });
          const start_time = `2026-05-0${i + 1}T09:00:00Z`;
          const end_time = `2026-05-0${i + 1}T10:00:00Z`;
          const appointment = { lead_id: lead.id, start_time, end_time, status: statuses[i] };
          dataOf(await us.api.post(APPOINTMENTS, appointment), 201);
          const task = {
            title: `Task ${i}`,
            priority: priorities[i],
            due_date: i === 3 ? null : start_time,
            contact_id: i % 2 === 0 ? lead.id : null,
            assigned_to_user_id: i > 1 ? assignee : null,
          };
          dataOf(await us.api.post(TASKS, task), 201);
        }
      });

      const QUERIES: readonly (readonly [string, string, Arguments, number])[] = [
        ['list_leads', LEADS, {}, 5],
        ['list_leads', LEADS, { search: 'HOPPER' }, 1],
        ['list_leads', LEADS, { search: 'ada', limit: 2, page: 2, sort_by: 'first_name' }, 4],
        ['list_leads', LEADS, { temperature: 'hot', sort_dir: 'asc' }, 2],
        ['list_leads', LEADS, { status: 'new', created_after: '2020-01-01' }, 1],
        ['list_leads', LEADS, { created_before: '2020-01-01T00:00:00Z' }, 0],
        ['list_leads', LEADS, { page: 9 }, 5],
        ['list_appointments', APPOINTMENTS, {}, 4],
        ['list_appointments', APPOINTMENTS, { status: 'scheduled', limit: 1 }, 2],
        [
          'list_appointments',
          APPOINTMENTS,
          {
            start_after: '2026-05-02T09:00:00Z',
            start_before: '2026-05-04T11:00:00+02:00',
            sort_dir: 'asc',
          },
          2,
        ],
        ['list_appointments', APPOINTMENTS, { sort_by: 'created_at' }, 4],
        ['list_tasks', TASKS, {}, 4],
        ['list_tasks', TASKS, { sort_by: 'priority', sort_dir: 'asc', limit: 3 }, 4],
        ['list_tasks', TASKS, { due_before: '2026-05-03', sort_by: 'due_date' }, 2],
        ['list_tasks', TASKS, { status: 'completed' }, 0],
      ];

      it.each(casesOf(protocolMode, QUERIES))(
        '%s returns the same page as GET %s with %j',
        async (name, path, args, total) => {
          await expectSamePage(name, path, args, total);
        },
      );

      it('filters by ids like REST', async () => {
        await expectSamePage('list_appointments', APPOINTMENTS, { lead_id: lead.id }, 4);
        await expectSamePage('list_tasks', TASKS, { contact_id: lead.id }, 2);
        await expectSamePage('list_tasks', TASKS, { assigned_to: assignee }, 2);
        await expectSamePage('list_tasks', TASKS, { assigned_to: randomUUID() }, 0);
      });

      async function expectSamePage(name: string, path: string, args: Arguments, total: number) {
        const query = new URLSearchParams({ fields: '*' });
        for (const [field, value] of Object.entries(args)) query.set(field, String(value));
        const { status, body } = await us.api.get(`${path}?${query.toString()}`);
        expect(status).toBe(200);
        const { properties = {} } = listedTool(name).inputSchema;
        const fields = properties.fields!.items!.enum;
        const page = await caller.succeed<Page>(name, { ...args, fields });
        const data = page.data.map(withoutLead);
        expect({ ...page, data }).toEqual(toolPageOf(body as Page));
        expect(page.meta.total).toBe(total);
        expectValid(listedTool(name).outputSchema!, page);
      }
    });

    it('marks its records as created by an agent, unlike REST', async () => {
      const userId = randomUUID();
      const user = await app.key(tenant.id, SCOPES, { userId });
      const assistant = await connect(app, user);
      const { id: lead_id } = await createLead(user.api);
      const booking = { lead_id, start_time: '2026-05-04T09:00Z', end_time: '2026-05-04T10:00Z' };

      const byAi = await assistant.succeed('create_appointment', booking);
      expect(byAi).toMatchObject({ booked_by: 'ai' });
      const byRest = dataOf<Row>(await user.api.post(APPOINTMENTS, booking), 201);
      expect(byRest).toMatchObject({ booked_by: 'api' });

      const taskOfAi = await assistant.succeed('create_task', { title: 'Call' });
      expect(taskOfAi).toMatchObject({ created_by_ai: true, created_by_user_id: userId });
      const taskOfRest = dataOf<Row>(await user.api.post(TASKS, { title: 'Call' }), 201);
      expect(taskOfRest).toMatchObject({ created_by_ai: false, created_by_user_id: userId });

      const changed = await assistant.succeed('update_task', { id: taskOfRest.id, title: 'Write' });
      expect(changed).toMatchObject({ title: 'Write', created_by_ai: false });
      const moved = await assistant.succeed('update_appointment', { id: byRest.id, type: 'Visit' });
      expect(moved).toMatchObject({ type: 'Visit', booked_by: 'api' });
    });

    it.each(['created_by_ai', 'booked_by', 'organization_id'])(
      'does not accept %s as an argument',
      async (field) => {
        const result = await agent.call('create_task', { title: 'Call', [field]: true });
        expectInvalidArguments(result, field);
      },
    );
  });
});
