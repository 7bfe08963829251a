import { randomUUID } from 'node:crypto';
import {
  Client as StatelessClient,
  StreamableHTTPClientTransport as StatelessTransport,
} from '@modelcontextprotocol/client';
import { ResourceRegistry } from '../../../../src/modules/mcp/resources/resource-registry.js';
import {
  MAX_STREAMS_PER_KEY,
  SubscriptionStreams,
} from '../../../../src/modules/mcp/protocol/subscription-streams.js';
import { MAX_SUBSCRIPTIONS } from '../../../../src/modules/mcp/sessions/subscriptions.js';
import {
  createLead,
  dataOf,
  expectError,
  expectInvalid,
  type LeadRecord,
  LEADS,
  updateLead,
} from '../../../../src/testing/factories.js';
import {
  type McpHttpClient,
  mirrorHeaders,
  SERVER_INFO,
  STATELESS_REVISION,
  statelessRequest,
} from '../../../../src/testing/mcp-client.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { mcpHelpers, rpcErrorOf } from '../../../support/mcp/mcp-helpers.js';
import { until } from '../../../support/servers/product.js';

const INVALID_PARAMS = -32602;
const LISTEN = 'subscriptions/listen';
const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

let app: TestApp;
let tenant: Tenant;
let mcp: McpHttpClient;
const { callerOf, start, stopAll } = mcpHelpers(() => app);

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  tenant = await app.organization();
  mcp = callerOf(tenant);
});
afterAll(() => stopAll());

const uriOf = ({ id }: { id: string }) => `lead://${id}`;
const rename = ({ id }: { id: string }) => updateLead(tenant.api, id, { first_name: randomUUID() });

describe('subscriptions/listen', () => {
  let lead: LeadRecord;

  beforeEach(async () => {
    lead = await createLead(tenant.api);
  });

  const listen = (notifications: unknown, caller = mcp, headers = mirrorHeaders(LISTEN)) =>
    caller.post(statelessRequest(LISTEN, { notifications }), headers);
  const listeners = (of = app) => [...of.app.get(SubscriptionStreams).streams].length;
  const untilLeft = (count: number, of = app) =>
    until(() => Promise.resolve(listeners(of) === count));

  it('sends an acknowledgement, notifications with the subscription id of the request, and a result at the end', async () => {
    const instance = await TestApp.start({ database: app.database });
    const filter = { toolsListChanged: true, promptsListChanged: true };
    const resourceSubscriptions = [uriOf(lead), `lead://${randomUUID()}`];
    const caller = callerOf(tenant, instance);
    const stream = await caller.openStatelessStream({ ...filter, resourceSubscriptions }, 'own');
    expect(Object.fromEntries(stream.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'x-accel-buffering': 'no',
      'cache-control': 'no-cache, no-transform',
      'x-request-id': expect.stringMatching(/./) as string,
      'ratelimit-limit': expect.stringMatching(/^\d+$/) as string,
    });
    const _meta = { [SUBSCRIPTION_ID]: 'own' };
    expect((await stream.nextMessage()).message).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: {
        notifications: { toolsListChanged: true, resourceSubscriptions: [uriOf(lead)] },
        _meta,
      },
    });
    dataOf(await instance.client(tenant.key.key).put(`${LEADS}/${lead.id}`, { notes: 'New.' }));
    expect((await stream.nextMessage()).message).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: uriOf(lead), _meta },
    });
    const stopped = instance.stop();
    expect((await stream.nextMessage()).message).toMatchObject({
      id: 'own',
      result: { resultType: 'complete', _meta: { ..._meta, [SERVER_INFO]: { name: 'latitude' } } },
    });
    expect(await stream.next()).toBeUndefined();
    await stopped;
  });

  it.each([
    ['nothing', {}],
    [
      'what the server does not have',
      { promptsListChanged: true, resourceSubscriptions: ['x://y'] },
    ],
  ])('ends at once when the client asks for %s', async (_, filter) => {
    const stream = await mcp.openStatelessStream(filter);
    expect((await stream.nextMessage()).message).toMatchObject({ params: { notifications: {} } });
    expect((await stream.nextMessage()).message).toMatchObject({ result: {} });
    expect(await stream.next()).toBeUndefined();
    await untilLeft(0);
  });

  it.each([undefined, null, 1, [], { resourceSubscriptions: 'x' }, { resourceSubscriptions: [1] }])(
    'is refused with notifications %j',
    async (filter) => {
      expect(await rpcErrorOf(listen(filter))).toEqual({ code: INVALID_PARAMS });
      await untilLeft(0);
    },
  );

  it('is refused with too many records or with headers that do not match', async () => {
    const many = Array.from({ length: MAX_SUBSCRIPTIONS + 1 }, () => `lead://${randomUUID()}`);
    const filter = { resourceSubscriptions: many };
    expectInvalid(await listen(filter), 'params.notifications.resourceSubscriptions');
    const other = await listen({ toolsListChanged: true }, mcp, mirrorHeaders('tools/list'));
    expect(other).toMatchObject({ status: 400, body: { error: { code: -32_020 } } });
    await untilLeft(0);
  });

  it('counts a read per record, and opens no stream beyond the limit of reads', async () => {
    const limited = await start({ readsPerMinute: 3 });
    const uris = [1, 2, 3, 4].map(() => `lead://${randomUUID()}`);
    const caller = callerOf(tenant, limited);
    const answer = await listen({ resourceSubscriptions: uris }, caller);
    expectError(answer, 429, 'rate_limit_exceeded');
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    await untilLeft(0, limited);
  });

  it('allows as many streams as sessions, and counts them separately', async () => {
    const small = await start({ mcpMaxSessions: 2 });
    const [caller, colleague] = [tenant, await small.key(tenant.id)].map((k) => callerOf(k, small));
    const filter = { toolsListChanged: true };
    const [first] = [
      await caller!.openStatelessStream(filter),
      await colleague!.openStatelessStream(filter),
    ];
    const refused = await listen(filter, caller);
    expectError(refused, 503, 'too_many_sessions');
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    await Promise.all([caller!.openSession(), caller!.openSession()]);
    first.disconnect();
    await untilLeft(1, small);
    (await caller!.openStatelessStream(filter)).disconnect();
  });

  it('limits the streams of one key', async () => {
    const filter = { toolsListChanged: true };
    const streams = await Promise.all(
      Array.from({ length: MAX_STREAMS_PER_KEY }, () => mcp.openStatelessStream(filter)),
    );
    expectError(await listen(filter), 503, 'too_many_sessions');
    const colleague = callerOf(await app.key(tenant.id));
    streams.push(await colleague.openStatelessStream(filter));
    for (const stream of streams) stream.disconnect();
    await untilLeft(0);
  });

  it.each([
    [
      'its client leaves',
      (abort: AbortController): Promise<unknown> => {
        abort.abort();
        return Promise.resolve();
      },
    ],
    ['its key is revoked', () => app.revoke(tenant)],
  ])('opens no stream when %s during the request', async (_, end) => {
    const resources = app.app.get(ResourceRegistry);
    const read = resources.read.bind(resources);
    let go = (): void => undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    const looking = new Promise<void>((resolve) => {
      jest.spyOn(resources, 'read').mockImplementationOnce(async (...asked) => {
        resolve();
        await gate;
        return read(...asked);
      });
    });
    const abort = new AbortController();
    const asking = fetch(`${app.url}/mcp`, {
      method: 'POST',
      signal: abort.signal,
      headers: {
        Authorization: `Bearer ${tenant.key.key}`,
        'Content-Type': 'application/json',
        ...mirrorHeaders(LISTEN),
      },
      body: JSON.stringify(
        statelessRequest(LISTEN, { notifications: { resourceSubscriptions: [uriOf(lead)] } }),
      ),
    }).then(
      ({ status }) => status,
      () => undefined,
    );
    await looking;
    await end(abort);
    await untilLeft(0);
    go();
    expect([undefined, 503]).toContain(await asking);
    await until(() => Promise.resolve(listeners() === 0));
    jest.restoreAllMocks();
  });

  it('works with the client of the SDK', async () => {
    const client = new StatelessClient(
      { name: 'follower', version: '1.0.0' },
      { versionNegotiation: { mode: { pin: STATELESS_REVISION } } },
    );
    const told: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      told.push(params.uri);
    });
    const requestInit = { headers: { Authorization: `Bearer ${tenant.key.key}` } };
    await client.connect(new StatelessTransport(new URL('/mcp', app.url), { requestInit }));
    const filter = { resourceSubscriptions: [uriOf(lead)] };
    const subscription = await client.listen(filter);
    expect(subscription.honoredFilter).toEqual(filter);
    await rename(lead);
    await until(() => Promise.resolve(told.length === 1));
    await subscription.close();
    await untilLeft(0);
    const again = await client.listen(filter);
    await rename(lead);
    await until(() => Promise.resolve(told.length === 2));
    await app.revoke(tenant);
    expect(await again.closed).toBe('graceful');
    expect(told).toEqual([uriOf(lead), uriOf(lead)]);
    await client.close();
  });
});
