import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { TenantDatabase } from '../../../../src/platform/data/gateway/tenant-database.js';
import { createLead, dataOf } from '../../../../src/testing/factories.js';
import { McpHttpClient } from '../../../../src/testing/mcp-client.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { type Agent, connectAgent, stopWithAgents } from '../../../support/mcp/agent.js';
import { stopBackgroundWork } from '../../../support/database/isolation.js';
import type { Page, Row } from '../../../support/mcp/tool-assertions.js';

const TIMES = { start_time: '2026-03-02T17:00:00Z', end_time: '2026-03-02T18:30:15Z' };

const CONTACT = { phone: '+1 415 555 0132', email: 'grace@example.com' };

let app: TestApp;
let tenant: Tenant;
let agent: Agent;
let leadId: string;

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  tenant = await app.organization();
  agent = await connectAgent(app, tenant);
  const names = { first_name: 'Grace', last_name: 'Hopper' };
  ({ id: leadId } = await createLead(tenant.api, {
    ...names,
    ...CONTACT,
    notes: 'x',
    status: null,
  }));
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => stopWithAgents(app));

const bookAppointment = () =>
  agent.succeed<Row>('create_appointment', { lead_id: leadId, ...TIMES });

async function itemOf(tool: string, args = {}): Promise<Row> {
  const { data } = await agent.succeed<Page>(tool, args);
  expect(data).toHaveLength(1);
  return data[0]!;
}

describe('the name of a lead', () => {
  it('is next to its id in appointments and tasks', async () => {
    const named = { lead_id: leadId, lead_name: 'Grace Hopper' };
    const { id } = await bookAppointment();
    const args = { title: 'Call', contact_id: leadId };
    const about = { contact_id: leadId, contact_name: 'Grace Hopper' };
    const task = await agent.succeed<Row>('create_task', args);
    expect(task).toMatchObject(about);
    expect(await agent.succeed('get_appointment', { id })).toMatchObject(named);
    expect(await agent.succeed('update_appointment', { id, type: 'Visit' })).toMatchObject(named);
    expect(await agent.succeed('update_task', { id: task.id, priority: 'low' })).toMatchObject(
      about,
    );
    expect(await agent.succeed('get_task', { id: task.id })).toMatchObject(about);
    expect(await itemOf('list_appointments')).toMatchObject(named);
    expect(await itemOf('list_appointments', { status: 'scheduled', page: 1 })).toMatchObject(
      named,
    );
    expect(await itemOf('list_tasks')).toMatchObject(about);
    expect(await itemOf('list_tasks', { contact_id: leadId })).toMatchObject(about);
  });

  it('is in the records of prompts', async () => {
    await bookAppointment();
    await agent.succeed('create_task', { title: 'Call', contact_id: leadId });
    const params = { name: 'follow_up_lead', arguments: { lead_id: leadId } };
    const caller = new McpHttpClient(app.url, tenant.key.key);
    const { body } = await caller.statelessRpc('prompts/get', params);
    const texts = JSON.stringify(body).replaceAll('\\', '');
    expect(texts).toContain('"lead_name":"Grace Hopper"');
    expect(texts).toContain('"contact_name":"Grace Hopper"');
  });

  it('needs no additional statement', async () => {
    await stopBackgroundWork(app);
    await bookAppointment();
    const read = jest.spyOn(app.app.get(TenantDatabase), 'read');
    expect(await itemOf('list_appointments')).toMatchObject({ lead_name: 'Grace Hopper' });
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('is absent if the key may not read leads, if the lead is deleted, and in REST', async () => {
    const { id } = await bookAppointment();
    const key = await app.key(tenant.id, ['appointments:read']);
    const limited = await connectAgent(app, key);
    expect(await limited.succeed('get_appointment', { id })).not.toHaveProperty('lead_name');
    const rest = await tenant.api.get(`/api/v1/appointments/${id}`);
    expect(dataOf(rest)).not.toHaveProperty('lead_name');
    await tenant.api.delete(`/api/v1/leads/${leadId}`);
    expect(await agent.succeed('get_appointment', { id })).toMatchObject({ lead_name: null });
    expect(await itemOf('list_appointments')).not.toHaveProperty('lead_name');
  });

  it('is that of the lead of the same organization', async () => {
    const other = await app.organization();
    const stranger = await connectAgent(app, other);
    const theirs = await createLead(other.api, { first_name: 'Ada', last_name: null });
    await stranger.succeed('create_task', { title: 'Call', contact_id: theirs.id });
    const { data } = await stranger.succeed<Page>('list_tasks');
    expect(data).toMatchObject([{ contact_name: 'Ada' }]);
  });
});

describe('the phone and e-mail of a lead', () => {
  const contact = { lead_phone: CONTACT.phone, lead_email: CONTACT.email };

  it('are in appointments', async () => {
    const { id } = await bookAppointment();
    expect(await itemOf('list_appointments')).toMatchObject(contact);
    expect(await itemOf('list_appointments', { lead_id: leadId })).toMatchObject(contact);
    expect(await agent.succeed('get_appointment', { id })).toMatchObject(contact);
    expect(await agent.succeed('update_appointment', { id, type: 'x' })).toMatchObject(contact);
  });

  it('are absent if the key may not read leads, if the lead is deleted, and in REST', async () => {
    const { id } = await bookAppointment();
    const key = await app.key(tenant.id, ['appointments:read']);
    const limited = await connectAgent(app, key);
    const found = await limited.succeed<Page>('list_appointments');
    const got = await limited.succeed('get_appointment', { id });
    const rest = await tenant.api.get(`/api/v1/appointments/${id}`);
    for (const text of [found, got, rest.body].map((body) => JSON.stringify(body))) {
      expect(text).not.toMatch(/555|grace/);
    }
    await tenant.api.delete(`/api/v1/leads/${leadId}`);
    const deleted = { lead_phone: null, lead_email: null };
    expect(await agent.succeed('get_appointment', { id })).toMatchObject(deleted);
  });
});

describe('the items of a list', () => {
  it('are summaries without nulls, with times to the minute', async () => {
    const { id } = await bookAppointment();
    expect(await itemOf('list_leads')).toEqual({
      ...{ id: leadId, first_name: 'Grace', last_name: 'Hopper' },
      lead_score: expect.any(Number) as number,
      ...{ on_dnc_list: false, sms_opted_out: false },
    });
    expect(await itemOf('list_appointments')).toEqual({
      ...{ id, lead_id: leadId, lead_name: 'Grace Hopper', status: 'scheduled' },
      ...{ lead_phone: CONTACT.phone, lead_email: CONTACT.email },
      ...{ start_time: '2026-03-02T17:00Z', end_time: '2026-03-02T18:30:15Z' },
    });
  });

  it('have the additional fields that the call names', async () => {
    await bookAppointment();
    const fields = ['type', 'booked_by', 'created_at', 'status'];
    expect(await itemOf('list_appointments', { fields })).toMatchObject({
      booked_by: 'ai',
      created_at: expect.any(String) as string,
      status: 'scheduled',
    });
    expect(await itemOf('list_leads', { fields: null })).not.toHaveProperty('created_at');
    expect(await itemOf('list_leads', { fields: ['created_at'] })).toHaveProperty('created_at');
  });

  it.each([
    ['list_leads', '/api/v1/leads'],
    ['list_appointments', '/api/v1/appointments'],
    ['list_tasks', '/api/v1/tasks'],
  ])('of %s have every field of the record that the call names', async (tool, path) => {
    await bookAppointment();
    await agent.succeed('create_task', { title: 'Call', contact_id: leadId });
    const { data } = (await tenant.api.get(path)).body as Page;
    const whole = dataOf<Row>(await tenant.api.get(`${path}/${data[0]!.id}`));
    const fields = Object.keys(whole);
    const item = await itemOf(tool, { fields });
    const given = Object.keys(whole).filter((name) => whole[name] !== null);
    expect(Object.keys(item)).toEqual(expect.arrayContaining(given));
    if (tool === 'list_leads') expect(item).toMatchObject({ notes: 'x', source: 'api', tags: [] });
  });

  it.each([['unknown'], 'created_at', [1], {}])('are refused for the fields %j', async (fields) => {
    const error = await agent.fail('list_leads', { fields });
    expect(error).toMatchObject({ code: 'validation_error', details: [{ field: 'fields' }] });
  });
});

describe('a client that passes both forms of a result to the model', () => {
  it('gets only the text, also after a restart', async () => {
    const client = new Client({ name: '@langchain/mcp-adapters', version: '1.0.0' });
    const requestInit = { headers: { Authorization: `Bearer ${tenant.key.key}` } };
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', app.url), { requestInit });
    await client.connect(transport);
    const { tools } = await client.listTools();
    expect(tools.filter(({ outputSchema }) => outputSchema)).toEqual([]);
    const call = { name: 'get_lead', arguments: { id: leadId } };
    const result = (await client.callTool(call)) as CallToolResult;
    expect(result).not.toHaveProperty('structuredContent');
    expect(result.content).toEqual([{ type: 'text', text: expect.stringContaining(leadId) }]);
    await client.close();
  });
});
