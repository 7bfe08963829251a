import { randomUUID } from 'node:crypto';
import {
  Client as StatelessClient,
  StreamableHTTPClientTransport as StatelessTransport,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createLead, dataOf } from '../../../../src/testing/factories.js';
import { connectTenant, type McpTenant } from '../../../support/id-positions.js';
import { TestServer } from '../../../../src/testing/test-server.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { STATELESS_REVISION } from '../../../../src/testing/mcp-client.js';
import { casesOf, PROTOCOL_MODES } from '../../../support/mcp/mcp-sdk-clients.js';

const LEAD_OF_PROMPT = { type: 'ref/prompt', name: 'follow_up_lead' };
const APPOINTMENT_OF_PROMPT = { type: 'ref/prompt', name: 'prepare_appointment' };
const DAY = { type: 'ref/prompt', name: 'plan_my_day' };
const templateOf = (kind: string) => ({ type: 'ref/resource', uri: `${kind}://{id}` });

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await app.organization();
});

async function create(path: string, body: object): Promise<{ id: string }> {
  return dataOf<{ id: string }>(await tenant.api.post(`/api/v1/${path}`, body), 201);
}

function book(lead_id: string, day: string, more: object = {}) {
  const times = { start_time: `${day}T09:00:00Z`, end_time: `${day}T10:00:00Z` };
  return create('appointments', { lead_id, ...times, ...more });
}

describe.each(PROTOCOL_MODES)('completion/complete (%s)', (protocolMode) => {
  let party: McpTenant;
  beforeEach(async () => {
    party = await connectTenant(app, tenant, protocolMode);
  });

  async function complete(ref: object, name: string, value: string, by = party) {
    const { status, body } = await by.rpc('completion/complete', {
      ref,
      argument: { name, value },
    });
    expect({ status, error: body.error as unknown }).toEqual({ status: 200, error: undefined });
    return body.result.completion as { values: string[]; total?: number; hasMore: boolean };
  }

  async function expectError(params: object, code: number, by = party) {
    const { status, body } = await by.rpc('completion/complete', params);
    expect({ status, error: body.error as unknown }).toMatchObject({
      status: 200,
      error: { code },
    });
  }

  it('finds leads by name, e-mail, phone and the start of the id', async () => {
    const grace = { first_name: 'Grace', last_name: 'Hopper', company: null };
    const { id } = await createLead(tenant.api, {
      ...grace,
      email: 'g@navy.example',
      phone: '+1 415 555 0100',
    });
    await createLead(tenant.api, { first_name: 'Ada', company: 'Engines' });
    const value = `Grace Hopper ${id}`;
    const byName = ['grac', 'HOPPER', 'g@navy', '5550100'];
    const byId = [id, id.toUpperCase(), id.slice(0, 35), value];
    for (const typed of casesOf(protocolMode, [...byName, ...byId])) {
      const { values } = await complete(LEAD_OF_PROMPT, 'lead_id', typed);
      expect({ typed, values }).toEqual({ typed, values: [value] });
      expect((await complete(templateOf('lead'), 'id', typed)).values).toEqual([id]);
    }
    expect((await complete(LEAD_OF_PROMPT, 'lead_id', '')).values).toHaveLength(2);
    for (const typed of casesOf(protocolMode, ['Turing', randomUUID(), '%', 'x'.repeat(5_000)])) {
      expect(await complete(LEAD_OF_PROMPT, 'lead_id', typed)).toEqual({
        values: [],
        hasMore: false,
        total: 0,
      });
    }
  });

  it('returns values that the prompt accepts for leads with any name', async () => {
    const first_name = `A\n\u202eb ${randomUUID()} ${'x'.repeat(50)}`;
    const { id } = await createLead(tenant.api, { first_name, company: randomUUID() });
    const { values } = await complete(LEAD_OF_PROMPT, 'lead_id', '');
    expect(values).toEqual([expect.stringMatching(new RegExp(`^[^\\n\\u202e]{1,137}${id}$`))]);
    const get = { name: 'follow_up_lead', arguments: { lead_id: values[0] } };
    const { body } = await party.rpc('prompts/get', get);
    expect(JSON.stringify(body)).toContain(`lead://${id}`);
  });

  it('finds appointments by day, month, lead, type and place, or the next ones without a search', async () => {
    const lead = await createLead(tenant.api, { first_name: 'Grace', last_name: null });
    const ada = await createLead(tenant.api, { first_name: 'Ada', last_name: 'Byron' });
    const past = await book(lead.id, '2026-03-02', { type: 'Visit' });
    const next = await book(lead.id, '2096-03-02', { type: 'Estimate', location: 'Pier 12' });
    const later = await book(ada.id, '2096-04-02');
    const values = [
      `2096-03-02 09:00 UTC, Grace, Estimate, Pier 12 ${next.id}`,
      `2096-04-02 09:00 UTC, Ada Byron ${later.id}`,
    ];
    const found = async (typed: string) =>
      (await complete(APPOINTMENT_OF_PROMPT, 'appointment_id', typed)).values;
    expect(await found('')).toEqual(values);
    const typedTexts = [
      'esti',
      'pier',
      'grace',
      '2096-03',
      '2096-03-02',
      '2096-03-02 09:00',
      next.id,
    ];
    for (const typed of casesOf(protocolMode, typedTexts)) {
      expect({ typed, values: await found(typed) }).toEqual({ typed, values: [values[0]] });
    }
    expect(await found('2026-03')).toEqual([`2026-03-02 09:00 UTC, Grace, Visit ${past.id}`]);
    expect(await found('2026-99')).toEqual([]);
    expect((await complete(templateOf('appointment'), 'id', 'esti')).values).toEqual([next.id]);
    const reader = await connectTenant(
      app,
      await app.key(tenant.id, ['appointments:read']),
      protocolMode,
    );
    const ofReader = async (typed: string) =>
      (await complete(templateOf('appointment'), 'id', typed, reader)).values;
    expect(await ofReader('esti')).toEqual([next.id]);
    expect(await ofReader('grace')).toEqual([]);
  });

  it('finds tasks by title and id', async () => {
    const { id } = await create('tasks', { title: 'Send the offer' });
    await create('tasks', { title: 'Call' });
    for (const typed of ['OFFER', id, id.slice(0, 30)]) {
      expect((await complete(templateOf('task'), 'id', typed)).values).toContain(id);
    }
    expect((await complete(templateOf('task'), 'id', 'offers')).values).toEqual([]);
  });

  it('returns the next days for dates, and nothing for ids of users', async () => {
    const { values } = await complete(DAY, 'date', '');
    expect(values[0]).toBe(new Date().toISOString().slice(0, 10));
    expect(values).toHaveLength(14);
    expect((await complete(DAY, 'date', values[3]!)).values).toEqual([values[3]]);
    expect((await complete(DAY, 'date', '1999')).values).toEqual([]);
    expect((await complete(DAY, 'assigned_to_user_id', '')).values).toEqual([]);
  });

  it('returns at most a hundred values, and reports that there are more', async () => {
    await createLead(tenant.api);
    await app.sql(
      `insert into leads (organization_id, id, first_name, source, tags, custom_fields, lead_score,
         sms_opted_out, on_dnc_list, search_text)
       select $1, gen_random_uuid(), 'Many', 'api', '{}', '{}', 0, false, false, 'many'
       from generate_series(1, 100)`,
      [tenant.id],
    );
    const all = await complete(LEAD_OF_PROMPT, 'lead_id', '');
    expect({ values: all.values.length, hasMore: all.hasMore }).toEqual({
      values: 100,
      hasMore: true,
    });
    const many = await complete(LEAD_OF_PROMPT, 'lead_id', 'many');
    expect({ values: many.values.length, hasMore: many.hasMore }).toEqual({
      values: 100,
      hasMore: false,
    });
  });

  it('returns no records of another organization', async () => {
    const { id } = await createLead(tenant.api, { first_name: 'Grace' });
    const stranger = await connectTenant(app, await app.organization(), protocolMode);
    for (const typed of ['', 'grace', id, id.slice(0, 8)]) {
      expect((await complete(LEAD_OF_PROMPT, 'lead_id', typed, stranger)).values).toEqual([]);
      expect((await complete(templateOf('lead'), 'id', typed, stranger)).values).toEqual([]);
    }
  });

  it('rejects references that the scopes do not allow', async () => {
    const limited = await connectTenant(
      app,
      await app.key(tenant.id, ['tasks:read']),
      protocolMode,
    );
    const code = protocolMode === 'sessions' ? -32000 : 403;
    const argument = { name: 'id', value: '' };
    await expectError({ ref: templateOf('lead'), argument }, code, limited);
    await expectError(
      { ref: LEAD_OF_PROMPT, argument: { name: 'lead_id', value: '' } },
      code,
      limited,
    );
    expect((await complete(templateOf('task'), 'id', '', limited)).values).toEqual([]);
  });

  it.each([
    [{ type: 'ref/prompt', name: 'nope' }, 'lead_id'],
    [LEAD_OF_PROMPT, 'nope'],
    [LEAD_OF_PROMPT, '__proto__'],
    [templateOf('nope'), 'id'],
    [templateOf('lead'), 'uri'],
    [{ type: 'ref/resource', uri: 'lead://x' }, 'id'],
    [{ type: 'ref/tool', name: 'list_leads' }, 'search'],
    [{}, 'id'],
  ])('answers -32602 to %j with the argument "%s"', async (ref, name) => {
    await expectError({ ref, argument: { name, value: '' } }, -32602);
  });

  it('answers -32602 to a value that is not a string', async () => {
    await expectError({ ref: LEAD_OF_PROMPT, argument: { name: 'lead_id', value: 5 } }, -32602);
    await expectError({ ref: LEAD_OF_PROMPT }, -32602);
  });
});

describe.each(PROTOCOL_MODES)('the client of the SDK (%s)', (protocolMode) => {
  it('completes an argument and gets the prompt with it', async () => {
    const { id } = await createLead(tenant.api, { first_name: 'Grace' });
    const address = new URL('/mcp', app.url);
    const connection = { requestInit: { headers: { Authorization: `Bearer ${tenant.key.key}` } } };
    const info = { name: 'agent', version: '1' };
    const client =
      protocolMode === 'sessions'
        ? new Client(info)
        : new StatelessClient(info, {
            versionNegotiation: { mode: { pin: STATELESS_REVISION } },
          });
    if (client instanceof Client)
      await client.connect(new StreamableHTTPClientTransport(address, connection));
    else await client.connect(new StatelessTransport(address, connection));
    expect(client.getServerCapabilities()).toMatchObject({ prompts: {}, completions: {} });

    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toContain('follow_up_lead');
    const ref = { type: 'ref/prompt' as const, name: 'follow_up_lead' };
    const argument = { name: 'lead_id', value: 'gra' };
    const { completion } = await client.complete({ ref, argument });
    const [lead_id = ''] = completion.values;
    expect(lead_id).toMatch(new RegExp(`^Grace .*${id}$`));
    const { messages } = await client.getPrompt({ name: 'follow_up_lead', arguments: { lead_id } });
    expect(messages.map(({ content }) => content.type)).toContain('resource');
    await expect(client.getPrompt({ name: 'nope' })).rejects.toMatchObject({ code: -32602 });
    await client.close();
  });
});
