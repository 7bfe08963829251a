import { SCOPES } from '../../../../src/platform/access/scopes.js';
import type { JsonSchema } from '../../../../src/platform/fields/schema/json-schema.js';
import type { OpenApiDocument } from '../../../../src/platform/http/openapi/model.js';
import { createLead, dataOf } from '../../../../src/testing/factories.js';
import { OpenApiValidator } from '../../../../src/testing/openapi.js';
import { TestServer, type Tenant } from '../../../../src/testing/test-server.js';
import {
  type Agent,
  type Arguments,
  connectAgent,
  stopWithAgents,
} from '../../../support/mcp/agent.js';
import { casesOf, PROTOCOL_MODES } from '../../../support/mcp/mcp-sdk-clients.js';
import {
  ajv,
  expectValid,
  type ListedTool,
  type Page,
  type Row,
  withoutLead,
} from '../../../support/mcp/tool-assertions.js';
import {
  ALL_TOOLS,
  byName,
  CORE_TOOLS,
  isCore,
  type ToolCase,
  TOOLS,
  validArguments,
} from '../../../support/mcp/tools.js';

/** The parameters that tools leave out, because their schemas would take too many tokens. */
const SYNC = ['after', 'before', 'fields', 'include', 'updated_after', 'updated_before'];
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  list_leads: [...SYNC, 'deleted', 'source', 'tag'],
  list_appointments: [...SYNC, 'type', 'end_before'],
  list_tasks: [...SYNC, 'deleted', 'priority', 'due_after', 'created_after'],
  get_appointment: ['include'],
  get_task: ['include'],
};

const APPOINTMENTS = '/api/v1/appointments';

const namesOf = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
});
afterAll(() => stopWithAgents(app));

type ListedScopes = (typeof ALL_TOOLS)[number];

it('has the same definitions with and without a session', async () => {
  const agents = PROTOCOL_MODES.map((protocolMode) => connectAgent(app, tenant, protocolMode));
  const [one, other] = await Promise.all(agents.map(async (agent) => (await agent).listTools()));
  expect(one).toEqual(other);
});

describe.each(PROTOCOL_MODES)('the list of tools (%s)', (protocolMode) => {
  const connect = (server: { readonly url: string }, owner: Tenant) =>
    connectAgent(server, owner, protocolMode);
  let agent: Agent;
  let listed: readonly ListedTool[];

  beforeAll(async () => {
    agent = await connect(app, tenant);
    listed = await agent.listTools();
  });

  const ownTools = casesOf(protocolMode, byName(TOOLS));
  const listedTool = (name: string): ListedTool => listed.find((tool) => tool.name === name)!;

  describe('tools/list', () => {
    const ORDER = [
      'list_leads get_lead create_lead update_lead upsert_lead delete_lead',
      'list_appointments get_appointment create_appointment update_appointment cancel_appointment',
      'list_tasks get_task create_task update_task delete_task',
      'whoami',
    ].flatMap((names) => names.split(' '));

    it('has the seventeen core tools in the order of the contract', () => {
      expect(namesOf(listed.filter(isCore))).toEqual(ORDER);
      expect(namesOf(CORE_TOOLS)).toEqual(ORDER);
    });

    it('has every declared tool in a fixed order', async () => {
      expect(namesOf(listed).sort()).toEqual(namesOf(ALL_TOOLS).sort());
      expect(await agent.listTools()).toEqual(listed);
      const colleague = await connect(app, await app.key(tenant.id));
      expect(await colleague.listTools()).toEqual(listed);
    });

    // Measured with o200k_base, the encoding of GPT-4o and later: 34,093 characters, of which 550 were the definition of a
    // custom field, were 7,960 tokens, 4.28 each.
    it('takes less than 33,700 characters for all scopes, so that one with a custom field takes at most 8,000 tokens', () => {
      expect(JSON.stringify(listed).length).toBeLessThan(33_700);
    });

    const HINTS = {
      reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
      creates: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
      updates: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
      deletes: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    };

    it('has a title and the four hints on every tool', () => {
      for (const { title, annotations } of listed) {
        expect(annotations).toEqual({
          title,
          readOnlyHint: expect.any(Boolean) as boolean,
          destructiveHint: expect.any(Boolean) as boolean,
          idempotentHint: expect.any(Boolean) as boolean,
          openWorldHint: false,
        });
        expect(title).toMatch(/\w/);
      }
    });

    describe.each(ownTools)('%s', (name, tool) => {
      it('has a title, a description and the four hints', () => {
        const { title = '', description = '', annotations } = listedTool(name);
        expect(title).toMatch(/^[A-Z][a-z ]+[a-z]$/);
        expect(description).toMatch(/^[A-Z]\w+ .{4,}\.$/);
        expect(annotations).toEqual({ title, ...HINTS[tool.effect], openWorldHint: false });
      });

      it('has schemas of objects that compile strictly', () => {
        const { inputSchema, outputSchema } = listedTool(name);
        for (const schema of [inputSchema, outputSchema!]) {
          expect(schema.type).toBe('object');
          expect(() => ajv.compile(schema)).not.toThrow();
        }
        expect(inputSchema.additionalProperties).toBe(false);
      });

      it('describes every argument', () => {
        const { properties = {} } = listedTool(name).inputSchema;
        for (const [field, schema] of Object.entries(properties)) {
          expect({ field, description: schema.description }).toEqual({
            field,
            description: expect.stringMatching(/^[A-Z].*\w{3}.*\.$/) as string,
          });
        }
      });

      it('has an input schema that accepts valid arguments', async () => {
        const { inputSchema } = listedTool(name);
        expectValid(inputSchema, await validArguments(tool, tenant));
        expect(ajv.compile(inputSchema)({ unknown: 1 })).toBe(false);
      });
    });

    describe('compared with the OpenAPI document', () => {
      let description: OpenApiValidator;

      beforeAll(async () => {
        const { body } = await app.client().get('/openapi.json');
        description = new OpenApiValidator(body as OpenApiDocument);
      });

      /** The input of the route of a tool, without the id in the path. */
      function restInput({ route }: ToolCase): JsonSchema {
        const { parameters = [], requestBody } = description.operationOf(route);
        const query = parameters.filter((parameter) => parameter.in === 'query');
        const body = requestBody?.content['application/json']?.schema;
        const properties = query.map((p) => [p.name, p.schema as JsonSchema] as const);
        if (!body) return { properties: Object.fromEntries(properties) };
        if (!('$ref' in body)) return body as JsonSchema;
        const { schemas } = description.document.components;
        return schemas[body.$ref.split('/').at(-1)!] as JsonSchema;
      }

      /** Whether a parameter of a query is JSON as text. */
      function isJson(schema: JsonSchema): boolean {
        return 'contentMediaType' in schema;
      }

      /** The bounds of a field of REST, as the description of an argument states them. */
      function boundsOf(schema: JsonSchema): string[] {
        const { format, minimum, maximum = 0, maxLength, maxItems, maxProperties } = schema;
        const { description = '' } = schema;
        const isText = maxLength !== undefined && format === undefined && !isJson(schema);
        return [
          ...(format === 'uuid' ? ['UUID'] : []),
          ...(description.includes('ISO 8601') ? ['ISO 8601', 'UTC'] : []),
          ...(isText ? [`Max ${maxLength} characters.`] : []),
          ...(maxItems === undefined ? [] : [`Max ${maxItems} items.`]),
          ...(maxProperties === undefined ? [] : [`Max ${maxProperties} keys.`]),
          ...(minimum !== undefined && maximum <= 1_000 ? [`${minimum} to ${maximum}.`] : []),
        ];
      }

      it.each(ownTools)('%s has the same fields with the same bounds', (name, tool) => {
        const { properties: ours = {}, required = [] } = listedTool(name).inputSchema;
        const { properties: all = {}, required: restRequired = [] } = restInput(tool);
        const leftOut = LEFT_OUT[name] ?? [];
        expect(Object.keys(all)).toEqual(expect.arrayContaining([...leftOut]));
        const rest = Object.fromEntries(
          Object.entries(all).filter(([field]) => !leftOut.includes(field)),
        );
        const ofId = tool.makeRecord ? ['id'] : [];
        const ofDeletion = tool.effect === 'deletes' ? ['dry_run'] : [];
        const canEmpty = Object.values(rest).some(({ type }) => [type].flat().includes('null'));
        const ofUpdate = name.startsWith('update_') && canEmpty ? ['clear'] : [];
        const ofList = name.startsWith('list_') ? ['fields'] : [];
        const own = [...ofId, ...ofDeletion, ...Object.keys(rest), ...ofUpdate, ...ofList];
        expect(Object.keys(ours).sort()).toEqual(own.sort());
        expect(required).toEqual([...ofId, ...restRequired]);
        for (const [field, schema] of Object.entries(rest)) {
          const { type, enum: values, description = '' } = ours[field]!;
          const restTypes = [isJson(schema) ? 'object' : (schema.type ?? [])]
            .flat()
            .filter((one) => one !== 'null');
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

      it('states bounds and defaults', () => {
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

    it.each(SCOPES)(
      'has exactly the tools of the scope %s for a key with this scope',
      async (scope) => {
        const limited = await connect(app, await app.key(tenant.id, [scope]));
        const isOpen = ({ someScope, ...tool }: ListedScopes) =>
          (someScope?.includes(scope) ?? tool.scope === 'any-key') ||
          (tool.scope === scope && !tool.scopes);
        const tools = await limited.listTools();
        expect(namesOf(tools).sort()).toEqual(namesOf(ALL_TOOLS.filter(isOpen)).sort());
        expect(namesOf(tools.filter(isCore))).toEqual(namesOf(CORE_TOOLS.filter(isOpen)));
      },
    );

    const CORE_SCOPES = ['leads', 'appointments', 'tasks'].flatMap((name) => {
      return [`${name}:read`, `${name}:write`];
    });

    it.each(CORE_SCOPES)('has at least two core tools for the scope %s', (scope) => {
      expect(CORE_TOOLS.filter((tool) => tool.scope === scope).length).toBeGreaterThanOrEqual(2);
    });

    it('has only whoami for a key without scopes', async () => {
      const limited = await connect(app, await app.key(tenant.id, []));
      expect((await limited.listTools()).map(({ name }) => name)).toEqual(['whoami']);
    });
  });

  describe('an agent that uses only tools/list', () => {
    it('books an appointment with a lead that it has found', async () => {
      const us = await app.organization();
      await createLead(us.api, { first_name: 'Ada', last_name: 'Lovelace' });
      const grace = await createLead(us.api, { first_name: 'Grace', last_name: 'Hopper' });
      const assistant = await connect(app, us);
      const tools = (await assistant.listTools()) as ListedTool[];

      /** The only tool of a kind that accepts these arguments and returns such an object. */
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
      expect(data).toMatchObject([{ id: booked.id, lead_name: 'Grace Hopper' }]);
      expect(booked).toMatchObject({ lead_id, type: 'Estimate', status: 'scheduled' });
      const stored = dataOf(await us.api.get(`${APPOINTMENTS}/${booked.id}`));
      expect(stored).toEqual(withoutLead(booked));
    });
  });
});
