import { randomUUID } from 'node:crypto';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Scope, SCOPES } from '../../src/auth/scopes.js';
import { ERROR_CATALOGUE, type ErrorCode } from '../../src/errors/error-catalogue.js';
import type { JsonSchema } from '../../src/fields/json-schema.js';
import type { OpenApiDocument } from '../../src/http/openapi/model.js';
import {
  type Agent,
  type Arguments,
  connectAgent,
  failureOf,
  stopWithAgents,
  textOf,
  type ToolFailure,
} from '../support/agent.js';
import type { Answer } from '../../src/testing/api-client.js';
import {
  buildLead,
  createLead,
  dataOf,
  errorOf,
  expectError,
  getLead,
  type LeadRecord,
  LEADS,
} from '../../src/testing/factories.js';
import { TestApp } from '../../src/testing/test-app.js';
import type { Tenant } from '../../src/testing/test-server.js';
import { OpenApiValidator } from '../../src/testing/openapi.js';
import { pathOf } from '../../src/testing/routes.js';
import {
  ALL_TOOLS,
  byName,
  CORE_TOOLS,
  isCore,
  RECORD_TOOLS,
  SCOPED_TOOLS,
  type ToolCase,
  TOOLS,
  validArguments,
} from '../support/tools.js';

const APPOINTMENTS = '/api/v1/appointments';
const TASKS = '/api/v1/tasks';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type Row = Record<string, unknown> & { id: string };

interface Page {
  data: Row[];
  meta: { page: number; limit: number; total: number; total_pages: number };
}

let app: TestApp;
let tenant: Tenant;
let agent: Agent;
let listed: ToolInList[];

/** A tool as `tools/list` tells it, schemas included. */
interface ToolInList {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly annotations?: { readonly readOnlyHint?: boolean };
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
}

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
addFormats.default(ajv);

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
  agent = await connectAgent(app, tenant);
  listed = await agent.listTools();
});
afterAll(() => stopWithAgents(app));

function listedTool(name: string): ToolInList {
  return listed.find((tool) => tool.name === name)!;
}

/**
 * Expects the result of a failed call (docs/contract/mcp.md#tool-errors), and returns its error.
 */
function expectFailure(result: CallToolResult, code: ErrorCode): ToolFailure {
  const { retryable, advice } = ERROR_CATALOGUE[code];
  const error = failureOf(result);
  expect(result).toEqual({
    isError: true,
    content: expect.any(Array) as unknown[],
    _meta: { 'latitude/error': error },
  });
  expect(error).toMatchObject({ code, retryable, message: expect.any(String) as string });
  expect(error.message).not.toBe('');
  expect(error.request_id).toMatch(UUID);
  const text = textOf(result);
  expect(text.startsWith(`${code}: ${error.message}`)).toBe(true);
  expect(text.endsWith(` ${advice}`)).toBe(true);
  return error;
}

/** Expects a `validation_error` whose details and message name these arguments and no others. */
function expectInvalidArguments(result: CallToolResult, ...fields: string[]): void {
  const { details = [], message } = expectFailure(result, 'validation_error');
  expect(details.map(({ field }) => field).sort()).toEqual([...fields].sort());
  for (const field of fields) expect(message).toContain(field);
}

/** What REST shows of the same record. */
async function restRecord(tool: ToolCase, of: Tenant, id: string): Promise<Answer> {
  return of.api.get(pathOf({ ...tool.route, pattern: recordPattern(tool) }, id));
}

function recordPattern({ route: { pattern } }: ToolCase): string {
  return pattern.endsWith('/:id') ? pattern : `${pattern}/:id`;
}

function namesOf(tools: readonly { readonly name: string }[]): string[] {
  return tools.map(({ name }) => name);
}

describe('tools/list', () => {
  const ORDER = [
    'list_leads get_lead create_lead update_lead delete_lead',
    'list_appointments get_appointment create_appointment update_appointment cancel_appointment',
    'list_tasks get_task create_task update_task delete_task',
    'whoami',
  ].flatMap((names) => names.split(' '));

  it('has exactly sixteen tools of the core, in the order of the contract', () => {
    expect(namesOf(listed.filter(isCore))).toEqual(ORDER);
    expect(namesOf(CORE_TOOLS)).toEqual(ORDER);
  });

  it('has every declared tool and no other, always in the same order', async () => {
    expect(namesOf(listed).sort()).toEqual(namesOf(ALL_TOOLS).sort());
    expect(await agent.listTools()).toEqual(listed);
    const colleague = await connectAgent(app, await app.key(tenant.id));
    expect(await colleague.listTools()).toEqual(listed);
  });

  it('takes less than 24,000 characters for the core, which is at most 6,000 tokens', () => {
    expect(JSON.stringify(listed.filter(isCore)).length).toBeLessThan(24_000);
  });

  const HINTS = {
    reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
    creates: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
    updates: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    deletes: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  };

  describe.each(byName(TOOLS))('%s', (name, tool) => {
    it('has a title, a description and the four hints', () => {
      const { title = '', description = '', annotations } = listedTool(name);
      expect(title).toMatch(/^[A-Z][a-z ]+[a-z]$/);
      expect(description).toMatch(/^[A-Z]\w+ .{4,}\.$/);
      expect(annotations).toEqual({ ...HINTS[tool.effect], openWorldHint: false });
    });

    it('has schemas of objects that compile strictly', () => {
      const { inputSchema, outputSchema } = listedTool(name);
      for (const schema of [inputSchema, outputSchema!]) {
        expect(schema.type).toBe('object');
        expect(() => ajv.compile(schema)).not.toThrow();
      }
      expect(inputSchema.additionalProperties).toBe(false);
    });

    it('says of every argument what it is', () => {
      const { properties = {} } = listedTool(name).inputSchema;
      for (const [field, schema] of Object.entries(properties)) {
        expect({ field, description: schema.description }).toEqual({
          field,
          description: expect.stringMatching(/^[A-Z].*\w{3}.*\.$/) as string,
        });
      }
    });

    it('takes valid arguments by its input schema', async () => {
      const { inputSchema } = listedTool(name);
      const validate = ajv.compile(inputSchema);
      validate(await validArguments(tool, tenant));
      expect(validate.errors).toBeNull();
      expect(validate({ unknown: 1 })).toBe(false);
    });
  });

  describe('against the OpenAPI document: one source with REST', () => {
    let description: OpenApiValidator;

    beforeAll(async () => {
      const { body } = await app.client().get('/openapi.json');
      description = new OpenApiValidator(body as OpenApiDocument);
    });

    /** What REST takes on the route of a tool, beside the id in its path. */
    function restInput({ route }: ToolCase): JsonSchema {
      const { parameters = [], requestBody } = description.operationOf(route);
      const query = parameters.filter((parameter) => parameter.in === 'query');
      const body = requestBody?.content['application/json'].schema;
      if (!body) return { properties: Object.fromEntries(query.map((p) => [p.name, p.schema])) };
      if (!('$ref' in body)) return body as JsonSchema;
      const { schemas } = description.document.components;
      return schemas[body.$ref.split('/').at(-1)!] as JsonSchema;
    }

    /** The numbers and words that bound the values of a field of REST, as a description has them. */
    function boundsOf(schema: JsonSchema): string[] {
      const { format, minimum, maximum = 0, maxLength, maxItems, maxProperties } = schema;
      const { description = '' } = schema;
      const isText = maxLength !== undefined && format === undefined;
      return [
        ...(format === 'uuid' ? ['UUID'] : []),
        ...(description.includes('ISO 8601') ? ['ISO 8601', 'UTC'] : []),
        ...(isText ? [`Max ${maxLength} characters.`] : []),
        ...(maxItems === undefined ? [] : [`Max ${maxItems} items.`]),
        ...(maxProperties === undefined ? [] : [`Max ${maxProperties} keys.`]),
        ...(minimum !== undefined && maximum <= 1_000 ? [`${minimum} to ${maximum}.`] : []),
      ];
    }

    it.each(byName(TOOLS))('%s takes the same fields with the same bounds', (name, tool) => {
      const { properties: ours = {}, required = [] } = listedTool(name).inputSchema;
      const { properties: rest = {}, required: restRequired = [] } = restInput(tool);
      const ofId = tool.makeRecord ? ['id'] : [];
      const ofDeletion = tool.effect === 'deletes' ? ['dry_run'] : [];
      const canEmpty = Object.values(rest).some(({ type }) => [type].flat().includes('null'));
      const ofUpdate = tool.effect === 'updates' && canEmpty ? ['clear'] : [];
      const own = [...ofId, ...ofDeletion, ...Object.keys(rest), ...ofUpdate];
      expect(Object.keys(ours).sort()).toEqual(own.sort());
      expect(required).toEqual([...ofId, ...restRequired]);
      for (const [field, schema] of Object.entries(rest)) {
        const { type, enum: values, description = '' } = ours[field]!;
        const restTypes = [schema.type ?? []].flat().filter((one) => one !== 'null');
        const restValues = schema.enum?.filter((value) => value !== null);
        expect({ field, types: [type], values }).toEqual({
          field,
          types: restTypes,
          values: restValues,
        });
        for (const bound of boundsOf(schema)) {
          expect({ field, description }).toEqual({
            field,
            description: expect.stringContaining(bound) as string,
          });
        }
      }
    });

    it('has bounds and defaults to compare', () => {
      const { properties = {} } = listedTool('list_leads').inputSchema;
      expect(properties.limit!.description).toMatch(/ 1 to 100\. Default: 50\.$/);
      expect(properties.page!.description).toMatch(/ Default: 1\.$/);
      expect(properties.sort_dir).toMatchObject({
        enum: ['asc', 'desc'],
        description: expect.stringContaining('Default: desc.') as string,
      });
      const lead = listedTool('create_lead').inputSchema.properties ?? {};
      expect(lead.first_name!.description).toContain('Max 100 characters.');
      expect(lead.tags!.items!.description).toBe('Max 50 characters.');
      expect(lead.source!.description).toContain('Default: api.');
    });
  });

  it.each(SCOPES)('with the scope %s alone, is of exactly its tools', async (scope) => {
    const limited = await connectAgent(app, await app.key(tenant.id, [scope]));
    const isOpen = (tool: Pick<ToolCase, 'scope'>) =>
      tool.scope === scope || tool.scope === 'any-key';
    const tools = await limited.listTools();
    expect(namesOf(tools).sort()).toEqual(namesOf(ALL_TOOLS.filter(isOpen)).sort());
    expect(namesOf(tools.filter(isCore))).toEqual(namesOf(CORE_TOOLS.filter(isOpen)));
  });

  const CORE_SCOPES = ['leads', 'appointments', 'tasks'].flatMap((name) => {
    return [`${name}:read`, `${name}:write`];
  });

  it.each(CORE_SCOPES)('with the scope %s alone, has two tools of the core or more', (scope) => {
    expect(CORE_TOOLS.filter((tool) => tool.scope === scope).length).toBeGreaterThanOrEqual(2);
  });

  it('is of whoami alone without scopes', async () => {
    const limited = await connectAgent(app, await app.key(tenant.id, []));
    expect((await limited.listTools()).map(({ name }) => name)).toEqual(['whoami']);
  });
});

describe('a call that succeeds', () => {
  /** The result of a valid call, whose structure must be what its text says and its schema asks. */
  async function call(tool: ToolCase, args: Arguments): Promise<Row> {
    const result = await agent.call(tool.name, args);
    expect(result).toEqual({
      content: expect.any(Array) as unknown[],
      structuredContent: expect.any(Object) as object,
    });
    expect(JSON.parse(textOf(result))).toEqual(result.structuredContent);
    const validate = ajv.compile(listedTool(tool.name).outputSchema!);
    validate(result.structuredContent);
    expect(validate.errors).toBeNull();
    return result.structuredContent as Row;
  }

  const having = (...effects: ToolCase['effect'][]) =>
    byName(TOOLS.filter(({ effect }) => effects.includes(effect)));

  it.each(byName(RECORD_TOOLS.filter(({ effect }) => effect === 'reads')))(
    '%s answers the record as REST does',
    async (_, tool) => {
      const id = await tool.makeRecord(tenant);
      const record = await call(tool, { id });
      expect(record).toStrictEqual(dataOf<Row>(await restRecord(tool, tenant, id)));
      expect(await call(tool, { id: ` ${id.toUpperCase()} ` })).toStrictEqual(record);
    },
  );

  it.each(having('creates', 'updates'))(
    '%s answers the record that REST then shows',
    async (_, tool) => {
      const args = await validArguments(tool, tenant);
      const record = await call(tool, args);
      expect(record).toStrictEqual(dataOf<Row>(await restRecord(tool, tenant, record.id)));
      const given = Object.keys(args).filter((field) => !field.endsWith('_time'));
      for (const field of given)
        expect({ [field]: record[field] }).toEqual({ [field]: args[field] });
    },
  );

  it.each(['delete_lead', 'delete_task'])('%s deletes for REST too', async (name) => {
    const tool = RECORD_TOOLS.find((candidate) => candidate.name === name)!;
    const id = await tool.makeRecord(tenant);
    expect(await call(tool, { id })).toStrictEqual({ id, deleted: true });
    expectError(await restRecord(tool, tenant, id), 404, 'not_found');
    expectFailure(await agent.call(name, { id }), 'not_found');
  });

  describe.each(having('deletes'))('%s as a dry run', (name, { scope, makeRecord, ...tool }) => {
    const restOf = (id: string) => restRecord({ ...tool, name, scope }, tenant, id);

    it('answers what the call would answer, and changes nothing', async () => {
      const id = await makeRecord!(tenant);
      const before = await restOf(id);
      const { would_answer, ...rest } = await call({ ...tool, name, scope }, { id, dry_run: true });
      expect(rest).toEqual({ dry_run: true, record: dataOf(before) });
      expect(await restOf(id)).toMatchObject({ status: 200, body: before.body as unknown });
      expect(await call({ ...tool, name, scope }, { id, dry_run: false })).toEqual(would_answer);
    });

    it('shows the record to no key that may not read it', async () => {
      const id = await makeRecord!(tenant);
      const writer = await connectAgent(app, await app.key(tenant.id, [scope as Scope]));
      const answer = await writer.succeed(name, { id, dry_run: true });
      expect(Object.keys(answer)).toEqual(['dry_run', 'would_answer']);
    });

    it('fails as the call would: limit, scope, arguments and record', async () => {
      const id = await makeRecord!(tenant);
      const dry_run = true;
      expectFailure(await agent.call(name, { id: randomUUID(), dry_run }), 'not_found');
      expectInvalidArguments(await agent.call(name, { id: 'x', dry_run, x: 1 }), 'id', 'x');
      for (const value of ['true', 1, 0, [], {}]) {
        expectInvalidArguments(await agent.call(name, { id, dry_run: value }), 'dry_run');
      }
      const reader = await connectAgent(app, await app.key(tenant.id, ['leads:read']));
      expectFailure(await reader.call(name, { id, dry_run }), 'insufficient_scope');
      const stranger = await connectAgent(app, await app.organization());
      expectFailure(await stranger.call(name, { id, dry_run }), 'not_found');
      expect(await restOf(id)).toMatchObject({ status: 200 });
    });

    it('counts as a write', async () => {
      const id = await makeRecord!(tenant);
      const left = async () => {
        expect((await agent.call(name, { id, dry_run: true })).isError).toBeUndefined();
        return Number(agent.lastAnswer.headers.get('ratelimit-remaining'));
      };
      expect((await left()) - (await left())).toBe(1);
      expect(agent.lastAnswer.headers.get('ratelimit-limit')).toBe(
        String(app.settings.writesPerMinute),
      );
    });
  });

  it.each(['create_lead', 'update_lead', 'list_leads'])('%s takes no dry_run', async (name) => {
    const result = await agent.call(name, {
      dry_run: true,
      ...(name === 'create_lead' && { first_name: 'A' }),
    });
    const { details = [] } = expectFailure(result, 'validation_error');
    expect(details.map(({ field }) => field)).toContain('dry_run');
  });

  it('cancel_appointment cancels for REST too, and may be repeated', async () => {
    const tool = RECORD_TOOLS.find(({ name }) => name === 'cancel_appointment')!;
    const id = await tool.makeRecord(tenant);
    for (let time = 0; time < 2; time++) {
      expect(await call(tool, { id })).toStrictEqual({ id, cancelled: true });
      const appointment = dataOf<Row>(await restRecord(tool, tenant, id));
      expect(appointment).toMatchObject({ id, status: 'cancelled' });
    }
  });

  it('an update changes what is given and nothing else', async () => {
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

  it('leaves out arguments as one does without parameters: a list of everything', async () => {
    const result = await agent.call('list_leads');
    const { body } = await tenant.api.get(LEADS);
    expect(result.structuredContent).toEqual(body);
  });

  describe('of a list', () => {
    let us: Tenant;
    let caller: Agent;
    let lead: LeadRecord;
    const assignee = randomUUID();

    beforeAll(async () => {
      us = await app.organization();
      caller = await connectAgent(app, us);
      lead = await createLead(us.api, { first_name: 'Grace', last_name: 'Hopper', status: 'new' });
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

    it.each(QUERIES)('%s is the same page as GET %s with %j', async (name, path, args, total) => {
      await expectSamePage(name, path, args, total);
    });

    it('finds by ids as REST does', async () => {
      await expectSamePage('list_appointments', APPOINTMENTS, { lead_id: lead.id }, 4);
      await expectSamePage('list_tasks', TASKS, { contact_id: lead.id }, 2);
      await expectSamePage('list_tasks', TASKS, { assigned_to: assignee }, 2);
      await expectSamePage('list_tasks', TASKS, { assigned_to: randomUUID() }, 0);
    });

    async function expectSamePage(name: string, path: string, args: Arguments, total: number) {
      const query = new URLSearchParams(
        Object.entries(args).map(([field, value]): [string, string] => [field, String(value)]),
      );
      const { status, body } = await us.api.get(`${path}?${query.toString()}`);
      expect(status).toBe(200);
      const page = await caller.succeed<Page>(name, args);
      expect(page).toStrictEqual(body);
      expect(page.meta.total).toBe(total);
      const validate = ajv.compile(listedTool(name).outputSchema!);
      validate(page);
      expect(validate.errors).toBeNull();
    }
  });

  it('is remembered as the doing of an agent, and of REST as its own', async () => {
    const userId = randomUUID();
    const user = await app.key(tenant.id, SCOPES, { userId });
    const assistant = await connectAgent(app, user);
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
    'and no one can claim %s',
    async (field) => {
      const result = await agent.call('create_task', { title: 'Call', [field]: true });
      expectInvalidArguments(result, field);
    },
  );
});

describe('a call that fails', () => {
  it('tells the request that it came in by', async () => {
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

  it('validation_error that needs the stored record', async () => {
    const tool = RECORD_TOOLS.find(({ name }) => name === 'update_appointment')!;
    const id = await tool.makeRecord(tenant);
    const result = await agent.call(tool.name, { id, end_time: '2020-01-01T00:00:00Z' });
    expectInvalidArguments(result, 'end_time');
  });

  it.each(byName(RECORD_TOOLS))('validation_error of the id: %s', async (name, tool) => {
    const others = await tool.args(tenant);
    for (const id of ['', ' ', 'x', `${randomUUID()}0`, 5, null, true, {}, [randomUUID()]]) {
      expectInvalidArguments(await agent.call(name, { ...others, id }), 'id');
    }
    expectInvalidArguments(await agent.call(name, others), 'id');
  });

  it.each(byName(RECORD_TOOLS))('not_found: %s', async (name, tool) => {
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

  it('duplicate, which names the existing record in its text too', async () => {
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
      expect(textOf(result).split(twin.id)).toHaveLength(2);
    }
    expect(await getLead(tenant.api, other.id)).toStrictEqual(other);
  });

  it('duplicate, without the id of the record for a key that lacks leads:read', async () => {
    const { id, email } = await createLead(tenant.api, buildLead());
    const writer = await connectAgent(app, await app.key(tenant.id, ['leads:write']));
    const result = await writer.call('create_lead', { first_name: 'A', email });
    const { details = [] } = expectFailure(result, 'duplicate');
    expect(details).toEqual([{ field: 'email', message: expect.any(String) as string }]);
    expect(JSON.stringify(result)).not.toContain(id);
  });

  it.each(SCOPES)('insufficient_scope, which names it: a key with all but %s', async (scope) => {
    const others = SCOPES.filter((one) => one !== scope);
    const limited = await connectAgent(app, await app.key(tenant.id, others));
    for (const tool of TOOLS) {
      const args = await validArguments(tool, tenant);
      const result = await limited.call(tool.name, args);
      if (tool.scope !== scope) {
        expect({ name: tool.name, isError: result.isError }).toEqual({ name: tool.name });
        continue;
      }
      const { required_scope, message } = expectFailure(result, 'insufficient_scope');
      expect(required_scope).toBe(scope);
      expect(message).toContain(scope);
      // 403 wins over 400 (docs/contract/errors.md#order-of-checks), so nothing is told of the
      // arguments.
      expectFailure(await limited.call(tool.name, { nonsense: 1 }), 'insufficient_scope');
    }
  });

  it('changes nothing for a key that lacks the scope', async () => {
    const reader = await connectAgent(app, await app.key(tenant.id, ['leads:read']));
    const lead = await createLead(tenant.api);
    expectFailure(await reader.call('delete_lead', { id: lead.id }), 'insufficient_scope');
    expect(await getLead(tenant.api, lead.id)).toStrictEqual(lead);
  });

  it.each(['send_message', '', 'list_lead', 'LIST_LEADS', 'constructor', '__proto__', 'toString'])(
    'JSON-RPC -32602 for the unknown tool %j',
    async (name) => {
      await expect(agent.call(name, {})).rejects.toMatchObject({ code: -32602 });
    },
  );

  it.each([
    ['no parameters', undefined],
    ['no name', { arguments: {} }],
    ['a name that is no text', { name: 5, arguments: {} }],
    ['arguments that are a list', { name: 'list_leads', arguments: [] }],
    ['arguments that are a text', { name: 'list_leads', arguments: '{}' }],
    ['arguments that are null', { name: 'list_leads', arguments: null }],
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

describe('a database that fails', () => {
  const LEAK = /relation|permission|denied|sqlstate|select |insert |pg_|postgres|driver|stack/i;
  let broken: TestApp;
  let owner: Tenant;
  let caller: Agent;

  beforeAll(async () => {
    broken = await TestApp.start();
    owner = await broken.organization();
    caller = await connectAgent(broken, owner);
  });
  afterAll(() => stopWithAgents(broken));

  it.each(byName(SCOPED_TOOLS))(
    '%s says so without a word of SQL, and works again',
    async (name, tool) => {
      const args = await validArguments(tool, owner);
      await broken.sql('revoke all on all tables in schema public from latitude_app');
      const failed = await caller.call(name, args);
      await broken.sql(
        'grant select, insert, update, delete on all tables in schema public to latitude_app',
      );
      expectFailure(failed, tool.effect === 'reads' ? 'query_failed' : 'create_failed');
      expect(JSON.stringify(failed)).not.toMatch(LEAK);
      await caller.succeed(name, args);
    },
  );
});

describe('arguments are read as strictly as bodies', () => {
  let us: Tenant;
  let caller: Agent;

  beforeAll(async () => {
    us = await app.organization();
    caller = await connectAgent(app, us);
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
    'refuses custom_fields %i levels deep by their name',
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

  it('names an argument that is read badly and those that are invalid together', async () => {
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
  ])('has the word of REST for an argument whose name is %s', async (_, args) => {
    const refused = await us.api.post(LEADS, args);
    const { status, body } = await caller.post(callOf('create_lead', args));
    expect(status).toBe(200);
    const { result } = body as { result: CallToolResult };
    const { details = [] } = expectFailure(result, 'validation_error');
    for (const { field } of details) expect(field).toMatch(/\S/);
    expect(details).toEqual(errorOf(refused).details);
  });

  it('names an argument with a very long name once, as REST does', async () => {
    const args = JSON.stringify({ first_name: 'A', ['x'.repeat(5_000)]: '\0' });
    const refused = await us.api.post(LEADS, args);
    const { body } = await caller.post(callOf('create_lead', args));
    const { result } = body as { result: CallToolResult };
    const { details } = expectFailure(result, 'validation_error');
    expect(details).toEqual(errorOf(refused).details);
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

  it.each(OUTSIDE)('400 for %s', async (_, text) => {
    expectError(await caller.post(text), 400, 'validation_error');
  });

  it('takes __proto__, constructor and prototype inside custom_fields as plain data', async () => {
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

  it('takes 2^53 itself, and texts of several planes', async () => {
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

describe('limits', () => {
  const READS = 5;
  const WRITES = 3;
  let limited: TestApp;
  let us: Tenant;
  let caller: Agent;

  beforeAll(async () => {
    const settings = { readsPerMinute: READS, writesPerMinute: WRITES };
    limited = await TestApp.start({ settings, database: app.database });
  });
  afterAll(() => stopWithAgents(limited));
  beforeEach(async () => {
    us = await limited.organization();
    caller = await connectAgent(limited, us);
  });

  interface Limits {
    readonly limit: number;
    readonly remaining: number;
    readonly reset: number;
  }

  function limitsIn(headers: Headers): Limits {
    const read = (name: string) => {
      const value = headers.get(name) ?? '';
      expect({ [name]: value }).toEqual({ [name]: expect.stringMatching(/^\d+$/) as string });
      return Number(value);
    };
    return {
      limit: read('RateLimit-Limit'),
      remaining: read('RateLimit-Remaining'),
      reset: read('RateLimit-Reset'),
    };
  }

  /** What is left after a call, whatever its result. */
  async function after(name: string, args: Arguments = {}): Promise<Limits> {
    await caller.call(name, args);
    return limitsIn(caller.lastAnswer.headers);
  }

  /** What is left after a request of REST. */
  async function afterRest(method: string, path: string, body?: unknown): Promise<Limits> {
    return limitsIn((await us.api.request(method, path, { body })).headers);
  }

  async function expectOverLimit(name: string, args: Arguments, limit: number): Promise<void> {
    const result = await caller.call(name, args);
    const { status, headers } = caller.lastAnswer;
    const error = expectFailure(result, 'rate_limit_exceeded');
    expect(status).toBe(200);
    expect(limitsIn(headers)).toMatchObject({ limit, remaining: 0 });
    expect(error.retry_after_seconds).toBeGreaterThan(0);
    expect(error.retry_after_seconds).toBeLessThanOrEqual(60);
    expect(headers.get('retry-after')).toBe(String(error.retry_after_seconds));
    expect(Math.ceil(Date.parse(error.resets_at!) / 1000)).toBe(limitsIn(headers).reset);
  }

  it('are shared by REST and tools: reads', async () => {
    const first = await afterRest('GET', LEADS);
    const states = [
      first,
      await after('list_leads'),
      await afterRest('GET', '/api/v1/me'),
      await after('get_task', { id: randomUUID() }),
      await after('list_appointments'),
    ];
    expect(states).toEqual(
      [4, 3, 2, 1, 0].map((remaining) => ({ limit: READS, remaining, reset: first.reset })),
    );
    await expectOverLimit('list_leads', {}, READS);
    expectError(await us.api.get(LEADS), 429, 'rate_limit_exceeded');
  });

  it('are shared by REST and tools: writes', async () => {
    const first = await after('create_lead', { first_name: 'A' });
    const states = [
      first,
      await afterRest('POST', LEADS, { first_name: 'A' }),
      await after('create_task', { title: 'Call' }),
    ];
    expect(states).toEqual(
      [2, 1, 0].map((remaining) => ({ limit: WRITES, remaining, reset: first.reset })),
    );
    await expectOverLimit('delete_task', { id: randomUUID() }, WRITES);
    expectError(await us.api.post(LEADS, { first_name: 'A' }), 429, 'rate_limit_exceeded');
  });

  it('count reads and writes apart', async () => {
    for (let i = 0; i < WRITES; i++) await after('create_lead', { first_name: 'A' });
    await expectOverLimit('create_lead', { first_name: 'A' }, WRITES);
    expect(await after('list_leads')).toMatchObject({ limit: READS, remaining: READS - 1 });
    for (let i = 1; i < READS; i++) await after('list_leads');
    await expectOverLimit('list_leads', {}, READS);
    const other = await limited.organization();
    caller = await connectAgent(limited, other);
    for (let i = 0; i < READS; i++) await after('list_leads');
    expect(await after('create_lead', { first_name: 'A' })).toMatchObject({
      remaining: WRITES - 1,
    });
  });

  it.each(byName(SCOPED_TOOLS))('count %s as what it does', async (name, { effect }) => {
    const limit = effect === 'reads' ? READS : WRITES;
    const state = await after(name, { nonsense: 1 });
    expect(state).toMatchObject({ limit, remaining: limit - 1 });
    const route = effect === 'reads' ? ['GET', LEADS] : ['POST', LEADS];
    const rest = await afterRest(route[0]!, route[1]!, effect === 'reads' ? undefined : {});
    expect(rest).toEqual({ ...state, remaining: limit - 2 });
  });

  it('let nothing be changed beyond them', async () => {
    const lead = await createLead(us.api, { first_name: 'A' });
    for (let i = 1; i < WRITES; i++) await after('update_lead', { id: lead.id, city: `City ${i}` });
    const before = await getLead(us.api, lead.id);
    await expectOverLimit('update_lead', { id: lead.id, city: 'Paris' }, WRITES);
    await expectOverLimit('delete_lead', { id: lead.id }, WRITES);
    await expectOverLimit('create_lead', { first_name: 'B' }, WRITES);
    expect(await getLead(us.api, lead.id)).toStrictEqual(before);
    expect(await us.api.get(LEADS)).toMatchObject({ body: { meta: { total: 1 } } });
  });

  it('come before the scope and the arguments', async () => {
    const reader = await limited.key(us.id, ['leads:read']);
    caller = await connectAgent(limited, reader);
    for (let i = 0; i < WRITES; i++) {
      expectFailure(await caller.call('create_lead', {}), 'insufficient_scope');
    }
    await expectOverLimit('create_lead', { nonsense: 1 }, WRITES);
  });

  it('are neither counted nor extended by a refusal', async () => {
    const { reset } = await after('list_leads');
    for (let i = 1; i < READS; i++) await after('list_leads');
    for (let i = 0; i < 3; i++) {
      await expectOverLimit('list_leads', {}, READS);
      expect(limitsIn(caller.lastAnswer.headers).reset).toBe(reset);
    }
  });

  it('count calls that come all at once exactly', async () => {
    const results = await Promise.all(
      Array.from({ length: 12 }, () => caller.call('create_lead', { first_name: 'A' })),
    );
    expect(results.filter(({ isError }) => !isError)).toHaveLength(WRITES);
    expect(await us.api.get(LEADS)).toMatchObject({ body: { meta: { total: WRITES } } });
  });

  it('leave tools/list and ping free, before and beyond', async () => {
    for (let i = 0; i < 2 * READS; i++) {
      await caller.listTools();
      await caller.ping();
      limitsIn(caller.lastAnswer.headers);
    }
    expect(await after('list_leads')).toMatchObject({ remaining: READS - 1 });
    for (let i = 1; i < READS; i++) await after('list_leads');
    await expectOverLimit('list_leads', {}, READS);
    expect(await caller.listTools()).toHaveLength(ALL_TOOLS.length);
    await caller.ping();
  });

  it('count a call that is refused for its scope, its arguments or its record', async () => {
    expect(await after('create_lead', {})).toMatchObject({ limit: WRITES, remaining: 2 });
    expect(await after('delete_lead', { id: randomUUID() })).toMatchObject({ remaining: 1 });
    const reader = await limited.key(us.id, ['leads:read']);
    caller = await connectAgent(limited, reader);
    expect(await after('create_lead', {})).toMatchObject({ limit: WRITES, remaining: 2 });
    expect(await after('list_tasks')).toMatchObject({ limit: READS, remaining: READS - 1 });
  });

  it('do not count an unknown tool', async () => {
    for (let i = 0; i < 2 * READS; i++) {
      await expect(caller.call('send_message', {})).rejects.toMatchObject({ code: -32602 });
    }
    expect(await after('list_leads')).toMatchObject({ remaining: READS - 1 });
    expect(await after('create_lead')).toMatchObject({ remaining: WRITES - 1 });
  });

  it('are those of the key, not of the session or the organization', async () => {
    await after('list_leads');
    const again = await connectAgent(limited, us);
    await again.call('list_leads');
    expect(limitsIn(again.lastAnswer.headers)).toMatchObject({ remaining: READS - 2 });
    const colleague = await connectAgent(limited, await limited.key(us.id));
    await colleague.call('list_leads');
    expect(limitsIn(colleague.lastAnswer.headers)).toMatchObject({ remaining: READS - 1 });
  });
});

describe('an agent that knows nothing but tools/list', () => {
  it('books an appointment with a lead that it has found', async () => {
    const us = await app.organization();
    await createLead(us.api, { first_name: 'Ada', last_name: 'Lovelace' });
    const grace = await createLead(us.api, { first_name: 'Grace', last_name: 'Hopper' });
    const assistant = await connectAgent(app, us);
    const tools = (await assistant.listTools()) as ToolInList[];

    /** The one tool of a kind that takes these arguments and answers such an object. */
    const toolFor = (kind: 'reads' | 'writes', args: Arguments, answer: object): string => {
      const found = tools.filter(
        ({ inputSchema, outputSchema, annotations }) =>
          annotations?.readOnlyHint === (kind === 'reads') &&
          ajv.compile(inputSchema)(args) &&
          ajv.compile(outputSchema!)(answer),
      );
      expect(found).toHaveLength(1);
      return found[0]!.name;
    };
    const meta = { page: 1, limit: 50, total: 0, total_pages: 0 };
    const page = { data: [], meta };

    const search = { search: 'grace hop' };
    const leads = await assistant.succeed<Page>(toolFor('reads', search, page), search);
    expect(leads.data.map(({ id }) => id)).toEqual([grace.id]);
    const [{ id: lead_id }] = leads.data as [Row];

    const booking = {
      lead_id,
      start_time: '2026-09-01T09:00:00Z',
      end_time: '2026-09-01T10:00:00Z',
      type: 'Estimate',
    };
    const create = toolFor('writes', booking, { id: lead_id });
    const booked = await assistant.succeed<Row>(create, booking);

    const filter = { lead_id };
    const list = toolFor('reads', filter, page);
    const { data } = await assistant.succeed<Page>(list, filter);
    expect(data).toEqual([booked]);
    expect(booked).toMatchObject({ lead_id, type: 'Estimate', status: 'scheduled' });
    expect(dataOf(await us.api.get(`${APPOINTMENTS}/${booked.id}`))).toEqual(booked);
  });
});
