import { Injectable, Module } from '@nestjs/common';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { declareField, RecordOf, UpdateOf } from '../../../../src/platform/fields/field.js';
import type { JsonSchema } from '../../../../src/platform/fields/schema/json-schema.js';
import {
  DateTime,
  Email,
  Flag,
  Integer,
  JsonObject,
  OneOf,
  Phone,
  Tags,
  Text,
  Uuid,
} from '../../../../src/platform/fields/kinds/kinds.js';
import { ListQuery, SortBy } from '../../../../src/platform/data/lists/list-query.js';
import type { Page } from '../../../../src/platform/data/lists/page.js';
import { Tool } from '../../../../src/modules/mcp/tools/tool.decorator.js';
import type { ToolDefinition } from '../../../../src/modules/mcp/tools/tool-registry.js';
import type { Call } from '../../../../src/platform/data/call.js';
import { type Agent, connectAgent, stopWithAgents } from '../../../support/mcp/agent.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { PROTOCOL_MODES } from '../../../support/mcp/mcp-sdk-clients.js';
import { strictSchemaOf } from '../../../support/mcp/strict-tools.js';
import { ALL_TOOLS } from '../../../support/mcp/tools.js';

/** A custom kind of field, with schema keywords that the fields of Latitude do not have. */
function Odd(): PropertyDecorator {
  const nested = { type: ['object', 'null'], properties: { deep: { type: ['string', 'null'] } } };
  const properties = { nested, open: { type: 'object' }, level: { type: 'integer', enum: [1, 2] } };
  const schema = { type: 'object', properties, required: ['level'], maxProperties: 3 };
  return declareField({ description: 'Odd. Very.', example: { level: 1 } }, { schema, rules: [] });
}

class CreateRoofDto {
  @Text({ max: 50, required: true, description: 'Name.', example: 'Gable' }) name: string;
  @Email({ description: 'Whom to write to.' }) email?: string | null;
  @Phone({ description: 'Whom to call.' }) phone?: string | null;
  @Uuid({ description: 'The lead.' }) lead_id?: string | null;
  @OneOf(['flat', 'steep'], { default: 'flat', description: 'Form.' }) form?: string;
  @OneOf(['slate', 'tin'], { description: 'Material.' }) material?: string | null;
  @Integer({ min: 0, max: 90, description: 'Pitch.' }) pitch?: number | null;
  @Integer({ min: 1, max: 9, default: 3, description: 'Rank.' }) rank?: number;
  @Flag({ default: true, description: 'Whether it is dry.' }) dry?: boolean;
  @DateTime({ description: 'When it was built.' }) built_at?: Date | null;
  @DateTime({ after: 'built_at', description: 'When it was torn down.' }) gone_at?: Date | null;
  @Tags({ description: 'Labels.' }) labels?: string[];
  @JsonObject({ description: 'Anything.' }) data?: Record<string, unknown>;
  @Odd() odd?: object | null;
}
class UpdateRoofDto extends UpdateOf(CreateRoofDto) {}
class RoofDto extends RecordOf(CreateRoofDto) {}
class RoofListQuery extends ListQuery {
  @Text({ max: 50, description: 'Part of the name.' }) search?: string;
  @SortBy(['name', 'rank'], 'name') sort_by: string;
}

const ROOF = 'Id of the roof.';
const COMMON = { title: 'A roof', description: 'Do it.', scope: 'leads:write' } as const;

@Injectable()
class RoofsTools {
  @Tool('list_roofs', { ...COMMON, effect: 'reads', input: RoofListQuery, output: [RoofDto] })
  list(): Promise<Page<RoofDto>> {
    return Promise.reject(new Error('is never called'));
  }

  @Tool('create_roof', { ...COMMON, effect: 'creates', input: CreateRoofDto, output: RoofDto })
  create(_: Call, roof: CreateRoofDto) {
    return { id: '01a1fbde-995e-72a3-a032-ab1c988b9794', ...roof } as RoofDto;
  }

  @Tool('update_roof', {
    ...{ ...COMMON, effect: 'updates', id: ROOF },
    ...{ input: UpdateRoofDto, output: RoofDto },
  })
  update(_: Call, id: string, roof: UpdateRoofDto) {
    return { id, ...roof } as RoofDto;
  }

  @Tool('delete_roof', { ...COMMON, effect: 'deletes', id: ROOF, output: RoofDto })
  delete(_: Call, id: string) {
    return { id } as RoofDto;
  }
}

@Module({ providers: [RoofsTools] })
class RoofsModule {}

let app: TestApp;
let agent: Agent;
let tools: ToolDefinition[];

beforeAll(async () => {
  app = await TestApp.start({ modules: [RoofsModule] });
  agent = await connectAgent(app, await app.organization());
  tools = (await agent.listTools()) as ToolDefinition[];
});
afterAll(() => stopWithAgents(app));

const NAMES = [
  ...ALL_TOOLS.map(({ name }) => name),
  ...['list_roofs', 'create_roof', 'update_roof', 'delete_roof'],
];
const SUBSET = ['type', 'description', 'enum', 'properties', 'required', 'items'];
const TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object'];

function toolOf(name: string): ToolDefinition {
  return tools.find((tool) => tool.name === name)!;
}

function inputOf(name: string): Readonly<Record<string, JsonSchema>> {
  return toolOf(name).inputSchema.properties ?? {};
}

/** A schema and its nested schemas, with their paths. */
function parts(schema: JsonSchema, place: string): (readonly [string, JsonSchema])[] {
  const { properties = {}, items } = schema;
  const inside = Object.entries(properties).map(
    ([name, one]) => [`${place}.${name}`, one] as const,
  );
  const nested = [...inside, ...(items ? [[`${place}[]`, items] as const] : [])];
  return [[place, schema], ...nested.flatMap(([where, one]) => parts(one, where))];
}

describe('the schemas of tools, for the APIs of all models', () => {
  it('are tested for all tools, including those of other modules', () => {
    expect(tools.map(({ name }) => name).sort()).toEqual([...NAMES].sort());
  });

  describe.each(NAMES)('%s', (name) => {
    it('uses only keywords of the common subset in its arguments', () => {
      for (const [place, part] of parts(toolOf(name).inputSchema, name)) {
        const { type, enum: values, properties, required = [], items } = part;
        expect({ place, type }).toEqual({
          place,
          type: expect.stringMatching(/^[a-z]+$/) as string,
        });
        expect(TYPES).toContain(type);
        const known = [...SUBSET, ...(type === 'object' ? ['additionalProperties'] : [])];
        expect({ place, stray: Object.keys(part).filter((key) => !known.includes(key)) }).toEqual({
          place,
          stray: [],
        });
        if (values) {
          expect({ place, type }).toEqual({ place, type: 'string' });
          for (const value of values) expect(typeof value).toBe('string');
        }
        expect({ place, has: properties !== undefined }).toEqual({ place, has: type === 'object' });
        expect({ place, has: items !== undefined }).toEqual({ place, has: type === 'array' });
        for (const one of required) expect(properties).toHaveProperty(one);
      }
    });

    it('has at most one type for each part of its results', () => {
      for (const [place, part] of parts(toolOf(name).outputSchema, name)) {
        const known = [...SUBSET, ...(part.type === 'object' ? ['additionalProperties'] : [])];
        const keys = Object.keys(part).filter((key) => !known.includes(key));
        expect({ place, keys }).toEqual({ place, keys: [] });
        expect(Array.isArray(part.type)).toBe(false);
      }
    });

    it('is valid for strict function calling after the conversion of a host', () => {
      const strict = strictSchemaOf(toolOf(name).inputSchema);
      for (const [place, { type, properties, required, additionalProperties }] of parts(
        strict,
        name,
      )) {
        const isObject = [type].flat().includes('object');
        if (!isObject) continue;
        expect({ place, required, additionalProperties }).toEqual({
          place,
          required: Object.keys(properties ?? {}),
          additionalProperties: false,
        });
      }
    });
  });

  it('describe bounds, formats and defaults in words', () => {
    const told = (field: string) => inputOf('create_roof')[field]!.description;
    expect(told('name')).toBe('Name. Max 50 characters.');
    expect(told('email')).toBe('Whom to write to. Max 254 characters.');
    expect(told('lead_id')).toBe('The lead. A UUID.');
    expect(told('form')).toBe('Form. Default: flat.');
    expect(told('pitch')).toBe('Pitch. 0 to 90.');
    expect(told('rank')).toBe('Rank. 1 to 9. Default: 3.');
    expect(told('labels')).toBe('Labels. Max 50 items.');
    expect(told('data')).toBe('Anything. Max 100 keys.');
    const { properties = {} } = inputOf('create_roof').odd!;
    expect(properties.level!.description).toBe('One of 1, 2.');
  });

  it('describe the time zone of each time argument', () => {
    const times = tools.flatMap(({ inputSchema }) =>
      Object.entries(inputSchema.properties ?? {}).filter(([name]) =>
        /(_at|_time|_date|_after|_before)$/.test(name),
      ),
    );
    expect(times.length).toBeGreaterThan(10);
    for (const [name, { description }] of times) {
      expect({ name, description }).toEqual({
        name,
        description: expect.stringContaining('ISO 8601, UTC by default.') as string,
      });
    }
  });

  it('allow additional properties in free-form objects', () => {
    for (const custom of [inputOf('create_lead').custom_fields, inputOf('update_roof').data]) {
      expect(custom).toMatchObject({ type: 'object', properties: {}, additionalProperties: true });
    }
  });

  it.each(['list_leads', 'list_roofs'])('list the search of %s before its page', (name) => {
    const names = Object.keys(inputOf(name));
    expect(names[0]).toBe('search');
    expect(names.indexOf('sort_by')).toBeLessThan(names.indexOf('page'));
  });

  it.each(NAMES.filter((name) => !name.startsWith('delete_') && !name.startsWith('cancel_')))(
    'contain every field of the result of %s, or allow others',
    (name) => {
      const { outputSchema } = toolOf(name);
      const record = outputSchema.properties?.data?.items ?? outputSchema;
      const numbers: Readonly<Record<string, number>> = { count_records: 2 };
      const all = name.endsWith('roof') || name.endsWith('roofs') ? 15 : (numbers[name] ?? 5);
      const expected = record.additionalProperties === true ? 1 : all;
      expect(Object.keys(record.properties ?? {}).length).toBeGreaterThanOrEqual(expected);
    },
  );
});

describe.each(PROTOCOL_MODES)('results (%s)', (protocolMode) => {
  it('match the output schemas, including nulls', async () => {
    const caller = await connectAgent(app, await app.organization(), protocolMode);
    const ajv = new Ajv2020({ strict: true });
    const valid = (name: string, result: unknown) => {
      const validate = ajv.compile(toolOf(name).outputSchema);
      validate(result);
      expect({ name, errors: validate.errors }).toEqual({ name, errors: null });
    };
    const lead = await caller.succeed('create_lead', { first_name: 'A', custom_fields: { a: 1 } });
    expect(lead).toMatchObject({ notes: null, custom_fields: { a: 1 } });
    valid('create_lead', lead);
    valid('list_leads', await caller.succeed('list_leads'));
    valid('delete_lead', await caller.succeed('delete_lead', { id: lead.id, dry_run: true }));
    valid('whoami', await caller.succeed('whoami'));
    valid('create_task', await caller.succeed('create_task', { title: 'A' }));
  });
});
