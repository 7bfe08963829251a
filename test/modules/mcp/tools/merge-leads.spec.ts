import {
  createLead,
  dataOf,
  expectError,
  getLead,
  type LeadRecord,
  LEADS,
} from '../../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';
import { type Agent, connectAgent, stopWithAgents } from '../../../support/mcp/agent.js';
import { PROTOCOL_MODES } from '../../../support/mcp/mcp-sdk-clients.js';

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => stopWithAgents(app));

describe.each(PROTOCOL_MODES)('merge_leads (%s)', (protocolMode) => {
  let agent: Agent;
  let target: LeadRecord;
  let source: LeadRecord;

  beforeEach(async () => {
    agent = await connectAgent(app, tenant, protocolMode);
    await agent.listTools();
    target = await createLead(tenant.api, { city: 'Oslo', tags: ['a'] });
    source = await createLead(tenant.api, { city: 'Rome', email: 'ada@example.com', tags: ['b'] });
  });

  const argumentsOf = (more = {}) => ({ id: target.id, lead_id: source.id, ...more });

  it('merges the lead lead_id into the lead id', async () => {
    const prefer = { city: 'source', phone: null };
    const lead = await agent.succeed('merge_leads', argumentsOf({ prefer }));
    expect(lead).toMatchObject({ id: target.id, city: 'Rome', email: source.email });
    expect(lead).toEqual(await getLead(tenant.api, target.id));
    expectError(await tenant.api.get(`${LEADS}/${source.id}`), 404, 'not_found');
  });

  it('shows both leads and what moves in a dry run', async () => {
    const times = { start_time: '2026-05-04T09:00:00Z', end_time: '2026-05-04T10:00:00Z' };
    const { api } = tenant;
    for (const lead_id of [source.id, source.id, target.id]) {
      dataOf(await api.post('/api/v1/appointments', { lead_id, ...times }), 201);
    }
    const tasks = [source.id, source.id, source.id].map((contact_id) =>
      api.post('/api/v1/tasks', { title: 'Call', contact_id }),
    );
    const [first] = await Promise.all(tasks);
    await api.delete(`/api/v1/tasks/${dataOf(first!, 201).id}`);
    const answer = await agent.succeed('merge_leads', argumentsOf({ dry_run: true }));
    expect(Object.keys(answer)).toEqual([
      ...['dry_run', 'would_answer', 'target', 'source', 'moves'],
    ]);
    expect(answer).toMatchObject({ target, source, moves: { appointments: 2, tasks: 2 } });
    // REST answers the same.
    const body = { lead_id: source.id, dry_run: true };
    const rest = dataOf<typeof answer>(await api.post(`${LEADS}/${target.id}/merge`, body));
    const withoutTime = ({ would_answer, ...others }: typeof answer) => ({
      ...others,
      would_answer: { ...(would_answer as object), updated_at: null },
    });
    expect(withoutTime(rest)).toEqual(withoutTime(answer));
  });

  it('changes nothing in a dry run', async () => {
    const answer = await agent.succeed('merge_leads', argumentsOf({ dry_run: true }));
    expect(answer).toMatchObject({
      dry_run: true,
      would_answer: { id: target.id, tags: ['a', 'b'], email: source.email },
    });
    expect(await getLead(tenant.api, target.id)).toEqual(target);
    expect(await getLead(tenant.api, source.id)).toEqual(source);
    const refused = await agent.fail('merge_leads', {
      ...argumentsOf({ dry_run: true }),
      lead_id: target.id,
    });
    expect(refused.details).toMatchObject([{ field: 'lead_id' }]);
  });

  it('says into which lead the other one was merged', async () => {
    await agent.succeed('merge_leads', argumentsOf());
    const again = await agent.fail('merge_leads', argumentsOf());
    expect(again).toMatchObject({ code: 'lead_not_found', details: [{ merged_into: target.id }] });
    const unknown = await agent.fail('get_lead', { id: source.id });
    expect(unknown).toMatchObject({ code: 'not_found', details: [{ merged_into: target.id }] });
  });

  it('names a field that cannot be preferred', async () => {
    const failure = await agent.fail('merge_leads', argumentsOf({ prefer: { colour: 'source' } }));
    expect(failure.details).toMatchObject([{ field: 'prefer.colour' }]);
  });
});
