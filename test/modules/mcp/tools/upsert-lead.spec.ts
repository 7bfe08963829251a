import { createLead, getLead, type LeadRecord } from '../../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';
import { type Agent, connectAgent, stopWithAgents } from '../../../support/mcp/agent.js';
import { PROTOCOL_MODES } from '../../../support/mcp/mcp-sdk-clients.js';

const EMAIL = 'grace@example.com';

type Upserted = LeadRecord & { readonly action: string };

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => stopWithAgents(app));

describe.each(PROTOCOL_MODES)('upsert_lead (%s)', (protocolMode) => {
  let agent: Agent;

  beforeEach(async () => {
    agent = await connectAgent(app, tenant, protocolMode);
    await agent.listTools();
  });

  const upsert = (data: object, more = {}) =>
    agent.succeed<Upserted>('upsert_lead', { match_on: ['email'], data, ...more });

  it('creates a lead, updates it, and leaves it unchanged', async () => {
    const created = await upsert({ email: EMAIL, first_name: 'Grace' });
    expect(created).toMatchObject({ action: 'created', first_name: 'Grace', source: 'api' });
    const updated = await upsert({ email: EMAIL, city: 'Arlington' });
    expect(updated).toMatchObject({ action: 'updated', id: created.id, city: 'Arlington' });
    const { action, ...lead } = await upsert({ email: EMAIL, city: 'Arlington' });
    expect(action).toBe('unchanged');
    expect(lead).toEqual(await getLead(tenant.api, created.id));
  });

  it('treats null as not given, also in data', async () => {
    const lead = await createLead(tenant.api, { email: EMAIL, city: 'Paris', tags: ['a'] });
    const data = { email: EMAIL, first_name: null, city: null, tags: null, phone: null };
    expect(await upsert(data, { mode: null })).toEqual({ ...lead, action: 'unchanged' });
  });

  it('names both leads if the values belong to two', async () => {
    const one = await createLead(tenant.api, { email: EMAIL });
    const other = await createLead(tenant.api, { external_id: 'crm-4711' });
    const failure = await agent.fail('upsert_lead', {
      match_on: ['email', 'external_id'],
      data: { email: EMAIL, external_id: 'crm-4711' },
    });
    expect(failure.code).toBe('duplicate');
    const ids = failure.details?.map(({ existing_id }) => existing_id);
    expect(ids?.toSorted()).toEqual([one.id, other.id].toSorted());
  });

  it('names the fields of data', async () => {
    const { code, details } = await agent.fail('upsert_lead', {
      match_on: ['email'],
      data: { email: EMAIL, zip: 5, colour: 'red' },
    });
    expect(code).toBe('validation_error');
    const fields = details?.map(({ field }) => field).toSorted();
    expect(fields).toEqual(['data.colour', 'data.zip']);
  });

  it.each([
    ['leads:read', 'leads:write'],
    ['leads:write', 'leads:read'],
  ] as const)('needs %s in addition to %s', async (missing, given) => {
    const limited = await connectAgent(app, await app.key(tenant.id, [given]), protocolMode);
    const names = (await limited.listTools()).map(({ name }) => name);
    expect(names).not.toContain('upsert_lead');
    const data = { email: EMAIL, first_name: 'Grace' };
    const failure = await limited.fail('upsert_lead', { match_on: ['email'], data });
    expect(failure).toMatchObject({ code: 'insufficient_scope', required_scope: missing });
  });
});
