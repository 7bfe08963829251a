import { createLead, dataOf, LEADS } from '../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';
import { type Agent, connectAgent, stopWithAgents } from '../../support/mcp/agent.js';

const READS = ['leads:read', 'appointments:read', 'tasks:read'] as const;
const APPOINTMENT = { start_time: '2026-03-01T20:00:00Z', end_time: '2026-03-01T21:00:00Z' };

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
  const leads = [
    { status: 'new', city: 'Graz' },
    { status: 'new', custom_fields: { size: 3 } },
    { status: null },
  ];
  for (const lead of leads) await createLead(tenant.api, lead);
  const { id } = await createLead(tenant.api, { status: 'won' });
  dataOf(await tenant.api.post('/api/v1/appointments', { lead_id: id, ...APPOINTMENT }), 201);
  dataOf(await tenant.api.post('/api/v1/tasks', { title: 'Call' }), 201);
});
afterAll(() => stopWithAgents(app));

async function agentWith(...scopes: readonly (typeof READS)[number][]): Promise<Agent> {
  return connectAgent(app, await app.key(tenant.id, scopes));
}

describe('count_records', () => {
  it('answers what the counts of each kind of record answer', async () => {
    const agent = await agentWith(...READS);
    await agent.listTools();
    const cases = [
      { record: 'lead', path: LEADS, by: 'status' },
      { record: 'lead', path: LEADS, by: 'custom_fields.size' },
      { record: 'appointment', path: '/api/v1/appointments', by: 'start_day', zone: 'Asia/Tokyo' },
      { record: 'task', path: '/api/v1/tasks', by: 'due_day', zone: null },
    ];
    for (const { record, path, by, zone: time_zone } of cases) {
      const query = `by=${by}&time_zone=${time_zone ?? ''}`;
      const { body } = await tenant.api.get(`${path}/counts?${query}`);
      expect(await agent.succeed('count_records', { record, by, time_zone })).toEqual(body);
    }
    const args = { record: 'appointment', by: 'start_day', time_zone: 'Asia/Tokyo' };
    expect(await agent.succeed('count_records', args)).toEqual({
      data: [{ value: '2026-03-02', count: 1 }],
      meta: { total: 1, other: 0 },
    });
  });

  it('takes the filter of the records as an object', async () => {
    const agent = await agentWith(...READS);
    const args = { record: 'lead', by: 'city' };
    const counts = (filter: object) => agent.succeed('count_records', { ...args, filter });
    expect(await counts({ status: 'new', 'custom_fields.size': { is_empty: true } })).toEqual({
      data: [{ value: 'Graz', count: 1 }],
      meta: { total: 1, other: 0 },
    });
    expect(await counts({ appointments: { some: { status: 'scheduled' } } })).toMatchObject({
      meta: { total: 1 },
    });
    expect(await counts({})).toMatchObject({ meta: { total: 4 } });
    const { details } = await agent.fail('count_records', { ...args, filter: { size: 1 } });
    expect(details).toMatchObject([{ field: 'filter.size' }]);
    const limited = await agentWith('leads:read');
    const related = { ...args, filter: { tasks: { none: { status: 'open' } } } };
    expect(await limited.fail('count_records', related)).toMatchObject({
      code: 'insufficient_scope',
      required_scope: 'tasks:read',
    });
  });

  it('needs the read scope of the records that it counts', async () => {
    for (const scope of READS) {
      const agent = await agentWith(scope);
      const names = (await agent.listTools()).map(({ name }) => name);
      expect(names).toContain('count_records');
      for (const needed of READS) {
        const args = { record: needed.replace('s:read', ''), by: 'status' };
        if (needed === scope) await agent.succeed('count_records', args);
        else {
          const error = await agent.fail('count_records', args);
          expect(error).toMatchObject({ code: 'insufficient_scope', required_scope: needed });
        }
      }
    }
  });

  it('names the argument that is wrong, and what is allowed', async () => {
    const agent = await agentWith(...READS);
    const wrong = [
      { args: { record: 'task', by: 'city' }, field: 'by', allowed: 'priority' },
      { args: { record: 'leads', by: 'status' }, field: 'record', allowed: 'lead, appointment' },
      { args: { record: 'lead', by: 'city', time_zone: 'Mars' }, field: 'time_zone', allowed: '' },
    ];
    for (const { args, field, allowed } of wrong) {
      const { code, details } = await agent.fail('count_records', args);
      expect({ code, details }).toEqual({
        code: 'validation_error',
        details: [{ field, message: expect.stringContaining(allowed) as string }],
      });
    }
  });
});
