import { randomUUID } from 'node:crypto';
import { createLead, expectError, getLead, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import {
  type Agent,
  type Arguments,
  connectAgent,
  stopWithAgents,
} from '../../../support/mcp/agent.js';
import { casesOf, PROTOCOL_MODES } from '../../../support/mcp/mcp-sdk-clients.js';
import { expectFailure } from '../../../support/mcp/tool-assertions.js';
import { ALL_TOOLS, byName, SCOPED_TOOLS } from '../../../support/mcp/tools.js';
import { type Limits, limitsOf } from '../../../support/rate-limits.js';

const READS = 5;
const WRITES = 3;

let limited: TestApp;

beforeAll(async () => {
  limited = await TestApp.start({ settings: { readsPerMinute: READS, writesPerMinute: WRITES } });
});
afterAll(() => stopWithAgents(limited));

describe.each(PROTOCOL_MODES)('the rate limits of tools (%s)', (protocolMode) => {
  const connect = (server: { readonly url: string }, owner: Tenant) =>
    connectAgent(server, owner, protocolMode);
  const scopedTools = casesOf(protocolMode, byName(SCOPED_TOOLS));
  let us: Tenant;
  let caller: Agent;

  beforeEach(async () => {
    us = await limited.organization();
    caller = await connect(limited, us);
  });

  /** The remaining requests after a call with any result. */
  async function after(name: string, args: Arguments = {}): Promise<Limits> {
    await caller.call(name, args);
    return limitsOf(caller.lastAnswer);
  }

  /** What is left after a request of REST. */
  async function afterRest(method: string, path: string, body?: unknown): Promise<Limits> {
    return limitsOf(await us.api.request(method, path, { body }));
  }

  async function expectOverLimit(name: string, args: Arguments, limit: number): Promise<void> {
    const result = await caller.call(name, args);
    const { lastAnswer } = caller;
    const { status, headers } = lastAnswer;
    const error = expectFailure(result, 'rate_limit_exceeded');
    expect(status).toBe(200);
    expect(limitsOf(lastAnswer)).toMatchObject({ limit, remaining: 0 });
    expect(error.retry_after_seconds).toBeGreaterThan(0);
    expect(error.retry_after_seconds).toBeLessThanOrEqual(60);
    expect(headers.get('retry-after')).toBe(String(error.retry_after_seconds));
    expect(Math.ceil(Date.parse(error.resets_at!) / 1000)).toBe(limitsOf(lastAnswer).reset);
  }

  it('are shared by REST and tools: reads', async () => {
    const first = await afterRest('GET', LEADS);
    const states = [
      first,
      await after('list_leads'),
      await afterRest('GET', '/api/v1/me'),
      await after('get_task', { id: randomUUID() }),
      await after('list_appointments'),
    ];
    expect(states).toEqual(
      [4, 3, 2, 1, 0].map((remaining) => ({ limit: READS, remaining, reset: first.reset })),
    );
    await expectOverLimit('list_leads', {}, READS);
    expectError(await us.api.get(LEADS), 429, 'rate_limit_exceeded');
  });

  it('are shared by REST and tools: writes', async () => {
    const first = await after('create_lead', { first_name: 'A' });
    const states = [
      first,
      await afterRest('POST', LEADS, { first_name: 'A' }),
      await after('create_task', { title: 'Call' }),
    ];
    expect(states).toEqual(
      [2, 1, 0].map((remaining) => ({ limit: WRITES, remaining, reset: first.reset })),
    );
    await expectOverLimit('delete_task', { id: randomUUID() }, WRITES);
    expectError(await us.api.post(LEADS, { first_name: 'A' }), 429, 'rate_limit_exceeded');
  });

  it('count reads and writes separately', async () => {
    for (let i = 0; i < WRITES; i++) await after('create_lead', { first_name: 'A' });
    await expectOverLimit('create_lead', { first_name: 'A' }, WRITES);
    expect(await after('list_leads')).toMatchObject({ limit: READS, remaining: READS - 1 });
    for (let i = 1; i < READS; i++) await after('list_leads');
    await expectOverLimit('list_leads', {}, READS);
    const other = await limited.organization();
    caller = await connect(limited, other);
    for (let i = 0; i < READS; i++) await after('list_leads');
    expect(await after('create_lead', { first_name: 'A' })).toMatchObject({
      remaining: WRITES - 1,
    });
  });

  it.each(scopedTools)('count %s by its effect', async (name, { effect }) => {
    const limit = effect === 'reads' ? READS : WRITES;
    const state = await after(name, { nonsense: 1 });
    expect(state).toMatchObject({ limit, remaining: limit - 1 });
    const route = effect === 'reads' ? ['GET', LEADS] : ['POST', LEADS];
    const rest = await afterRest(route[0]!, route[1]!, effect === 'reads' ? undefined : {});
    expect(rest).toEqual({ ...state, remaining: limit - 2 });
  });

  it('prevent changes over the limit', async () => {
    const lead = await createLead(us.api, { first_name: 'A' });
    for (let i = 1; i < WRITES; i++) await after('update_lead', { id: lead.id, city: `City ${i}` });
    const before = await getLead(us.api, lead.id);
    await expectOverLimit('update_lead', { id: lead.id, city: 'Paris' }, WRITES);
    await expectOverLimit('delete_lead', { id: lead.id }, WRITES);
    await expectOverLimit('create_lead', { first_name: 'B' }, WRITES);
    expect(await getLead(us.api, lead.id)).toStrictEqual(before);
    expect(await us.api.get(LEADS)).toMatchObject({ body: { meta: { total: 1 } } });
  });

  it('are checked before the scope and the arguments', async () => {
    const reader = await limited.key(us.id, ['leads:read']);
    caller = await connect(limited, reader);
    for (let i = 0; i < WRITES; i++) {
      expectFailure(await caller.call('create_lead', {}), 'insufficient_scope');
    }
    await expectOverLimit('create_lead', { nonsense: 1 }, WRITES);
  });

  it('do not count a call over the limit, which does not extend the window either', async () => {
    const { reset } = await after('list_leads');
    for (let i = 1; i < READS; i++) await after('list_leads');
    for (let i = 0; i < 3; i++) {
      await expectOverLimit('list_leads', {}, READS);
      expect(limitsOf(caller.lastAnswer).reset).toBe(reset);
    }
  });

  it('count concurrent calls exactly', async () => {
    const results = await Promise.all(
      Array.from({ length: 12 }, () => caller.call('create_lead', { first_name: 'A' })),
    );
    expect(results.filter(({ isError }) => !isError)).toHaveLength(WRITES);
    expect(await us.api.get(LEADS)).toMatchObject({ body: { meta: { total: WRITES } } });
  });

  it('do not apply to tools/list and ping', async () => {
    for (let i = 0; i < 2 * READS; i++) {
      await caller.listTools();
      await caller.ping();
      limitsOf(caller.lastAnswer);
    }
    expect(await after('list_leads')).toMatchObject({ remaining: READS - 1 });
    for (let i = 1; i < READS; i++) await after('list_leads');
    await expectOverLimit('list_leads', {}, READS);
    expect(await caller.listTools()).toHaveLength(ALL_TOOLS.length);
    await caller.ping();
  });

  it('count a call that is refused for its scope, its arguments or its record', async () => {
    expect(await after('create_lead', {})).toMatchObject({ limit: WRITES, remaining: 2 });
    expect(await after('delete_lead', { id: randomUUID() })).toMatchObject({ remaining: 1 });
    const reader = await limited.key(us.id, ['leads:read']);
    caller = await connect(limited, reader);
    expect(await after('create_lead', {})).toMatchObject({ limit: WRITES, remaining: 2 });
    expect(await after('list_tasks')).toMatchObject({ limit: READS, remaining: READS - 1 });
  });

  it('do not count an unknown tool', async () => {
    for (let i = 0; i < 2 * READS; i++) {
      await expect(caller.call('send_message', {})).rejects.toMatchObject({ code: -32602 });
    }
    expect(await after('list_leads')).toMatchObject({ remaining: READS - 1 });
    expect(await after('create_lead')).toMatchObject({ remaining: WRITES - 1 });
  });

  it('apply to a key, not to a session or an organization', async () => {
    await after('list_leads');
    const again = await connect(limited, us);
    await again.call('list_leads');
    expect(limitsOf(again.lastAnswer)).toMatchObject({ remaining: READS - 2 });
    const colleague = await connect(limited, await limited.key(us.id));
    await colleague.call('list_leads');
    expect(limitsOf(colleague.lastAnswer)).toMatchObject({ remaining: READS - 1 });
  });
});
