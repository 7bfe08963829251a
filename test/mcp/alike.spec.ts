import type { Type } from '@nestjs/common';
import {
  AppointmentListQuery,
  CreateAppointmentDto,
  UpdateAppointmentDto,
} from '../../src/appointments/appointment.dto.js';
import { clearableFieldsOf, type Field, fieldsOf } from '../../src/fields/field.js';
import { CreateLeadDto, LeadListQuery, UpdateLeadDto } from '../../src/leads/lead.dto.js';
import { CreateTaskDto, TaskListQuery, UpdateTaskDto } from '../../src/tasks/task.dto.js';
import {
  type Agent,
  type Arguments,
  connectAgent,
  failureOf,
  stopWithAgents,
} from '../support/agent.js';
import type { Answer } from '../../src/testing/api-client.js';
import {
  createLead,
  dataOf,
  errorOf,
  type LeadRecord,
  LEADS,
} from '../../src/testing/factories.js';
import { TestServer } from '../../src/testing/test-server.js';
import type { Tenant } from '../../src/testing/test-server.js';
import { ERAS } from '../support/speakers.js';

const APPOINTMENTS = '/api/v1/appointments';
const TASKS = '/api/v1/tasks';

type Json = Record<string, unknown>;
type Row = Json & { id: string };

/** One side's answer: what is stored or found, or what is wrong. */
type Outcome =
  | { readonly succeeds: true; readonly value: unknown }
  | {
      readonly succeeds: false;
      readonly code: string;
      readonly details: readonly { readonly field: string; readonly message: string }[] | undefined;
    };

/** One value of one field, sent both ways. */
interface Comparison {
  readonly value: unknown;
  readonly rest: Outcome;
  readonly mcp: Outcome;
}

let app: TestServer;
let tenant: Tenant;
let agent: Agent;
let lead: LeadRecord;

/** Valid bodies of creates, with their required fields alone. */
const bodies: Record<string, () => Json> = {
  [LEADS]: () => ({ first_name: 'Ada' }),
  [APPOINTMENTS]: () => ({
    lead_id: lead.id,
    start_time: '2026-03-02T09:00:00.000Z',
    end_time: '2026-03-02T10:00:00.000Z',
  }),
  [TASKS]: () => ({ title: 'Call' }),
};

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
  lead = await createLead(tenant.api, { email: 'ada@example.com', status: 'new' });
});
afterAll(() => stopWithAgents(app));

let suites = 0;

/**
 * The client of the SDK keeps something of every call, so each suite has its own. They take turns,
 * so that every kind of field is sent in both eras.
 */
async function renewAgent(): Promise<void> {
  agent = await connectAgent(app, tenant, ERAS[suites++ % ERAS.length]);
}

// ---------------------------------------------------------------- values

/** What a field of any kind may be given. */
function anyValues(): unknown[] {
  const wrong = [0, 1, -1, 1.5, 2 ** 53, 1e21, true, false, [], ['a'], [null], {}, { a: 1 }];
  const texts = ['', ' ', '\t\n', '\u00a0', 'nonsense', 'null', 'true', '0', '😀', 'A\0', '\ud800'];
  return [null, ...wrong, ...texts];
}

/** Values near what the schema of a field allows. */
function valuesOf({ name, schema }: Field): unknown[] {
  const examples = linked(name) ? [lead.id] : (schema.examples ?? []);
  const texts = [...examples, ...(schema.enum ?? [])].filter((value) => typeof value === 'string');
  const turned = texts.flatMap((text) => [` ${text}\n`, text.toUpperCase(), text.toLowerCase()]);
  return [
    ...examples,
    ...(schema.enum ?? []),
    ...turned,
    ...lengths(schema.maxLength),
    ...(schema.format === 'uuid' ? UUIDS : []),
    ...(schema.format === 'date-time' ? DATE_TIMES : []),
    ...(schema.format === 'email' ? EMAILS : []),
    ...(name === 'phone' ? PHONES : []),
    ...(schema.type === 'array' ? LISTS : []),
    ...(schema.type === 'object' ? OBJECTS : []),
    ...(schema.type === 'integer' ? integers(schema.minimum!, schema.maximum!) : []),
  ];
}

/** Fields that name a live lead. */
function linked(name: string): boolean {
  return name === 'lead_id' || name === 'contact_id';
}

function lengths(most: number | undefined): string[] {
  if (most === undefined) return [];
  return [most, most + 1].flatMap((n) => ['x'.repeat(n), '😀'.repeat(n), ` ${'y'.repeat(n)} `]);
}

function integers(least: number, most: number): unknown[] {
  return [least, most, least - 1, most + 1, '007', '1e1', '+1', '1.0', '0x1', ' 5'];
}

const UUIDS = [
  'a1fbde',
  '01A1FBDE-995E-72A3-A032-AB1C988B979G',
  '{01a1fbde-995e-72a3-a032-ab1c988b9794}',
  '01a1fbde995e72a3a032ab1c988b9794',
  '00000000-0000-0000-0000-000000000000',
];

const DATE_TIMES = [
  ...['2026-03-02', '2026-03-02T09:30', '2026-03-02T09:30:15.1234567Z', '2026-03-02T09:30+05:30'],
  ...['2026-02-30', '2026-02-30T10:00:00Z', '2025-02-29T10:00Z', '2026-13-01', '2026-03-02T24:00Z'],
  ...['2026-W10-1', '2026-061', '20260302T093000Z', '2026-03-02 09:30:00Z', '2026-03-02t09:30:00z'],
  ...['2026-03-02T09:30:60Z', '0000-01-01', '0001-01-01', '10000-01-01', '+010000-01-01T00:00:00Z'],
  ...['1772442600000', 'tomorrow', '9999-12-31T23:59:59.999Z', '0001-01-01T00:00:00+01:00'],
];

const EMAILS = ['ada', 'ada@', '@example.com', 'a b@example.com', 'ada@localhost', 'ä@example.com'];
const PHONES = ['12', '123', '+-()', '1'.repeat(50), '1'.repeat(51), '415 555 0132 x9', '１２３'];

const LISTS = [
  ['a', ' a ', 'b', 'a'],
  [''],
  [' '],
  [1],
  [['a']],
  ['x'.repeat(50)],
  ['x'.repeat(51)],
  ['A\0'],
  Array.from({ length: 50 }, (_, i) => `t${i}`),
  Array.from({ length: 51 }, (_, i) => `t${i}`),
  Array<string>(51).fill('same'),
];

/** An object so many levels deep. */
function deep(levels: number): Json {
  return levels === 1 ? { leaf: 1 } : { in: deep(levels - 1) };
}

function withKeys(count: number): Json {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
}

const OBJECTS = [
  deep(8),
  deep(9),
  withKeys(100),
  withKeys(101),
  { '': 1 },
  { ['k'.repeat(100)]: 1 },
  { ['k'.repeat(101)]: 1 },
  { text: 'x'.repeat(32 * 1024 - 11) },
  { text: 'x'.repeat(32 * 1024 - 10) },
  { n: 2 ** 53 },
  { n: 2 ** 53 + 2 },
  { n: [1e-7, -0, 1.7976931348623157e308] },
  { s: ' kept ', e: '', nothing: null, 'A\0': 1 },
  { s: ' kept ', e: '', nothing: null, flags: [true, false] },
  JSON.parse('{"__proto__":{"a":1},"constructor":1,"prototype":{"b":[]}}') as Json,
];

// ---------------------------------------------------------------- ways to send one

/** How an input is sent over REST and by a tool, one after the other, and what both left. */
interface Way {
  readonly dto: Type<object>;
  readonly route: string;
  readonly tool: string;
  readonly values: (field: Field) => unknown[];
  /** Prepares the sending of values of one field, which come one after another. */
  readonly prepare: (field: string) => Promise<(value: unknown) => Promise<[Outcome, Outcome]>>;
}

function create(dto: Type<object>, path: string, tool: string): Way {
  const send = async (field: string, value: unknown): Promise<[Outcome, Outcome]> => {
    const body = { ...bodies[path]!(), [field]: value };
    const rest = await tenant.api.post(path, body);
    // A value that must be unique is free for the other side again.
    if (rest.status === 201) await remove(path, dataOf(rest, 201).id);
    const mcp = await agent.call(tool, body);
    if (!mcp.isError) await remove(path, (mcp.structuredContent as Row).id);
    return [outcomeOfRest(rest), outcomeOfTool(mcp)];
  };
  return {
    dto,
    route: `POST ${path}`,
    tool,
    values: (field) => [...anyValues(), ...valuesOf(field)],
    prepare: (field) => Promise.resolve((value) => send(field, value)),
  };
}

function update(dto: Type<object>, path: string, tool: string): Way {
  const prepare = async (field: string) => {
    const original = dataOf<Row>(await tenant.api.post(path, bodies[path]!()), 201);
    const { id } = original;
    const url = `${path}/${id}`;
    const restore = async () => {
      dataOf(await tenant.api.put(url, { [field]: original[field] }));
    };
    return async (value: unknown): Promise<[Outcome, Outcome]> => {
      const rest = await tenant.api.put(url, { [field]: value });
      if (rest.status === 200) await restore();
      const mcp = await agent.call(tool, {
        id,
        ...(value === null ? { clear: [field] } : { [field]: value }),
      });
      if (!mcp.isError) await restore();
      return [outcomeOfRest(rest), outcomeOfTool(mcp)];
    };
  };
  const clearable = clearableFieldsOf(dto);
  return {
    dto,
    route: `PUT ${path}/:id`,
    tool,
    // What null is to REST, `clear` is to tools; elsewhere null is refused, or as if left out.
    values: ({ name, ...field }) =>
      [...anyValues(), ...valuesOf({ name, ...field })].filter(
        (value) => value !== null || clearable.includes(name),
      ),
    prepare,
  };
}

/** A query string has only texts, which tools are given as such, or as the number that they are. */
function list(dto: Type<object>, path: string, tool: string): Way {
  const send = async (field: string, value: unknown): Promise<[Outcome, Outcome]> => {
    const [rest, mcp] = await Promise.all([
      tenant.api.get(`${path}?${field}=${encodeURIComponent(String(value))}`),
      agent.call(tool, { [field]: value }),
    ]);
    return [outcomeOfRest(rest), outcomeOfTool(mcp)];
  };
  const isSendable = (value: unknown, { schema }: Field) => {
    // Beyond 2^53, digits are text in a query string and a number in JSON.
    if (typeof value === 'number') return schema.type === 'integer' && value <= 2 ** 53;
    return typeof value === 'string' && /^[^\0]*[^\0\s][^\0]*$/.test(value) && value.isWellFormed();
  };
  return {
    dto,
    route: `GET ${path}`,
    tool,
    values: (field) =>
      [...anyValues(), ...valuesOf(field)].filter((value) => isSendable(value, field)),
    prepare: (field) => Promise.resolve((value) => send(field, value)),
  };
}

async function remove(path: string, id: string): Promise<void> {
  dataOf(await tenant.api.delete(`${path}/${id}`));
}

/** What two records of the same input cannot share. */
const OWN = ['id', 'created_at', 'updated_at', 'created_by_ai', 'booked_by'];

/** What of an answer both sides must have alike: the fields of a record, or which are on a page. */
function comparable(value: object): unknown {
  if ('meta' in value) {
    const { data, meta } = value as { data: Row[]; meta: unknown };
    return { ids: data.map(({ id }) => id), meta };
  }
  return Object.fromEntries(Object.entries(value).filter(([name]) => !OWN.includes(name)));
}

function outcomeOfRest(answer: Answer): Outcome {
  if (answer.status < 300) {
    const { data, meta } = answer.body as { data: object; meta?: object };
    return { succeeds: true, value: comparable(meta ? { data, meta } : data) };
  }
  const { code, details } = errorOf(answer);
  return { succeeds: false, code, details };
}

function outcomeOfTool(result: Awaited<ReturnType<Agent['call']>>): Outcome {
  if (!result.isError) return { succeeds: true, value: comparable(result.structuredContent!) };
  const { code, details } = failureOf(result);
  return { succeeds: false, code, details };
}

// ---------------------------------------------------------------- comparisons

const WAYS: readonly Way[] = [
  create(CreateLeadDto, LEADS, 'create_lead'),
  update(UpdateLeadDto, LEADS, 'update_lead'),
  list(LeadListQuery, LEADS, 'list_leads'),
  create(CreateAppointmentDto, APPOINTMENTS, 'create_appointment'),
  update(UpdateAppointmentDto, APPOINTMENTS, 'update_appointment'),
  list(AppointmentListQuery, APPOINTMENTS, 'list_appointments'),
  create(CreateTaskDto, TASKS, 'create_task'),
  update(UpdateTaskDto, TASKS, 'update_task'),
  list(TaskListQuery, TASKS, 'list_tasks'),
];

describe.each(WAYS.map((way) => [way.route, way.tool, way] as const))(
  'REST and MCP validate alike: %s and %s',
  (_, __, way) => {
    const fields = fieldsOf(way.dto);
    let comparisons: Record<string, Comparison[]>;

    beforeAll(renewAgent);
    beforeAll(async () => {
      if (way.route.startsWith('GET')) await fillLists();
      const entries = fields.map(async (field) => [field.name, await compare(field)] as const);
      comparisons = Object.fromEntries(await Promise.all(entries));
    });

    it('has fields', () => {
      expect(fields.length).toBeGreaterThanOrEqual(7);
    });

    it.each(fields.map(({ name }) => name))('%s', (name) => {
      const all = comparisons[name]!;
      const outcomes = (side: 'rest' | 'mcp') =>
        all.map((one) => ({ value: shown(one.value), outcome: one[side] }));
      expect(outcomes('mcp')).toEqual(outcomes('rest'));
      // Both sides would be alike too if everything failed, or nothing.
      const succeeding = all.filter(({ rest }) => rest.succeeds).length;
      expect(succeeding).toBeGreaterThan(0);
      expect(succeeding).toBeLessThan(all.length);
      for (const { rest } of all) {
        if (rest.succeeds || rest.code === 'lead_not_found') continue;
        expect(rest.code).toBe('validation_error');
        for (const { field, message } of rest.details!)
          expect(`${field} ${message}`).toContain(name);
      }
    });

    async function compare(field: Field): Promise<Comparison[]> {
      const send = await way.prepare(field.name);
      const found: Comparison[] = [];
      for (const value of way.values(field)) {
        const [rest, mcp] = await send(value);
        found.push({ value, rest, mcp });
      }
      return found;
    }
  },
);

/** Records for lists to find and to sort. */
async function fillLists(): Promise<void> {
  const temperatures = ['cold', 'hot', null];
  for (const temperature of temperatures) await createLead(tenant.api, { temperature });
  for (const status of ['scheduled', 'cancelled']) {
    dataOf(await tenant.api.post(APPOINTMENTS, { ...bodies[APPOINTMENTS]!(), status }), 201);
  }
  for (const contact_id of [lead.id, null]) {
    dataOf(await tenant.api.post(TASKS, { title: 'Call', contact_id }), 201);
  }
}

/** A value as it can be read in a difference. */
function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 80);
}

const LISTS_OF: readonly (readonly [tool: string, path: string, dto: Type<object>])[] = [
  ['list_leads', LEADS, LeadListQuery],
  ['list_appointments', APPOINTMENTS, AppointmentListQuery],
  ['list_tasks', TASKS, TaskListQuery],
];

describe('an empty filter', () => {
  beforeAll(renewAgent);

  it.each(LISTS_OF)('filters nothing by %s as by GET %s', async (tool, path, dto) => {
    const told = (outcome: Outcome) => (outcome.succeeds ? 'filters nothing' : outcome.details);
    const outcomes = { rest: {} as Json, mcp: {} as Json };
    const expected: Json = {};
    for (const { name, presence } of fieldsOf(dto)) {
      for (const value of ['', ' ', '\t\n', '\u00a0']) {
        const query = `${name}=${encodeURIComponent(value)}`;
        const sent = `${name}: ${JSON.stringify(value)}`;
        const isFilter = presence.default === undefined;
        const refusal = [{ field: name, message: 'must not be empty' }];
        expected[sent] = isFilter ? 'filters nothing' : refusal;
        outcomes.rest[sent] = told(outcomeOfRest(await tenant.api.get(`${path}?${query}`)));
        outcomes.mcp[sent] = told(outcomeOfTool(await agent.call(tool, { [name]: value })));
      }
    }
    expect(outcomes.rest).toEqual(expected);
    expect(outcomes.mcp).toEqual(expected);
  });
});

describe('what a query string cannot say', () => {
  beforeAll(renewAgent);

  it.each(LISTS_OF)('is refused by %s, by the name of the argument', async (tool, _, dto) => {
    for (const { name, schema } of fieldsOf(dto)) {
      const numbers = schema.type === 'integer' ? [0.5, -1] : [0, 1, 2026];
      for (const value of [...numbers, true, false, [], ['a'], {}, { a: 1 }, 'A\0', '\ud800']) {
        const failure = await agent.fail(tool, { [name]: value });
        expect({ name, value, failure }).toMatchObject({
          failure: { code: 'validation_error', details: [{ field: name }] },
        });
      }
    }
  });

  it.each(LISTS_OF)('null is as if left out: %s', async (tool, _, dto) => {
    const nothing = await agent.succeed(tool, {});
    const nulls: Arguments = Object.fromEntries(fieldsOf(dto).map(({ name }) => [name, null]));
    expect(await agent.succeed(tool, nulls)).toEqual(nothing);
  });
});

describe('unknown and fixed fields', () => {
  beforeAll(renewAgent);

  it.each(
    WAYS.filter(({ route }) => !route.startsWith('GET')).map((way) => [way.tool, way] as const),
  )('are refused alike: %s', async (tool, { route, dto }) => {
    const [method = '', pattern = ''] = route.split(' ');
    const path = pattern.replace('/:id', '');
    const { id } = dataOf<Row>(await tenant.api.post(path, bodies[path]!()), 201);
    const isUpdate = method === 'PUT';
    const names = fieldsOf(dto).map(({ name }) => name);
    const strays = [
      'created_at',
      'organization_id',
      'lead_score',
      'lead_id',
      'nonsense',
      'First_Name',
    ];
    for (const stray of strays.filter((name) => !names.includes(name))) {
      const body = { ...(isUpdate ? {} : bodies[path]!()), [stray]: 'x' };
      const rest = await tenant.api.request(method, pattern.replace(':id', id), { body });
      const mcp = await agent.fail(tool, { ...(isUpdate && { id }), ...body });
      // A tool has arguments of its own beside the fields, such as `id` and `clear`.
      const fault = ({ field, message }: { field: string; message: string }) => {
        return { field, message: message.replace(/; the fields are .*/, '') };
      };
      expect(mcp.code).toBe('validation_error');
      expect(mcp.details!.map(fault)).toEqual(errorOf(rest).details!.map(fault));
      expect(mcp.details).toEqual([{ field: stray, message: expect.any(String) as string }]);
    }
  });
});
