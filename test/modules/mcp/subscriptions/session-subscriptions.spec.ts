import { randomUUID } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { MAX_SUBSCRIPTIONS } from '../../../../src/modules/mcp/sessions/subscriptions.js';
import type { Answer } from '../../../../src/testing/api-client.js';
import { createLead, type LeadRecord, updateLead } from '../../../../src/testing/factories.js';
import type { McpHttpClient } from '../../../../src/testing/mcp-client.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';
import { mcpHelpers, rpcErrorOf } from '../../../support/mcp/mcp-helpers.js';
import { until } from '../../../support/servers/product.js';

const INVALID_PARAMS = -32602;

let app: TestServer;
let tenant: Tenant;
let mcp: McpHttpClient;
const { callerOf, start, stopAll } = mcpHelpers(() => app);

beforeAll(async () => {
  app = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await app.organization();
  mcp = callerOf(tenant);
});
afterAll(() => stopAll());

const uriOf = ({ id }: { id: string }) => `lead://${id}`;
const rename = ({ id }: { id: string }) => updateLead(tenant.api, id, { first_name: randomUUID() });

describe('the subscriptions of a session', () => {
  let session: string;
  let lead: LeadRecord;

  beforeEach(async () => {
    session = await mcp.openSession();
    lead = await createLead(tenant.api);
  });

  const subscribe = (uri: string, caller = mcp, of = session) =>
    caller.rpc(of, 'resources/subscribe', { uri });
  const unsubscribe = (uri: string) => mcp.rpc(session, 'resources/unsubscribe', { uri });
  const resultOf = async (asked: Promise<Answer>) => {
    const { status, body } = await asked;
    expect({ status, error: (body as { error?: unknown }).error }).toEqual({ status: 200 });
    return (body as { result: unknown }).result;
  };

  it('are declared as a capability of the server', async () => {
    const { body } = await mcp.initialize();
    expect(body).toMatchObject({ result: { capabilities: { resources: { subscribe: true } } } });
    expect(await resultOf(subscribe(uriOf(lead)))).toEqual({});
    expect(await resultOf(unsubscribe(uriOf(lead)))).toEqual({});
    expect(await resultOf(unsubscribe('nothing://here'))).toEqual({});
  });

  it('are refused with the errors of resources/read', async () => {
    const limited = callerOf(await app.key(tenant.id, ['tasks:read']));
    const own = await limited.openSession();
    expect(await rpcErrorOf(subscribe(`lead://${randomUUID()}`))).toEqual({
      code: -32_002,
      data: expect.objectContaining({ code: 'not_found' }) as object,
    });
    expect(await rpcErrorOf(subscribe(uriOf(lead), limited, own))).toEqual({
      code: -32_000,
      data: expect.objectContaining({ code: 'insufficient_scope' }) as object,
    });
    const invalid = mcp.rpc(session, 'resources/subscribe', { uri: 1 });
    expect(await rpcErrorOf(invalid)).toEqual({ code: INVALID_PARAMS });
  });

  it('resume after Last-Event-ID in a burst of changes, without gaps or duplicates', async () => {
    // The ids of events are those of one instance.
    const caller = callerOf(tenant, await start());
    const own = await caller.openSession();
    await subscribe(uriOf(lead), caller, own);
    const first = await caller.openStream(own);
    const burst = Promise.all(Array.from({ length: 30 }, () => rename(lead)));
    // The first event of the stream, then some of the burst.
    for (let n = 0; n <= 5; n++) await first.next();
    first.disconnect();
    const second = await caller.openStream(own, { 'Last-Event-ID': '5' });
    expect(await second.next()).toMatchObject({ id: '5', data: '' });
    const ids: (string | undefined)[] = [];
    while (ids.length < 25) {
      const { id, message } = await second.nextMessage();
      expect(message).toMatchObject({ params: { uri: uriOf(lead) } });
      ids.push(id);
    }
    expect(ids).toEqual(Array.from({ length: 25 }, (_, n) => String(n + 6)));
    await burst;
    await caller.delete(own);
    expect(await second.next()).toBeUndefined();
  });

  it('replay every record that changed while the client was disconnected', async () => {
    const leads = await Promise.all(Array.from({ length: 5 }, () => createLead(tenant.api)));
    for (const one of leads) await subscribe(uriOf(one));
    for (const one of leads) await rename(one);
    const stream = await mcp.openStream(session);
    await stream.next();
    // Changes made through several instances have no order among records, and a creation can be published after the
    // subscription.
    const uris = new Set<string>();
    while (uris.size < leads.length) {
      const { message } = await stream.nextMessage();
      uris.add((message as { params: { uri: string } }).params.uri);
    }
    expect([...uris].sort()).toEqual(leads.map(uriOf).sort());
    stream.disconnect();
  });

  it('are limited, and unsubscribing allows a new one', async () => {
    const leads = await Promise.all(
      Array.from({ length: MAX_SUBSCRIPTIONS + 1 }, () => createLead(tenant.api)),
    );
    const [first, last] = [leads[0]!, leads[MAX_SUBSCRIPTIONS]!];
    for (const one of leads.slice(0, -1)) await resultOf(subscribe(uriOf(one)));
    expect(await rpcErrorOf(subscribe(uriOf(last)))).toEqual({ code: INVALID_PARAMS });
    await resultOf(unsubscribe(`lead://${first.id.toUpperCase()}`));
    await resultOf(subscribe(uriOf(last)));
    await rename(first);
    await rename(last);
    const stream = await mcp.openStream(session);
    await stream.next();
    expect((await stream.nextMessage()).message).toMatchObject({ params: { uri: uriOf(last) } });
    stream.disconnect();
  });

  it('count as reads and not as messages', async () => {
    const limited = await start({ readsPerMinute: 2 });
    const owner = callerOf(tenant, limited);
    const own = await owner.openSession();
    const answers = [1, 2, 3].map(() => subscribe(uriOf(lead), owner, own));
    const left = (await Promise.all(answers)).map(({ headers }) => headers.get('retry-after'));
    expect(left.filter((retryAfter) => retryAfter === null)).toHaveLength(2);
    expect(await rpcErrorOf(subscribe(uriOf(lead), owner, own))).toMatchObject({
      data: { code: 'rate_limit_exceeded' },
    });
  });

  it('work with the client of the SDK', async () => {
    const other = await createLead(tenant.api);
    const client = new Client({ name: 'follower', version: '1.0.0' });
    const told: string[] = [];
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
      told.push(params.uri);
    });
    const requestInit = { headers: { Authorization: `Bearer ${tenant.key.key}` } };
    let hasStream = false;
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', app.url), {
      requestInit,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        hasStream ||= init?.method === 'GET' && response.ok;
        return response;
      },
    });
    await client.connect(transport);
    // The client opens its stream in the background. It gets no notification from before.
    await until(() => Promise.resolve(hasStream));
    await client.subscribeResource({ uri: uriOf(lead) });
    await rename(lead);
    await until(() => Promise.resolve(told.length === 1));
    await client.unsubscribeResource({ uri: uriOf(lead) });
    await client.subscribeResource({ uri: uriOf(other) });
    await rename(lead);
    await rename(other);
    await until(() => Promise.resolve(told.length === 2));
    await client.subscribeResource({ uri: uriOf(lead) });
    await rename(lead);
    await until(() => Promise.resolve(told.length === 3));
    expect(told).toEqual([lead, other, lead].map(uriOf));
    await transport.terminateSession();
    await client.close();
  });
});
