import { randomUUID } from 'node:crypto';
import net from 'node:net';
import {
  Client as StatelessClient,
  StreamableHTTPClientTransport as StatelessTransport,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { Injectable, Module } from '@nestjs/common';
import { KeysService } from '../../src/auth/keys.service.js';
import type { Scope } from '../../src/auth/scopes.js';
import type { Settings } from '../../src/config/settings.js';
import { ChangeBus } from '../../src/events/change-bus.js';
import { LeadsModule } from '../../src/leads/leads.module.js';
import { LeadsService } from '../../src/leads/leads.service.js';
import {
  SubscriptionStreams,
  MAX_STREAMS_PER_KEY,
} from '../../src/mcp/subscriptions/subscription-streams.js';
import { Resource } from '../../src/mcp/resources/resource.decorator.js';
import { ResourceRegistry } from '../../src/mcp/resources/resource-registry.js';
import { SessionStore } from '../../src/mcp/sessions/session-store.js';
import { MAX_SUBSCRIPTIONS } from '../../src/mcp/subscriptions/subscriptions.js';
import type { Actor } from '../../src/tenancy/actor.js';
import type { Answer } from '../../src/testing/api-client.js';
import { connectAgent, stopWithAgents } from '../support/agent.js';
import {
  createLead,
  dataOf,
  expectError,
  expectInvalid,
  type LeadRecord,
  LEADS,
  updateLead,
} from '../../src/testing/factories.js';
import { Follower, TOOLS_CHANGED, updated } from '../support/followers.js';
import { TestApp } from '../../src/testing/test-app.js';
import type { Tenant } from '../../src/testing/test-server.js';
import {
  inSession,
  McpCaller,
  mirrorOf,
  SERVER_INFO,
  STATELESS_REVISION,
  statelessRequest,
} from '../../src/testing/mcp-client.js';
import { until } from '../support/product.js';
import { RECORD_ROUTES } from '../../src/testing/routes.js';
import { ERAS } from '../support/speakers.js';

const INVALID_PARAMS = -32602;
const LISTEN = 'subscriptions/listen';
const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

/** A team's own resource, which says nothing of changes. */
@Injectable()
class BriefTools {
  constructor(private readonly leads: LeadsService) {}

  @Resource({ name: 'brief', title: 'Brief', description: 'A lead in brief.', scope: 'leads:read' })
  async get(actor: Actor, id: string) {
    const { first_name } = await this.leads.get(actor, id);
    return { id, first_name };
  }
}

@Module({ imports: [LeadsModule], providers: [BriefTools] })
class BriefModule {}

/** The routes that change a record, by the kinds of their records. */
const KINDS = RECORD_ROUTES.filter(({ method }) => method === 'PUT').map((route) => {
  const [, kind = ''] = /(\w+)s\/:id$/.exec(route.pattern) ?? [];
  return [kind, route] as const;
});

let app: TestApp;
let tenant: Tenant;
let mcp: McpCaller;
const started: TestApp[] = [];

beforeAll(async () => {
  app = await TestApp.start({ modules: [BriefModule] });
});
beforeEach(async () => {
  tenant = await app.organization();
  mcp = callerOf(tenant);
});
afterAll(() => Promise.all([stopWithAgents(app), ...started.map((instance) => instance.stop())]));

function callerOf({ key }: Tenant, of = app): McpCaller {
  return new McpCaller(of.url, key.key);
}

/** One more instance on the same database, with places of its own. */
async function start(settings: Partial<Settings> = {}): Promise<TestApp> {
  const instance = await TestApp.start({ settings, database: app.database });
  started.push(instance);
  return instance;
}

const uriOf = ({ id }: { id: string }, kind = 'lead') => `${kind}://${id}`;
const rename = ({ id }: { id: string }, first_name: string = randomUUID(), { api } = tenant) =>
  updateLead(api, id, { first_name });
const setScopes = (keyId: string, ...scopes: Scope[]) =>
  app.sql('update api_keys set scopes = $2 where id = $1', [keyId, scopes]);

/** The error of JSON-RPC by which something is refused, without its words. */
async function errorOfRpc(asked: Promise<Answer>): Promise<object> {
  const { body } = await asked;
  const { message, ...error } = (body as { error: { message: string } }).error;
  expect(message).toMatch(/./);
  return error;
}

describe.each(ERAS)('who follows records by %s', (era) => {
  const follow = async (...uris: string[]) => {
    const follower = await Follower.of(era, mcp, uris);
    expect(follower.agreed).toEqual(uris);
    return follower;
  };

  it.each(KINDS)(
    'is told when a record of the kind %s is changed or deleted, once each',
    async (kind, { pattern, makeRecord, body }) => {
      const id = await makeRecord(tenant);
      const follower = await follow(uriOf({ id }, kind));
      const path = pattern.replace(':id', id);
      dataOf(await tenant.api.put(path, await body!(tenant)));
      expect(await follower.next()).toEqual(updated(uriOf({ id }, kind)));
      dataOf(await tenant.api.delete(path));
      expect(await follower.next()).toEqual(updated(uriOf({ id }, kind)));
      // Deleted once more, or cancelled, it is what it was.
      await tenant.api.delete(path);
      expect(await lastOf(follower)).toBeUndefined();
    },
  );

  it("is told of a team's own resource, which says nothing of it", async () => {
    const lead = await createLead(tenant.api);
    const follower = await follow(uriOf(lead, 'brief'), uriOf(lead));
    await rename(lead);
    expect(await follower.take(2)).toEqual([updated(uriOf(lead, 'brief')), updated(uriOf(lead))]);
    follower.leave();
  });

  it.each(ERAS)('is told of what another agent, by %s, changes', async (other) => {
    const lead = await createLead(tenant.api);
    const follower = await follow(uriOf(lead));
    const agent = await connectAgent(app, await app.key(tenant.id), other);
    await agent.succeed('update_lead', { id: lead.id, first_name: 'Grace' });
    await agent.succeed('delete_lead', { id: lead.id });
    const told = [updated(uriOf(lead)), updated(uriOf(lead))];
    expect(await follower.take(2)).toEqual(told);
    follower.leave();
  });

  it('is told of neither a change of nothing, nor one that is refused, nor other records', async () => {
    const [lead, other] = [
      await createLead(tenant.api, { email: 'ada@example.com' }),
      await createLead(tenant.api, { email: 'grace@example.com' }),
    ];
    const follower = await follow(uriOf(lead));
    const path = `${LEADS}/${lead.id}`;
    dataOf(await tenant.api.put(path, { first_name: lead.first_name }));
    expectError(await tenant.api.put(path, { email: other.email }), 409, 'duplicate');
    expectError(await tenant.api.put(path, { email: 'none' }), 400, 'validation_error');
    const stale = { headers: { 'If-Match': '"stale"' } };
    expectError(await tenant.api.delete(path, stale), 412, 'precondition_failed');
    await rename(other);
    await rename(lead);
    dataOf(await tenant.api.delete(path));
    expect(await follower.take(2)).toEqual([updated(uriOf(lead)), updated(uriOf(lead))]);
    expect(await lastOf(follower)).toBeUndefined();
  });

  /** What comes after all that was to come: the end of the stream, with its key. */
  async function lastOf(follower: Follower) {
    await app.app.get(KeysService).revoke(tenant.key.id);
    return follower.next();
  }

  it('is told of every change of two writers at once', async () => {
    const lead = await createLead(tenant.api);
    const follower = await follow(uriOf(lead));
    const writer = async () => {
      for (let n = 0; n < 10; n++) await rename(lead);
    };
    await Promise.all([writer(), writer()]);
    const told = Array.from({ length: 20 }, () => updated(uriOf(lead)));
    expect(await follower.take(20)).toEqual(told);
    expect(await lastOf(follower)).toBeUndefined();
  });

  it('is one of several who follow several records', async () => {
    const [one, two] = [await createLead(tenant.api), await createLead(tenant.api)];
    const colleague = callerOf(await app.key(tenant.id));
    const both = await follow(uriOf(one), uriOf(two));
    const second = await Follower.of(era, colleague, [uriOf(two)]);
    const third = await Follower.of(era, colleague, [uriOf(two), uriOf(one)]);
    await rename(one);
    await rename(two);
    const told = [updated(uriOf(one)), updated(uriOf(two))];
    expect(await both.take(2)).toEqual(told);
    expect(await second.take(1)).toEqual(told.slice(1));
    expect(await third.take(2)).toEqual(told);
    for (const follower of [both, second, third]) follower.leave();
  });

  it('is told of one record once, by the address that it wrote last', async () => {
    const lead = await createLead(tenant.api);
    const written = `lead://${lead.id.toUpperCase()}`;
    const follower = await Follower.of(era, mcp, [uriOf(lead), written]);
    expect(follower.agreed).toContain(written);
    await rename(lead);
    await rename(lead);
    expect(await follower.take(2)).toEqual([updated(written), updated(written)]);
    follower.leave();
  });

  it('is told neither of records of another organization, nor of kinds that its key may not read, nor of none', async () => {
    const [lead, foreign] = [await createLead(tenant.api), await app.organization()];
    const foreignLead = await createLead(foreign.api);
    const task = dataOf(await tenant.api.post('/api/v1/tasks', { title: 'Call' }), 201);
    const limited = callerOf(await app.key(tenant.id, ['leads:read']));
    const gone = await createLead(tenant.api);
    dataOf(await tenant.api.delete(`${LEADS}/${gone.id}`));
    const others = [
      ...[uriOf(foreignLead), uriOf(task, 'task'), uriOf(task), uriOf(gone)],
      ...['lead://x', 'lead://', 'nothing://x', `LEAD://${lead.id}`, `lead://${randomUUID()}`],
    ];
    const follower = await Follower.of(era, limited, [...others, uriOf(lead)]);
    expect(follower.agreed).toEqual([uriOf(lead)]);
    await rename(foreignLead, 'Grace', foreign);
    dataOf(await tenant.api.put(`/api/v1/tasks/${task.id}`, { title: 'Call again' }));
    await rename(lead);
    expect(await follower.next()).toEqual(updated(uriOf(lead)));
    follower.leave();
  });

  it('is told nothing of an equal id of another organization', async () => {
    const lead = await createLead(tenant.api);
    const foreign = await app.organization();
    await app.sql(
      `insert into leads (organization_id, id, first_name, source, tags, custom_fields, lead_score,
          sms_opted_out, on_dnc_list)
        values ($1, $2, 'Twin', 'api', '{}', '{}', 0, false, false)`,
      [foreign.id, lead.id],
    );
    const follower = await follow(uriOf(lead));
    const other = await Follower.of(era, callerOf(foreign), [uriOf(lead)]);
    await rename(lead, 'Grace', foreign);
    dataOf(await foreign.api.delete(`${LEADS}/${lead.id}`));
    expect(await other.take(2)).toEqual([updated(uriOf(lead)), updated(uriOf(lead))]);
    await rename(lead);
    expect(await follower.next()).toEqual(updated(uriOf(lead)));
    expect(await lastOf(follower)).toBeUndefined();
    other.leave();
  });

  it('is told nothing any more when its key is revoked', async () => {
    const lead = await createLead(tenant.api);
    const colleague = await app.key(tenant.id);
    const follower = await follow(uriOf(lead));
    await rename(lead);
    await app.app.get(KeysService).revoke(tenant.key.id);
    expect(await follower.take(2)).toEqual([updated(uriOf(lead)), undefined]);
    await rename(lead, 'Grace', colleague);
  });

  it('cannot begin with a key that was revoked just now, which other requests may not know yet', async () => {
    const lead = await createLead(tenant.api);
    const notifications = { resourceSubscriptions: [uriOf(lead)] };
    const session = await mcp.open();
    await app.app.get(KeysService).revoke(tenant.key.id);
    const answer =
      era === 'sessions'
        ? await mcp.request('GET', { headers: inSession(session) })
        : await mcp.ask(LISTEN, { notifications });
    expectError(answer, 401, 'unauthorized');
  });

  it('is told that its tools are others when its key loses a scope, and of those records no more', async () => {
    const lead = await createLead(tenant.api);
    const task = dataOf(await tenant.api.post('/api/v1/tasks', { title: 'Call' }), 201);
    const path = `/api/v1/tasks/${task.id}`;
    const colleague = await app.key(tenant.id);
    const follower = await follow(uriOf(task, 'task'), uriOf(lead));
    dataOf(await colleague.api.put(path, { title: 'Call once' }));
    expect(await follower.next()).toEqual(updated(uriOf(task, 'task')));
    await setScopes(tenant.key.id, 'leads:read');
    expect(await follower.next()).toEqual(TOOLS_CHANGED);
    dataOf(await colleague.api.put(path, { title: 'Call twice' }));
    await rename(lead, 'Grace', colleague);
    expect(await follower.next()).toEqual(updated(uriOf(lead)));
    follower.leave();
  });

  it('is let go when it does not read, while one who reads is told of everything', async () => {
    const lead = await createLead(tenant.api);
    const reader = await follow(uriOf(lead));
    const counts = () => [
      [...app.app.get(SessionStore).all()].filter(({ isStreaming }) => isStreaming).length,
      [...app.app.get(SubscriptionStreams).all()].length,
    ];
    const before = counts();
    const socket = await idleFollower(lead.id);
    await until(() => Promise.resolve(counts().join() !== before.join()));
    let published = 0;
    await until(async () => {
      for (let n = 0; n < 500; n++) app.app.get(ChangeBus).publish(tenant.id, [lead.id]);
      published += 500;
      expect(await reader.take(500)).toContainEqual(updated(uriOf(lead)));
      return counts().join() === before.join();
    });
    expect(published).toBeGreaterThan(500);
    socket.destroy();
    reader.leave();
  });

  /** A client that sends its request and reads nothing of the answer. */
  async function idleFollower(id: string): Promise<net.Socket> {
    const uri = `lead://${id}`;
    const lines = ['Host: localhost', `Authorization: Bearer ${tenant.key.key}`];
    let body = '';
    if (era === 'sessions') {
      const session = await mcp.open('2025-06-18');
      await mcp.rpc(session, 'resources/subscribe', { uri });
      lines.unshift('GET /mcp HTTP/1.1', `Mcp-Session-Id: ${session}`);
    } else {
      body = JSON.stringify(
        statelessRequest(LISTEN, { notifications: { resourceSubscriptions: [uri] } }),
      );
      const mirrored = Object.entries(mirrorOf(LISTEN)).map((header) => header.join(': '));
      lines.unshift('POST /mcp HTTP/1.1', 'Content-Type: application/json', ...mirrored);
      lines.push(`Content-Length: ${body.length}`);
    }
    const socket = net.connect({ port: app.port, host: '127.0.0.1' });
    socket.pause();
    socket.on('error', () => undefined);
    socket.write([...lines, '', body].join('\r\n'));
    return socket;
  }

  it('is let go when the application stops, which does not wait for it', async () => {
    const instance = await TestApp.start({ database: app.database });
    const lead = await createLead(tenant.api);
    const follower = await Follower.of(era, callerOf(tenant, instance), [uriOf(lead)]);
    const cutOff = jest.spyOn(instance.app.getHttpServer(), 'closeAllConnections');
    const stopped = instance.stop();
    expect(await follower.next()).toBeUndefined();
    await stopped;
    expect(cutOff).not.toHaveBeenCalled();
  });
});

describe('the subscriptions of a session', () => {
  let session: string;
  let lead: LeadRecord;

  beforeEach(async () => {
    session = await mcp.open();
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

  it('are those that the server offers', async () => {
    const { body } = await mcp.initialize();
    expect(body).toMatchObject({ result: { capabilities: { resources: { subscribe: true } } } });
    expect(await resultOf(subscribe(uriOf(lead)))).toEqual({});
    expect(await resultOf(unsubscribe(uriOf(lead)))).toEqual({});
    expect(await resultOf(unsubscribe('nothing://here'))).toEqual({});
  });

  it('are refused as reading is', async () => {
    const limited = callerOf(await app.key(tenant.id, ['tasks:read']));
    const own = await limited.open();
    expect(await errorOfRpc(subscribe(`lead://${randomUUID()}`))).toEqual({
      code: -32_002,
      data: expect.objectContaining({ code: 'not_found' }) as object,
    });
    expect(await errorOfRpc(subscribe(uriOf(lead), limited, own))).toEqual({
      code: -32_000,
      data: expect.objectContaining({ code: 'insufficient_scope' }) as object,
    });
    const invalid = mcp.rpc(session, 'resources/subscribe', { uri: 1 });
    expect(await errorOfRpc(invalid)).toEqual({ code: INVALID_PARAMS });
  });

  it('go on behind Last-Event-ID in the middle of a burst, with what was missed and nothing twice', async () => {
    await subscribe(uriOf(lead));
    const first = await mcp.listen(session);
    const burst = Promise.all(Array.from({ length: 30 }, () => rename(lead)));
    // The event that begins a stream, then some of the burst.
    for (let n = 0; n <= 5; n++) await first.next();
    first.leave();
    const second = await mcp.listen(session, { 'Last-Event-ID': '5' });
    expect(await second.next()).toMatchObject({ id: '5', data: '' });
    const ids: (string | undefined)[] = [];
    while (ids.length < 25) {
      const { id, message } = await second.nextMessage();
      expect(message).toMatchObject({ params: { uri: uriOf(lead) } });
      ids.push(id);
    }
    expect(ids).toEqual(Array.from({ length: 25 }, (_, n) => String(n + 6)));
    await burst;
    await mcp.delete(session);
    expect(await second.next()).toBeUndefined();
  });

  it('tell a client that comes back of every record that changed while it was away', async () => {
    const leads = await Promise.all(Array.from({ length: 5 }, () => createLead(tenant.api)));
    for (const one of leads) await subscribe(uriOf(one));
    for (const one of leads) await rename(one);
    const stream = await mcp.listen(session);
    await stream.next();
    for (const one of leads) {
      const { message } = await stream.nextMessage();
      expect(message).toMatchObject({ params: { uri: uriOf(one) } });
    }
    stream.leave();
  });

  it('are at most so many, and one that is unsubscribed from makes room and tells nothing more', async () => {
    const leads = await Promise.all(
      Array.from({ length: MAX_SUBSCRIPTIONS + 1 }, () => createLead(tenant.api)),
    );
    const [first, last] = [leads[0]!, leads[MAX_SUBSCRIPTIONS]!];
    for (const one of leads.slice(0, -1)) await resultOf(subscribe(uriOf(one)));
    expect(await errorOfRpc(subscribe(uriOf(last)))).toEqual({ code: INVALID_PARAMS });
    await resultOf(unsubscribe(`lead://${first.id.toUpperCase()}`));
    await resultOf(subscribe(uriOf(last)));
    await rename(first);
    await rename(last);
    const stream = await mcp.listen(session);
    await stream.next();
    expect((await stream.nextMessage()).message).toMatchObject({ params: { uri: uriOf(last) } });
    stream.leave();
  });

  it('count as reads, and not as messages', async () => {
    const limited = await start({ readsPerMinute: 2 });
    const owner = callerOf(tenant, limited);
    const own = await owner.open();
    const answers = [1, 2, 3].map(() => subscribe(uriOf(lead), owner, own));
    const left = (await Promise.all(answers)).map(({ headers }) => headers.get('retry-after'));
    expect(left.filter((retryAfter) => retryAfter === null)).toHaveLength(2);
    expect(await errorOfRpc(subscribe(uriOf(lead), owner, own))).toMatchObject({
      data: { code: 'rate_limit_exceeded' },
    });
  });

  it('are understood by the client of the SDK', async () => {
    const client = new Client({ name: 'follower', version: '1.0.0' });
    const told: string[] = [];
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
      told.push(params.uri);
    });
    const requestInit = { headers: { Authorization: `Bearer ${tenant.key.key}` } };
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', app.url), { requestInit });
    await client.connect(transport);
    await client.subscribeResource({ uri: uriOf(lead) });
    await rename(lead);
    await until(() => Promise.resolve(told.length === 1));
    await client.unsubscribeResource({ uri: uriOf(lead) });
    await rename(lead);
    await client.subscribeResource({ uri: uriOf(lead) });
    await rename(lead);
    await until(() => Promise.resolve(told.length === 2));
    expect(told).toEqual([uriOf(lead), uriOf(lead)]);
    await transport.terminateSession();
    await client.close();
  });
});

describe('subscriptions/listen', () => {
  let lead: LeadRecord;

  beforeEach(async () => {
    lead = await createLead(tenant.api);
  });

  const listen = (notifications: unknown, caller = mcp, headers = mirrorOf(LISTEN)) =>
    caller.post(statelessRequest(LISTEN, { notifications }), headers);
  const listeners = (of = app) => [...of.app.get(SubscriptionStreams).all()].length;
  const untilLeft = (count: number, of = app) =>
    until(() => Promise.resolve(listeners(of) === count));

  it('is acknowledged first, then tells under its id, and says when it is over', async () => {
    const instance = await TestApp.start({ database: app.database });
    const filter = { toolsListChanged: true, promptsListChanged: true };
    const resourceSubscriptions = [uriOf(lead), `lead://${randomUUID()}`];
    const caller = callerOf(tenant, instance);
    const stream = await caller.listenAlone({ ...filter, resourceSubscriptions }, 'own');
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
    ['what there is not', { promptsListChanged: true, resourceSubscriptions: ['x://y'] }],
  ])('is over at once where it asks for %s', async (_, filter) => {
    const stream = await mcp.listenAlone(filter);
    expect((await stream.nextMessage()).message).toMatchObject({ params: { notifications: {} } });
    expect((await stream.nextMessage()).message).toMatchObject({ result: {} });
    expect(await stream.next()).toBeUndefined();
    await untilLeft(0);
  });

  it.each([undefined, null, 1, [], { resourceSubscriptions: 'x' }, { resourceSubscriptions: [1] }])(
    'is refused with notifications %j',
    async (filter) => {
      expect(await errorOfRpc(listen(filter))).toEqual({ code: INVALID_PARAMS });
      await untilLeft(0);
    },
  );

  it('is refused where it names too many records, and where a header says something else', async () => {
    const many = Array.from({ length: MAX_SUBSCRIPTIONS + 1 }, () => `lead://${randomUUID()}`);
    const filter = { resourceSubscriptions: many };
    expectInvalid(await listen(filter), 'params.notifications.resourceSubscriptions');
    const other = await listen({ toolsListChanged: true }, mcp, mirrorOf('tools/list'));
    expect(other).toMatchObject({ status: 400, body: { error: { code: -32_020 } } });
    await untilLeft(0);
  });

  it('counts each record that it names as a read, and takes no place when there are too few', async () => {
    const limited = await start({ readsPerMinute: 3 });
    const uris = [1, 2, 3, 4].map(() => `lead://${randomUUID()}`);
    const caller = callerOf(tenant, limited);
    const answer = await listen({ resourceSubscriptions: uris }, caller);
    expectError(answer, 429, 'rate_limit_exceeded');
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    await untilLeft(0, limited);
  });

  it('has as many places as there may be sessions, and takes none of theirs', async () => {
    const small = await start({ mcpMaxSessions: 2 });
    const [caller, colleague] = [tenant, await small.key(tenant.id)].map((k) => callerOf(k, small));
    const filter = { toolsListChanged: true };
    const [first] = [await caller!.listenAlone(filter), await colleague!.listenAlone(filter)];
    const refused = await listen(filter, caller);
    expectError(refused, 503, 'too_many_sessions');
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    await Promise.all([caller!.open(), caller!.open()]);
    first.leave();
    await untilLeft(1, small);
    (await caller!.listenAlone(filter)).leave();
  });

  it('leaves places for other keys', async () => {
    const filter = { toolsListChanged: true };
    const streams = await Promise.all(
      Array.from({ length: MAX_STREAMS_PER_KEY }, () => mcp.listenAlone(filter)),
    );
    expectError(await listen(filter), 503, 'too_many_sessions');
    const colleague = callerOf(await app.key(tenant.id));
    streams.push(await colleague.listenAlone(filter));
    for (const stream of streams) stream.leave();
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
    ['its key is revoked', () => app.app.get(KeysService).revoke(tenant.key.id)],
  ])('takes no place where %s before it has begun', async (_, end) => {
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
        ...mirrorOf(LISTEN),
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

  it('is understood by the client of the SDK', async () => {
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
    await app.app.get(KeysService).revoke(tenant.key.id);
    expect(await again.closed).toBe('graceful');
    expect(told).toEqual([uriOf(lead), uriOf(lead)]);
    await client.close();
  });
});
