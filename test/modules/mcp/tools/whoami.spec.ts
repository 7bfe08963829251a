import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { giveWay } from '../../../../src/platform/give-way.js';
import { SCOPES } from '../../../../src/platform/access/scopes.js';
import {
  FULL_SERVER_INFO,
  INSTRUCTIONS,
} from '../../../../src/modules/mcp/protocol/server-info.js';
import type { KeyInfoDto } from '../../../../src/modules/auth/me.dto.js';
import { connectAgent, stopWithAgents } from '../../../support/mcp/agent.js';
import { dataOf, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { McpHttpClient } from '../../../../src/testing/mcp-client.js';
import { PROTOCOL_MODES } from '../../../support/mcp/mcp-sdk-clients.js';
import { ALL_TOOLS } from '../../../support/mcp/tools.js';
import { until } from '../../../support/servers/product.js';

const READS = 5;
const WRITES = 3;

type Whoami = Record<keyof KeyInfoDto, unknown> & {
  time: string;
  local_time: string;
  limits: Record<'reads' | 'writes', { limit: number; remaining: number; resets_at: string }>;
};

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ settings: { readsPerMinute: READS, writesPerMinute: WRITES } });
});
afterAll(() => stopWithAgents(app));
beforeEach(async () => {
  tenant = await app.organization();
});

describe.each(PROTOCOL_MODES)('whoami (%s)', (protocolMode) => {
  const ask = async (of: Tenant) =>
    (await connectAgent(app, of, protocolMode)).succeed<Whoami>('whoami');

  it('returns the result of GET /api/v1/me with the current rate limit windows', async () => {
    const { limits, time: _, local_time: __, ...facts } = await ask(tenant);
    const { limits: perMinute, ...rest } = dataOf<Whoami>(await tenant.api.get('/api/v1/me'));
    expect(facts).toEqual(rest);
    expect({ reads: limits.reads.limit, writes: limits.writes.limit }).toEqual({
      reads: READS,
      writes: WRITES,
    });
    expect(perMinute).toEqual({ reads_per_minute: READS, writes_per_minute: WRITES });
  });

  it.each([
    ['UTC', '+00:00'],
    ['Asia/Kolkata', '+05:30'],
    ['America/Phoenix', '-07:00'],
  ])('tells the time, and the time in the zone %s of the organization', async (zone, offset) => {
    const api = app.client((await app.key(tenant.id, ['organization:write'])).key.key);
    dataOf(await api.put('/api/v1/organization', { time_zone: zone }));
    await until(async () => {
      const { organization } = await ask(tenant);
      return (organization as { time_zone: string }).time_zone === zone;
    });
    const before = Date.now();
    const { time, local_time } = await ask(tenant);
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(Date.parse(time)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(time)).toBeLessThanOrEqual(Date.now());
    expect(local_time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]/);
    expect(local_time.slice(-6)).toBe(offset);
    expect(Date.parse(local_time)).toBe(Math.floor(Date.parse(time) / 1_000) * 1_000);
  });

  it.each([[[]], [['tasks:write']], [SCOPES]] as const)(
    'returns the scopes %j and the expiry of the key',
    async (scopes) => {
      const expiresAt = new Date(Date.now() + 3_600_000);
      const { api: _, ...key } = await app.key(tenant.id, scopes, { expiresAt });
      const told = await ask({ ...tenant, ...key });
      expect(told).toMatchObject({ scopes, expires_at: expiresAt.toISOString() });
      expect(told.organization).toMatchObject({ id: tenant.id });
    },
  );

  it('returns the remaining requests and does not count itself', async () => {
    const agent = await connectAgent(app, tenant, protocolMode);
    await tenant.api.post(LEADS, { first_name: 'Ada' });
    for (let remaining = READS; remaining >= 0; remaining--) {
      const { limits } = await agent.succeed<Whoami>('whoami');
      expect(limits).toMatchObject({ reads: { remaining }, writes: { remaining: WRITES - 1 } });
      const { headers } = agent.lastAnswer;
      expect(headers.get('ratelimit-remaining')).toBe(String(remaining));
      const reset = Math.ceil(Date.parse(limits.reads.resets_at) / 1_000);
      if (remaining < READS) expect(headers.get('ratelimit-reset')).toBe(String(reset));
      await tenant.api.get(LEADS);
    }
  });

  it('rejects arguments', async () => {
    const agent = await connectAgent(app, tenant, protocolMode);
    const { code, details } = await agent.fail('whoami', { id: randomUUID() });
    expect({ code, details }).toMatchObject({
      code: 'validation_error',
      details: [{ field: 'id' }],
    });
  });
});

describe('the instructions and the server info', () => {
  it('name only existing tools', () => {
    const groups = INSTRUCTIONS.match(/\b[a-z]+_(?=\*)/g)!;
    const names = ALL_TOOLS.map(({ name }) => name);
    expect(groups.length).toBeGreaterThan(1);
    for (const group of groups) expect(names.join(' ')).toContain(group);
    expect(names).toContain('whoami');
  });

  it('have at most about 250 tokens', () => {
    expect(INSTRUCTIONS.length).toBeLessThan(1_000);
  });

  it('have an icon as a data URL', () => {
    const { src, mimeType } = FULL_SERVER_INFO.icons[0]!;
    const [, encoded = ''] = src.split(`data:${mimeType};base64,`);
    expect(Buffer.from(encoded, 'base64').toString()).toMatch(/^<svg xmlns=.*<\/svg>$/);
  });

  it('are the same in both protocol modes and for all scopes', async () => {
    const caller = new McpHttpClient(app.url, (await app.key(tenant.id, [])).key.key);
    const { result: opened } = (await caller.initialize()).body;
    const { result: discovered } = (await caller.statelessRpc('server/discover')).body;
    expect(opened).toMatchObject({ serverInfo: FULL_SERVER_INFO, instructions: INSTRUCTIONS });
    expect(discovered).toMatchObject({
      instructions: INSTRUCTIONS,
      _meta: { 'io.modelcontextprotocol/serverInfo': FULL_SERVER_INFO },
    });
  });
});

describe('a single message', () => {
  it('waits once at most for the loops over the inputs of other callers', async () => {
    const LOOPS = 150;
    let steps = 0;
    let isAnswered = false;
    const loop = async () => {
      for (;;) {
        await giveWay();
        if (isAnswered) return;
        steps++;
        for (const startedAt = performance.now(); performance.now() - startedAt < 5;);
      }
    };
    const caller = new McpHttpClient(app.url, tenant.key.key);
    const session = await caller.openSession();
    const loops = Array.from({ length: LOOPS }, loop);
    await turn();
    const before = steps;
    const { status } = await caller.rpc(session, 'tools/call', { name: 'whoami' });
    const meanwhile = steps - before;
    isAnswered = true;
    await Promise.all(loops);
    expect(status).toBe(200);
    expect(meanwhile).toBeLessThan(2 * LOOPS);
  });
});
