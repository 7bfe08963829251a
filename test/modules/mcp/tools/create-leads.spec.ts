import { createLead, getLead, type LeadBody, LEADS } from '../../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';
import { type Agent, connectAgent, stopWithAgents } from '../../../support/mcp/agent.js';
import { PROTOCOL_MODES } from '../../../support/mcp/mcp-sdk-clients.js';

interface Results {
  readonly results: readonly {
    readonly index: number;
    readonly id?: string;
    readonly error?: { readonly code: string };
  }[];
  readonly failed: number;
}

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => stopWithAgents(app));

async function total(): Promise<number> {
  const { body } = await tenant.api.get(LEADS);
  return (body as { meta: { total: number } }).meta.total;
}

describe.each(PROTOCOL_MODES)('create_leads (%s)', (protocolMode) => {
  let agent: Agent;

  beforeEach(async () => {
    agent = await connectAgent(app, tenant, protocolMode);
    await agent.listTools();
  });

  const create = (leads: readonly LeadBody[], more = {}) =>
    agent.succeed<Results>('create_leads', { leads, ...more });

  it('answers the ids and the errors of the leads', async () => {
    await createLead(tenant.api, { email: 'taken@example.com' });
    const answer = await create([
      { first_name: 'Ada', notes: null, tags: null },
      { first_name: 'Bob', email: 'Taken@example.com' },
      { zip: 5 },
    ]);
    expect(answer).toMatchObject({
      results: [
        { index: 0 },
        { index: 1, error: { code: 'duplicate' } },
        { index: 2, error: { code: 'validation_error' } },
      ],
      failed: 2,
    });
    const id = answer.results[0]!.id!;
    expect(Object.keys(answer.results[0]!)).toEqual(['index', 'id']);
    expect(await getLead(tenant.api, id)).toMatchObject({ first_name: 'Ada', source: 'api' });
  });

  it.each([true, null])('creates nothing if dry_run is %j', async (dry_run) => {
    const leads = [{ first_name: 'Ada' }, { zip: 5 }];
    const answer = await agent.succeed('create_leads', { leads, dry_run });
    expect(answer).toMatchObject({ dry_run: true, would_answer: { failed: 1 } });
    expect(await total()).toBe(0);
  });

  it('takes 1 to 25 leads', async () => {
    const leads = Array.from({ length: 25 }, () => ({ first_name: 'Ada' }));
    expect((await create(leads)).failed).toBe(0);
    for (const wrong of [[], [...leads, { first_name: 'Ada' }], {}]) {
      const { code, details } = await agent.fail('create_leads', { leads: wrong });
      expect([code, details?.map(({ field }) => field)]).toEqual(['validation_error', ['leads']]);
    }
    expect(await total()).toBe(25);
  });

  it('counts as a write for every ten leads', async () => {
    const before = Number(agent.lastAnswer.headers.get('ratelimit-remaining'));
    await create(Array.from({ length: 21 }, () => ({ first_name: 'Ada' })));
    const { headers } = agent.lastAnswer;
    const after = Number(headers.get('ratelimit-remaining'));
    await create([{ first_name: 'Ada' }]);
    expect(Number(agent.lastAnswer.headers.get('ratelimit-remaining'))).toBe(after - 1);
    expect(before).toBeGreaterThan(0);
    expect(Number(headers.get('ratelimit-limit')) - after).toBe(3);
  });

  it('needs leads:write', async () => {
    const reader = await connectAgent(app, await app.key(tenant.id, ['leads:read']), protocolMode);
    expect((await reader.listTools()).map(({ name }) => name)).not.toContain('create_leads');
    const failure = await reader.fail('create_leads', { leads: [{ first_name: 'Ada' }] });
    expect(failure).toMatchObject({ code: 'insufficient_scope', required_scope: 'leads:write' });
  });
});
