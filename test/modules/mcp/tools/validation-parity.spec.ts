import type { Type } from '@nestjs/common';
import {
  FindAppointmentsQuery,
  CreateAppointmentDto,
  UpdateAppointmentDto,
} from '../../../../src/modules/appointments/appointment.dto.js';
import {
  clearableFieldsOf,
  type Field,
  fieldsOf,
  holdsObjects,
} from '../../../../src/platform/fields/field.js';
import {
  CreateLeadDto,
  FindLeadsQuery,
  UpdateLeadDto,
} from '../../../../src/modules/leads/lead.dto.js';
import {
  CreateTaskDto,
  FindTasksQuery,
  UpdateTaskDto,
} from '../../../../src/modules/tasks/task.dto.js';
import {
  type Agent,
  type Arguments,
  connectAgent,
  failureOf,
  stopWithAgents,
} from '../../../support/mcp/agent.js';
import type { Answer } from '../../../../src/testing/api-client.js';
import {
  createLead,
  dataOf,
  errorOf,
  type LeadRecord,
  LEADS,
} from '../../../../src/testing/factories.js';
import { TestServer } from '../../../../src/testing/test-server.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import {
  type Comparison,
  compareValues,
  type Json,
  type Outcome,
  type Send,
} from '../../../support/compare-values.js';
import { anyValues, boundaryValuesOf } from '../../../support/field-values.js';
import { shareOf } from '../../../support/share-of.js';
import { PROTOCOL_MODES } from '../../../support/mcp/mcp-sdk-clients.js';

const APPOINTMENTS = '/api/v1/appointments';
const TASKS = '/api/v1/tasks';

type Row = Json & { id: string };

let app: TestServer;
let tenant: Tenant;
let agent: Agent;
let lead: LeadRecord;

/** Valid bodies with only the required fields. */
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
 * Connects a new agent for each suite, because the client of the SDK retains memory for every call.
 * The eras alternate, so that every kind of field is sent in both.
 */
async function renewAgent(): Promise<void> {
  agent = await connectAgent(app, tenant, PROTOCOL_MODES[suites++ % PROTOCOL_MODES.length]);
}

/** An input that a route of REST and a tool have in common. */
interface SharedInput {
  readonly dto: Type<object>;
  readonly route: string;
  readonly tool: string;
  readonly values: (field: Field) => unknown[];
  /** Returns a function that sends fields to both sides, and undoes what each side has stored. */
  readonly prepare: () => Promise<Send>;
}

function create(dto: Type<object>, path: string, tool: string): SharedInput {
  const send: Send = async (fields) => {
    const body = { ...bodies[path]!(), ...fields };
    const rest = await tenant.api.post(path, body);
    // Unique values must be available again for the other side.
    if (rest.status === 201) await remove(path, dataOf(rest, 201).id);
    const mcp = await agent.call(tool, body);
    if (!mcp.isError) await remove(path, (mcp.structuredContent as Row).id);
    return [outcomeOfRest(rest), outcomeOfTool(mcp)];
  };
  return {
    dto,
    route: `POST ${path}`,
    tool,
    values: (field) => [...anyValues(), ...boundaryValuesOf(field, lead.id)],
    prepare: () => Promise.resolve(send),
  };
}

function update(dto: Type<object>, path: string, tool: string): SharedInput {
  const prepare = async (): Promise<Send> => {
    const original = dataOf<Row>(await tenant.api.post(path, bodies[path]!()), 201);
    const { id } = original;
    const url = `${path}/${id}`;
    return async (fields) => {
      const names = Object.keys(fields);
      const restore = async () => {
        dataOf(await tenant.api.put(url, Object.fromEntries(names.map((n) => [n, original[n]]))));
      };
      const rest = await tenant.api.put(url, fields);
      if (rest.status === 200) await restore();
      const clear = names.filter((name) => fields[name] === null);
      const set = Object.fromEntries(
        names.filter((n) => !clear.includes(n)).map((n) => [n, fields[n]]),
      );
      const mcp = await agent.call(tool, { id, ...set, ...(clear.length > 0 && { clear }) });
      if (!mcp.isError) await restore();
      return [outcomeOfRest(rest), outcomeOfTool(mcp)];
    };
  };
  const clearable = clearableFieldsOf(dto);
  return {
    dto,
    route: `PUT ${path}/:id`,
    tool,
    // `clear` replaces null for fields that can be emptied. Null is not comparable in other fields.
    values: ({ name, ...field }) =>
      [...anyValues(), ...boundaryValuesOf({ name, ...field }, lead.id)].filter(
        (value) => value !== null || clearable.includes(name),
      ),
    prepare,
  };
}

/** Query parameters are strings. Tools receive the same string, or the number that it represents. */
function list(dto: Type<object>, path: string, tool: string): SharedInput {
  const send: Send = async (fields) => {
    const query = Object.entries(fields).map(
      ([name, value]) => `${name}=${encodeURIComponent(textOf(value))}`,
    );
    const [rest, mcp] = await Promise.all([
      tenant.api.get(`${path}?${query.join('&')}`),
      agent.call(tool, fields),
    ]);
    return [outcomeOfRest(rest), outcomeOfTool(mcp)];
  };
  const isSendable = (value: unknown, { schema }: Field) => {
    // A number beyond 2^53 loses digits in JSON but not in a query string.
    if (typeof value === 'number') return schema.type === 'integer' && value <= 2 ** 53;
    return typeof value === 'string' && /^[^\0]*[^\0\s][^\0]*$/.test(value) && value.isWellFormed();
  };
  return {
    dto,
    route: `GET ${path}`,
    tool,
    values: (field) => {
      if (holdsObjects(field)) return FILTERS;
      // Each valid value is a request of its own, so the parameters deal out what is not about their bounds.
      const index = fieldsOf(dto).findIndex(({ name }) => name === field.name);
      const sendable = anyValues().filter((value) => isSendable(value, field));
      const bounds = boundaryValuesOf(field, lead.id).filter((value) => isSendable(value, field));
      return [...shareOf(sendable, index, Math.min(3, sendable.length)), ...bounds];
    },
    prepare: () => Promise.resolve(send),
  };
}

/** Values of the parameter `filter`. */
const FILTERS = [
  ...[{}, { id: null }, { created_at: { gt: '2026-01-01' } }, { not: { id: { in: [] } } }],
  ...[{ created_at: { gt: 2026 } }, { or: [] }, { surname: 'Ada' }],
];

/** A query has the JSON of an object. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

async function remove(path: string, id: string): Promise<void> {
  dataOf(await tenant.api.delete(`${path}/${id}`));
}

/** Fields in which two records of the same input differ, and names that only tools add. */
const UNIQUE_FIELDS = [
  ...['id', 'created_at', 'updated_at', 'created_by_ai', 'booked_by'],
  ...['lead_name', 'lead_phone', 'lead_email', 'contact_name'],
];

/** @returns the part of an answer that must be the same on both sides: fields of a record, or ids of a page */
function comparable(value: object): unknown {
  if ('meta' in value) {
    const { data, meta } = value as { data: Row[]; meta: unknown };
    return { ids: data.map(({ id }) => id), meta };
  }
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => !UNIQUE_FIELDS.includes(name)),
  );
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

const INPUTS: readonly SharedInput[] = [
  create(CreateLeadDto, LEADS, 'create_lead'),
  update(UpdateLeadDto, LEADS, 'update_lead'),
  list(FindLeadsQuery, LEADS, 'list_leads'),
  create(CreateAppointmentDto, APPOINTMENTS, 'create_appointment'),
  update(UpdateAppointmentDto, APPOINTMENTS, 'update_appointment'),
  list(FindAppointmentsQuery, APPOINTMENTS, 'list_appointments'),
  create(CreateTaskDto, TASKS, 'create_task'),
  update(UpdateTaskDto, TASKS, 'update_task'),
  list(FindTasksQuery, TASKS, 'list_tasks'),
];

/** Fields that no request may have together with another one. */
const SEPARATE_FIELDS: readonly string[] = ['add_tags', 'remove_tags', 'append_notes'];

/** The errors for the id of a record that does not exist. */
const UNKNOWN_RECORD: readonly string[] = ['lead_not_found', 'not_found'];

describe.each(INPUTS.map((input) => [input.route, input.tool, input] as const))(
  '%s and the tool %s validate each field in the same way',
  (_, __, input) => {
    const fields = fieldsOf(input.dto);
    let comparisons: Record<string, Comparison[]>;

    beforeAll(renewAgent);
    beforeAll(async () => {
      if (input.route.startsWith('GET')) await fillLists();
      const send = await input.prepare();
      const valuesOf = (some: readonly Field[]) =>
        Object.fromEntries(some.map((field) => [field.name, input.values(field)]));
      const separate = fields.filter(({ name }) => SEPARATE_FIELDS.includes(name));
      // Several filters at once would find nothing.
      const combinesValid = !input.route.startsWith('GET');
      const together = fields.filter((field) => !separate.includes(field));
      comparisons = await compareValues(valuesOf(together), send, { combinesValid });
      for (const field of separate) {
        Object.assign(comparisons, await compareValues(valuesOf([field]), send, { combinesValid }));
      }
    });

    it('has fields', () => {
      expect(fields.length).toBeGreaterThanOrEqual(7);
    });

    it.each(fields.map((field) => [field.name, field] as const))('%s', (name, field) => {
      const all = comparisons[name]!;
      expect(all).toHaveLength(input.values(field).length);
      const outcomes = (side: 'rest' | 'mcp') =>
        all.map((one) => ({ value: shown(one.value), outcome: one[side] }));
      expect(outcomes('mcp')).toEqual(outcomes('rest'));
      // Both sides would also agree if all values failed or none did.
      const succeeding = all.filter(({ rest }) => rest?.succeeds).length;
      expect(succeeding).toBeGreaterThan(0);
      expect(succeeding).toBeLessThan(all.length);
      for (const { rest } of all) {
        if (!rest || rest.succeeds || UNKNOWN_RECORD.includes(rest.code)) continue;
        expect(rest.code).toBe('validation_error');
        for (const { field, message } of rest.details!)
          expect(`${field} ${message}`).toContain(name);
      }
    });
  },
);

/** Creates records for lists to find and to sort. */
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

/** @returns a short form of a value for the diff of a failed test */
function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 80);
}

const LISTS_OF: readonly (readonly [tool: string, path: string, dto: Type<object>])[] = [
  ['list_leads', LEADS, FindLeadsQuery],
  ['list_appointments', APPOINTMENTS, FindAppointmentsQuery],
  ['list_tasks', TASKS, FindTasksQuery],
];

describe('an empty filter of a list', () => {
  beforeAll(renewAgent);

  it.each(LISTS_OF)('has no effect in %s and in GET %s', async (tool, path, dto) => {
    const describeOutcome = (outcome: Outcome) =>
      outcome.succeeds ? 'filters nothing' : outcome.details;
    const outcomes = { rest: {} as Json, mcp: {} as Json };
    const expected: Json = {};
    for (const [index, { name, presence }] of fieldsOf(dto).entries()) {
      for (const value of shareOf(['', ' ', '\t\n', '\u00a0'], index, 2)) {
        const query = `${name}=${encodeURIComponent(value)}`;
        const sent = `${name}: ${JSON.stringify(value)}`;
        const isFilter = presence.default === undefined;
        const refusal = [{ field: name, message: 'must not be empty' }];
        expected[sent] = isFilter ? 'filters nothing' : refusal;
        outcomes.rest[sent] = describeOutcome(
          outcomeOfRest(await tenant.api.get(`${path}?${query}`)),
        );
        outcomes.mcp[sent] = describeOutcome(
          outcomeOfTool(await agent.call(tool, { [name]: value })),
        );
      }
    }
    expect(outcomes.rest).toEqual(expected);
    expect(outcomes.mcp).toEqual(expected);
  });
});

describe('an argument of a type that a query string cannot represent', () => {
  beforeAll(renewAgent);

  it.each(LISTS_OF)('is a validation_error of %s that names the argument', async (tool, _, dto) => {
    const fields = fieldsOf(dto).filter((field) => !holdsObjects(field));
    for (const [index, { name, schema }] of fields.entries()) {
      const numbers = schema.type === 'integer' ? [0.5, -1] : [0, 1, 2026];
      const others = [true, false, [], ['a'], {}, { a: 1 }, 'A\0', '\ud800'];
      for (const value of [...numbers, ...shareOf(others, index, 3)]) {
        const failure = await agent.fail(tool, { [name]: value });
        expect({ name, value, failure }).toMatchObject({
          failure: { code: 'validation_error', details: [{ field: name }] },
        });
      }
    }
  });

  it.each(LISTS_OF)('is ignored by %s if it is null', async (tool, _, dto) => {
    const nothing = await agent.succeed(tool, {});
    const nulls: Arguments = Object.fromEntries(fieldsOf(dto).map(({ name }) => [name, null]));
    expect(await agent.succeed(tool, nulls)).toEqual(nothing);
  });
});

describe('an unknown or read-only field', () => {
  beforeAll(renewAgent);

  it.each(
    INPUTS.filter(({ route }) => !route.startsWith('GET')).map(
      (input) => [input.tool, input] as const,
    ),
  )('is a validation_error of REST and of %s', async (tool, { route, dto }) => {
    const [method = '', pattern = ''] = route.split(' ');
    const path = pattern.replace('/:id', '');
    const { id } = dataOf<Row>(await tenant.api.post(path, bodies[path]!()), 201);
    const isUpdate = method === 'PUT';
    const names = fieldsOf(dto).map(({ name }) => name);
    const unknownFields = [
      'created_at',
      'organization_id',
      'lead_score',
      'lead_id',
      'nonsense',
      'First_Name',
    ];
    for (const unknown of unknownFields.filter((name) => !names.includes(name))) {
      const body = { ...(isUpdate ? {} : bodies[path]!()), [unknown]: 'x' };
      const rest = await tenant.api.request(method, pattern.replace(':id', id), { body });
      const mcp = await agent.fail(tool, { ...(isUpdate && { id }), ...body });
      // The message of a tool also lists built-in arguments such as `id` and `clear`.
      const withoutFieldList = ({ field, message }: { field: string; message: string }) => {
        return { field, message: message.replace(/; the (fields|parameters) are .*/, '') };
      };
      expect(mcp.code).toBe('validation_error');
      expect(mcp.details!.map(withoutFieldList)).toEqual(
        errorOf(rest).details!.map(withoutFieldList),
      );
      expect(mcp.details).toEqual([{ field: unknown, message: expect.any(String) as string }]);
    }
  });
});
