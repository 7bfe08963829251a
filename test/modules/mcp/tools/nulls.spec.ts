import { Injectable, Module } from '@nestjs/common';
import { RecordOf, UpdateOf } from '../../../../src/platform/fields/field.js';
import { Flag, Integer, Text } from '../../../../src/platform/fields/kinds/kinds.js';
import type { JsonSchema } from '../../../../src/platform/fields/schema/json-schema.js';
import { Tool } from '../../../../src/modules/mcp/tools/tool.decorator.js';
import type { Call } from '../../../../src/platform/data/call.js';
import {
  type Agent,
  type Arguments,
  connectAgent,
  stopWithAgents,
} from '../../../support/mcp/agent.js';
import { declaredFieldsOf } from '../../../support/declared-routes.js';
import {
  buildLead,
  createLead,
  dataOf,
  getLead,
  type LeadRecord,
} from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { pathOf } from '../../../../src/testing/routes.js';
import { casesOf, PROTOCOL_MODES } from '../../../support/mcp/mcp-sdk-clients.js';
import { strictArguments } from '../../../support/mcp/strict-tools.js';
import {
  byName,
  isCore,
  RECORD_TOOLS,
  type RecordTool,
  TOOLS,
  validArguments,
} from '../../../support/mcp/tools.js';

class CreateNoteDto {
  @Text({ max: 50, required: true, description: 'Title.' }) title: string;
  @Text({ max: 50, description: 'Text.' }) text?: string | null;
  @Integer({ min: 1, max: 9, description: 'Rank.' }) rank?: number | null;
  @Flag({ default: false, description: 'Whether it stays on top.' }) pinned?: boolean;
}
class UpdateNoteDto extends UpdateOf(CreateNoteDto) {}
class NoteDto extends RecordOf(CreateNoteDto) {}

const NOTE: Omit<NoteDto, 'id'> = { title: 'A', text: 'B', rank: 3, pinned: true };

/** A module with its own tools. */
@Injectable()
class NotesTools {
  @Tool('update_note', {
    title: 'Update a note',
    description: 'Change the given fields of one note.',
    effect: 'updates',
    scope: 'leads:write',
    id: 'Id of the note.',
    input: UpdateNoteDto,
    output: NoteDto,
  })
  update(_: Call, id: string, changes: UpdateNoteDto): NoteDto {
    return { id, ...NOTE, ...changes };
  }

  @Tool('archive_note', {
    title: 'Archive a note',
    description: 'Archive one note.',
    effect: 'updates',
    scope: 'leads:write',
    id: 'Id of the note.',
    output: NoteDto,
  })
  archive(_: Call, id: string): NoteDto {
    return { id, ...NOTE };
  }
}

@Module({ providers: [NotesTools] })
class NotesModule {}

const NOTE_ID = '01a1fbde-995e-72a3-a032-ab1c988b9794';

type Row = Readonly<Record<string, unknown>> & { readonly id: string };

let app: TestApp;
let tenant: Tenant;
let agent: Agent;

beforeAll(async () => {
  app = await TestApp.start({ modules: [NotesModule] });
  tenant = await app.organization();
});
afterAll(() => stopWithAgents(app));

const UPDATES = RECORD_TOOLS.filter(({ effect }) => effect === 'updates');
/** The update tools that have a field which can be cleared. */
const CLEARING = UPDATES.filter(
  (tool) =>
    isCore(tool) ||
    declaredFieldsOf(tool.route, 'body').some(({ schema }) =>
      [schema.type].flat().includes('null'),
    ),
);
const DELETES = RECORD_TOOLS.filter(({ effect }) => effect === 'deletes');

async function inputSchemaOf(name: string): Promise<JsonSchema> {
  const tools = await agent.listTools();
  return tools.find((tool) => tool.name === name)!.inputSchema;
}

/** The fields that an update tool can clear, by its schema. */
async function clearableBy(name: string): Promise<readonly string[]> {
  const { properties = {} } = await inputSchemaOf(name);
  return (properties.clear?.items?.enum ?? []) as string[];
}

/** The declared example of a field. For an id, the id of a lead. */
function exampleOf({ route }: RecordTool, name: string, leadId: string): unknown {
  const { schema } = declaredFieldsOf(route, 'body').find((field) => field.name === name)!;
  return schema.format === 'uuid' ? leadId : schema.examples?.[0];
}

async function stored({ route }: RecordTool, id: string): Promise<Row> {
  const pattern = route.pattern.endsWith('/:id') ? route.pattern : `${route.pattern}/:id`;
  return dataOf<Row>(await tenant.api.get(pathOf({ ...route, pattern }, id)));
}

async function createResource(): Promise<string> {
  return dataOf<Row>(await tenant.api.post('/api/v1/resources', { name: 'Crew 1' }), 201).id;
}

/** The arguments that a call must have, although the schema does not require them: a hold can take their place. */
const REQUIRED_WITHOUT_HOLD: readonly string[] = ['start_time', 'end_time'];

/** Creates a record and sets every field that can be cleared. */
async function filledRecord(tool: RecordTool): Promise<Row> {
  const lead = await createLead(tenant.api);
  const values: Record<string, unknown> = {
    ...buildLead(),
    type: 'Visit',
    location: 'Oakland',
    outcome: 'Accepted',
    outcome_notes: 'Starts in April.',
    description: 'With prices.',
    due_date: '2026-03-06T17:00:00.000Z',
    contact_id: lead.id,
    assigned_to_user_id: NOTE_ID,
  };
  const id = await tool.makeRecord(tenant);
  const names = await clearableBy(tool.name);
  if (names.includes('resource_id')) values.resource_id = await createResource();
  const args = Object.fromEntries(
    names.map((name) => [name, values[name] ?? exampleOf(tool, name, lead.id)]),
  );
  const record = await agent.succeed<Row>(tool.name, { id, ...args });
  for (const name of names) expect({ [name]: record[name] }).not.toEqual({ [name]: null });
  return record;
}

describe.each(PROTOCOL_MODES)('null in the arguments of tools (%s)', (protocolMode) => {
  const updates = casesOf(protocolMode, byName(UPDATES));
  const creates = casesOf(
    protocolMode,
    // A second hold of the same time is refused.
    byName(TOOLS).filter(([name, { effect }]) => effect === 'creates' && name !== 'hold_slot'),
  );
  const deletes = casesOf(protocolMode, byName(DELETES));

  beforeAll(async () => {
    agent = await connectAgent(app, tenant, protocolMode);
  });

  it.each(updates)('leaves all other fields unchanged in %s', async (name, tool) => {
    const before = await filledRecord(tool);
    const nulls = strictArguments(await inputSchemaOf(name), { id: before.id });
    expect(Object.values(nulls)).toContain(null);
    expect(await agent.succeed(name, nulls)).toEqual(before);
    expect(before).toMatchObject(await stored(tool, before.id));
  });

  it('leaves all fields but the status unchanged in update_task', async () => {
    const tool = UPDATES.find(({ name }) => name === 'update_task')!;
    const before = await filledRecord(tool);
    const given = { id: before.id, status: 'completed' };
    const args = strictArguments(await inputSchemaOf('update_task'), given);
    const after = await agent.succeed<Row>('update_task', args);
    const { updated_at } = after;
    expect(after).toEqual({ ...before, status: 'completed', updated_at });
  });

  it.each(creates)('is equal to an omitted argument in %s', async (name, tool) => {
    const schema = await inputSchemaOf(name);
    const all = await validArguments(tool, tenant);
    const unlisted = REQUIRED_WITHOUT_HOLD.filter((field) => schema.properties?.[field]);
    const names = [...schema.required!, ...unlisted];
    const required = Object.fromEntries(names.map((field) => [field, all[field]]));
    const own = ({ id: _, created_at: __, updated_at: ___, ...record }: Row) => record;
    const bare = await agent.succeed<Row>(name, required);
    const nulls = await agent.succeed<Row>(name, strictArguments(schema, required));
    expect(own(nulls)).toEqual(own(bare));
  });

  it.each(deletes)('is a dry run in %s with `dry_run: null`', async (name, tool) => {
    const id = await tool.makeRecord(tenant);
    const before = await stored(tool, id);
    expect(await agent.succeed(name, { id, dry_run: null })).toMatchObject({ dry_run: true });
    expect(await stored(tool, id)).toEqual(before);
    await agent.succeed(name, { id, dry_run: false });
  });

  it('is rejected for the id and for an unknown argument', async () => {
    expect(await agent.fail('get_lead', { id: null })).toMatchObject({
      code: 'validation_error',
      details: [{ field: 'id', message: 'is required' }],
    });
    const { details } = await agent.fail('create_lead', { first_name: 'A', nickname: null });
    expect(details).toMatchObject([{ field: 'nickname' }]);
  });

  it('is rejected for a required argument of a create', async () => {
    const { details } = await agent.fail('create_lead', { first_name: null });
    expect(details).toEqual([{ field: 'first_name', message: 'is required' }]);
  });

  it('is stored inside custom_fields', async () => {
    const custom_fields = { budget: null };
    const lead = await agent.succeed<LeadRecord>('create_lead', { first_name: 'A', custom_fields });
    expect(lead.custom_fields).toEqual(custom_fields);
  });
});

describe.each(PROTOCOL_MODES)('the argument `clear` of update tools (%s)', (protocolMode) => {
  const clearing = casesOf(protocolMode, byName(CLEARING));

  beforeAll(async () => {
    agent = await connectAgent(app, tenant, protocolMode);
  });

  it.each(clearing)('clears each field of its schema in %s', async (name, tool) => {
    const before = await filledRecord(tool);
    const clear = await clearableBy(name);
    for (const field of clear) {
      const after = await agent.succeed<Row>(name, { id: before.id, clear: [field] });
      expect({ [field]: after[field] }).toEqual({ [field]: null });
    }
    const again = await filledRecord(tool);
    const after = await agent.succeed<Row>(name, { id: again.id, clear });
    const { updated_at, lead_score } = after;
    // A task without a contact names none.
    const emptied = Object.fromEntries(
      [...clear, ...(clear.includes('contact_id') ? ['contact_name'] : [])].map((field) => [
        field,
        null,
      ]),
    );
    const computed = lead_score === undefined ? {} : { lead_score };
    // An appointment without a resource has no local times.
    const { resource_name, time_zone, local_start, local_end, ...others } = again;
    expect(after).toEqual({ ...others, ...emptied, ...computed, updated_at });
  });

  it('accepts exactly the fields that are not required and have no default', async () => {
    expect(await clearableBy('update_task')).toEqual([
      ...['description', 'due_date', 'contact_id', 'assigned_to_user_id'],
    ]);
    expect(await clearableBy('update_appointment')).toEqual([
      ...['resource_id', 'type', 'location', 'notes', 'remind_before_minutes'],
      ...['outcome', 'outcome_notes'],
    ]);
    const lead = await clearableBy('update_lead');
    expect(lead).toEqual(expect.arrayContaining(['last_name', 'phone', 'email', 'temperature']));
    for (const field of ['first_name', 'source', 'tags', 'custom_fields', 'on_dnc_list']) {
      expect(lead).not.toContain(field);
    }
  });

  it('can be combined with values of other fields', async () => {
    const lead = await createLead(tenant.api, buildLead());
    await agent.succeed('update_lead', { id: lead.id, clear: ['notes'], city: 'Oakland' });
    expect(await getLead(tenant.api, lead.id)).toMatchObject({ notes: null, city: 'Oakland' });
  });

  it.each([[null], [[]], [['notes', 'notes']]])('accepts %j', async (clear) => {
    const lead = await createLead(tenant.api, buildLead());
    await agent.succeed('update_lead', { id: lead.id, clear });
    const { notes } = await getLead(tenant.api, lead.id);
    expect(notes).toBe(clear?.length ? null : lead.notes);
  });

  const REFUSED: readonly (readonly [args: Arguments, field: string, told: RegExp])[] = [
    [{ clear: ['notes'], notes: 'Called.' }, 'notes', /clear/],
    [{ clear: ['notes'], notes: '' }, 'notes', /clear/],
    [{ clear: ['notes', 'nickname'] }, 'clear', /nickname.*notes/],
    [{ clear: ['first_name'] }, 'clear', /first_name/],
    [{ clear: ['source'] }, 'clear', /source/],
    [{ clear: ['tags'] }, 'clear', /tags/],
    [{ clear: ['id'] }, 'clear', /\bid\b/],
    [{ clear: ['Notes'] }, 'clear', /Notes/],
    [{ clear: ['clear'] }, 'clear', /clear/],
    [{ clear: ['\n\u202e'] }, 'clear', /last_name/],
    [{ clear: 'notes' }, 'clear', /array/],
    [{ clear: [null] }, 'clear', /last_name/],
    [{ clear: [5] }, 'clear', /last_name/],
    [{ clear: {} }, 'clear', /array/],
  ];

  it.each(REFUSED)('rejects %j and names %s', async (args, field, told) => {
    const lead = await createLead(tenant.api, buildLead());
    const { code, message, details } = await agent.fail('update_lead', { id: lead.id, ...args });
    expect({ code, details }).toMatchObject({ code: 'validation_error', details: [{ field }] });
    expect(details).toHaveLength(1);
    expect(message).toMatch(told);
    expect(await getLead(tenant.api, lead.id)).toEqual(lead);
  });

  it('accepts a field that is also null in the arguments', async () => {
    const lead = await createLead(tenant.api, buildLead());
    await agent.succeed('update_lead', { id: lead.id, notes: null, clear: ['notes'] });
    expect(await getLead(tenant.api, lead.id)).toMatchObject({ notes: null });
  });

  it.each(['create_lead', 'get_lead', 'list_leads', 'delete_lead'])(
    'is unknown in %s, which is not an update',
    async (name) => {
      expect((await inputSchemaOf(name)).properties).not.toHaveProperty('clear');
      const args = name === 'create_lead' ? { first_name: 'A' } : {};
      const { details } = await agent.fail(name, { ...args, clear: ['notes'] });
      expect(details).toContainEqual({
        field: 'clear',
        message: expect.stringContaining('unknown') as string,
      });
    },
  );

  it('works in the tools of another module', async () => {
    expect(await clearableBy('update_note')).toEqual(['text', 'rank']);
    const nulls = strictArguments(await inputSchemaOf('update_note'), { id: NOTE_ID });
    expect(await agent.succeed('update_note', nulls)).toEqual({ id: NOTE_ID, ...NOTE });
    expect(await agent.succeed('update_note', { ...nulls, clear: ['rank'] })).toEqual({
      ...{ id: NOTE_ID, ...NOTE },
      rank: null,
    });
    const { details } = await agent.fail('update_note', { id: NOTE_ID, clear: ['pinned'] });
    expect(details).toMatchObject([{ field: 'clear' }]);
    expect((await inputSchemaOf('archive_note')).properties).not.toHaveProperty('clear');
  });
});

describe('PUT of REST', () => {
  it('clears a field that is null', async () => {
    const { id } = await createLead(tenant.api, buildLead());
    const { status, body } = await tenant.api.put(`/api/v1/leads/${id}`, { notes: null });
    expect({ status, body }).toMatchObject({ status: 200, body: { data: { notes: null } } });
  });

  it('rejects `clear`', async () => {
    const { id } = await createLead(tenant.api, buildLead());
    const { status } = await tenant.api.put(`/api/v1/leads/${id}`, { clear: ['notes'] });
    expect(status).toBe(400);
  });
});
