import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { Injectable, Module } from '@nestjs/common';
import { ChangeBus } from '../../../../src/platform/data/gateway/change-bus.js';
import { LeadsModule } from '../../../../src/modules/leads/leads.module.js';
import { LeadsService } from '../../../../src/modules/leads/leads.service.js';
import { Resource } from '../../../../src/modules/mcp/resources/resource.decorator.js';
import { SubscriptionStreams } from '../../../../src/modules/mcp/protocol/subscription-streams.js';
import type { Call } from '../../../../src/platform/data/call.js';
import {
  createLead,
  dataOf,
  expectError,
  LEADS,
  updateLead,
} from '../../../../src/testing/factories.js';
import {
  sessionHeader,
  type McpHttpClient,
  mirrorHeaders,
  statelessRequest,
} from '../../../../src/testing/mcp-client.js';
import { RECORD_ROUTES } from '../../../../src/testing/routes.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { connectAgent, stopWithAgents } from '../../../support/mcp/agent.js';
import {
  Subscriber,
  TOOLS_CHANGED,
  resourceUpdated,
} from '../../../support/mcp/resource-subscriber.js';
import { mcpHelpers } from '../../../support/mcp/mcp-helpers.js';
import { openSessions } from '../../../support/mcp/open-sessions.js';
import { until } from '../../../support/servers/product.js';
import { PROTOCOL_MODES } from '../../../support/mcp/mcp-sdk-clients.js';

const LISTEN = 'subscriptions/listen';

/** A resource of another module, which publishes no changes. */
@Injectable()
class BriefTools {
  constructor(private readonly leads: LeadsService) {}

  @Resource({ name: 'brief', title: 'Brief', description: 'A lead in brief.', scope: 'leads:read' })
  async get(call: Call, id: string) {
    const { first_name } = await this.leads.get(call, id);
    return { id, first_name };
  }
}

@Module({ imports: [LeadsModule], providers: [BriefTools] })
class BriefModule {}

/** The routes that change a record, by kind of record. Those of other kinds, such as webhooks, are no resources of MCP. */
const KINDS = RECORD_ROUTES.filter(({ method }) => method === 'PUT')
  .map((route) => [/(\w+)s\/:id$/.exec(route.pattern)?.[1] ?? '', route] as const)
  .filter(([kind]) => ['lead', 'appointment', 'task'].includes(kind));

let app: TestApp;
let tenant: Tenant;
let mcp: McpHttpClient;
const { callerOf } = mcpHelpers(() => app);
const { sessionsOf } = openSessions(() => app);

beforeAll(async () => {
  app = await TestApp.start({ modules: [BriefModule] });
});
beforeEach(async () => {
  tenant = await app.organization();
  mcp = callerOf(tenant);
});
afterAll(() => stopWithAgents(app));

const uriOf = ({ id }: { id: string }, kind = 'lead') => `${kind}://${id}`;
const rename = ({ id }: { id: string }, first_name: string = randomUUID(), { api } = tenant) =>
  updateLead(api, id, { first_name });

describe.each(PROTOCOL_MODES)('a subscriber to records (%s)', (protocolMode) => {
  const follow = async (...uris: string[]) => {
    const follower = await Subscriber.of(protocolMode, mcp, uris);
    expect(follower.acknowledged).toEqual(uris);
    return follower;
  };

  it.each(KINDS)(
    'is notified once of each change or deletion of a record of the kind %s',
    async (kind, { pattern, makeRecord, body }) => {
      const id = await makeRecord(tenant);
      const follower = await follow(uriOf({ id }, kind));
      const path = pattern.replace(':id', id);
      dataOf(await tenant.api.put(path, await body!(tenant)));
      expect(await follower.next()).toEqual(resourceUpdated(uriOf({ id }, kind)));
      dataOf(await tenant.api.delete(path));
      expect(await follower.next()).toEqual(resourceUpdated(uriOf({ id }, kind)));
      // A second deletion or cancellation changes nothing.
      await tenant.api.delete(path);
      expect(await lastOf(follower)).toBeUndefined();
    },
  );

  it('is notified of changes of a resource of another module', async () => {
    const lead = await createLead(tenant.api);
    const follower = await follow(uriOf(lead, 'brief'), uriOf(lead));
    await rename(lead);
    expect(await follower.take(2)).toEqual([
      resourceUpdated(uriOf(lead, 'brief')),
      resourceUpdated(uriOf(lead)),
    ]);
    follower.disconnect();
  });

  it.each(PROTOCOL_MODES)('is notified of changes that another agent makes (%s)', async (other) => {
    const lead = await createLead(tenant.api);
    const follower = await follow(uriOf(lead));
    const agent = await connectAgent(app, await app.key(tenant.id), other);
    await agent.succeed('update_lead', { id: lead.id, first_name: 'Grace' });
    await agent.succeed('delete_lead', { id: lead.id });
    const told = [resourceUpdated(uriOf(lead)), resourceUpdated(uriOf(lead))];
    expect(await follower.take(2)).toEqual(told);
    follower.disconnect();
  });

  it('is not notified of updates without changes, refused requests or other records', async () => {
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
    expect(await follower.take(2)).toEqual([
      resourceUpdated(uriOf(lead)),
      resourceUpdated(uriOf(lead)),
    ]);
    expect(await lastOf(follower)).toBeUndefined();
  });

  /** Revokes the key and returns the next notification; undefined at the end of the stream. */
  async function lastOf(follower: Subscriber) {
    await app.revoke(tenant);
    return follower.next();
  }

  it('is notified of every change of two concurrent writers', async () => {
    const lead = await createLead(tenant.api);
    const follower = await follow(uriOf(lead));
    const writer = async () => {
      for (let n = 0; n < 10; n++) await rename(lead);
    };
    await Promise.all([writer(), writer()]);
    const told = Array.from({ length: 20 }, () => resourceUpdated(uriOf(lead)));
    expect(await follower.take(20)).toEqual(told);
    expect(await lastOf(follower)).toBeUndefined();
  });

  it('is notified only of its own records when several clients subscribe', async () => {
    const [one, two] = [await createLead(tenant.api), await createLead(tenant.api)];
    const colleague = callerOf(await app.key(tenant.id));
    const both = await follow(uriOf(one), uriOf(two));
    const second = await Subscriber.of(protocolMode, colleague, [uriOf(two)]);
    const third = await Subscriber.of(protocolMode, colleague, [uriOf(two), uriOf(one)]);
    await rename(one);
    await rename(two);
    const told = [resourceUpdated(uriOf(one)), resourceUpdated(uriOf(two))];
    expect(await both.take(2)).toEqual(told);
    expect(await second.take(1)).toEqual(told.slice(1));
    expect(await third.take(2)).toEqual(told);
    for (const follower of [both, second, third]) follower.disconnect();
  });

  it('is notified once per change, with the URI of its latest subscription', async () => {
    const lead = await createLead(tenant.api);
    const written = `lead://${lead.id.toUpperCase()}`;
    const follower = await Subscriber.of(protocolMode, mcp, [uriOf(lead), written]);
    expect(follower.acknowledged).toContain(written);
    await rename(lead);
    await rename(lead);
    expect(await follower.take(2)).toEqual([resourceUpdated(written), resourceUpdated(written)]);
    follower.disconnect();
  });

  it('cannot subscribe to records of other organizations, to kinds that its key may not read or to missing records', async () => {
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
    const follower = await Subscriber.of(protocolMode, limited, [...others, uriOf(lead)]);
    expect(follower.acknowledged).toEqual([uriOf(lead)]);
    await rename(foreignLead, 'Grace', foreign);
    dataOf(await tenant.api.put(`/api/v1/tasks/${task.id}`, { title: 'Call again' }));
    await rename(lead);
    expect(await follower.next()).toEqual(resourceUpdated(uriOf(lead)));
    follower.disconnect();
  });

  it('is not notified of a record with the same id in another organization', async () => {
    const lead = await createLead(tenant.api);
    const foreign = await app.organization();
    await app.sql(
      `insert into leads (organization_id, id, first_name, source, tags, custom_fields, lead_score,
          sms_opted_out, on_dnc_list)
        values ($1, $2, 'Twin', 'api', '{}', '{}', 0, false, false)`,
      [foreign.id, lead.id],
    );
    const follower = await follow(uriOf(lead));
    const other = await Subscriber.of(protocolMode, callerOf(foreign), [uriOf(lead)]);
    await rename(lead, 'Grace', foreign);
    dataOf(await foreign.api.delete(`${LEADS}/${lead.id}`));
    expect(await other.take(2)).toEqual([
      resourceUpdated(uriOf(lead)),
      resourceUpdated(uriOf(lead)),
    ]);
    await rename(lead);
    expect(await follower.next()).toEqual(resourceUpdated(uriOf(lead)));
    expect(await lastOf(follower)).toBeUndefined();
    other.disconnect();
  });

  it('loses its stream when its key is revoked', async () => {
    const lead = await createLead(tenant.api);
    const colleague = await app.key(tenant.id);
    const follower = await follow(uriOf(lead));
    await rename(lead);
    await app.revoke(tenant);
    expect(await follower.take(2)).toEqual([resourceUpdated(uriOf(lead)), undefined]);
    await rename(lead, 'Grace', colleague);
  });

  it('cannot open a stream with a revoked key that may still be cached', async () => {
    const lead = await createLead(tenant.api);
    const notifications = { resourceSubscriptions: [uriOf(lead)] };
    const session = await mcp.openSession();
    await app.revoke(tenant);
    const answer =
      protocolMode === 'sessions'
        ? await mcp.request('GET', { headers: sessionHeader(session) })
        : await mcp.statelessRpc(LISTEN, { notifications });
    expectError(answer, 401, 'unauthorized');
  });

  it('gets list_changed when its key loses a scope, and no more changes of the records behind it', async () => {
    const lead = await createLead(tenant.api);
    const task = dataOf(await tenant.api.post('/api/v1/tasks', { title: 'Call' }), 201);
    const path = `/api/v1/tasks/${task.id}`;
    const colleague = await app.key(tenant.id);
    const follower = await follow(uriOf(task, 'task'), uriOf(lead));
    dataOf(await colleague.api.put(path, { title: 'Call once' }));
    expect(await follower.next()).toEqual(resourceUpdated(uriOf(task, 'task')));
    await app.sql(`update api_keys set scopes = '{leads:read}' where id = $1`, [tenant.key.id]);
    expect(await follower.next()).toEqual(TOOLS_CHANGED);
    dataOf(await colleague.api.put(path, { title: 'Call twice' }));
    await rename(lead, 'Grace', colleague);
    expect(await follower.next()).toEqual(resourceUpdated(uriOf(lead)));
    follower.disconnect();
  });

  it('is disconnected when it does not read, while a client that reads gets every notification', async () => {
    const lead = await createLead(tenant.api);
    const reader = await follow(uriOf(lead));
    const counts = () => [
      sessionsOf().filter(({ isStreaming }) => isStreaming).length,
      [...app.app.get(SubscriptionStreams).streams].length,
    ];
    const before = counts();
    const socket = await idleFollower(lead.id);
    await until(() => Promise.resolve(counts().join() !== before.join()));
    let published = 0;
    await until(async () => {
      for (let n = 0; n < 500; n++) app.app.get(ChangeBus).publish(tenant.id, lead.id);
      published += 500;
      expect(await reader.take(500)).toContainEqual(resourceUpdated(uriOf(lead)));
      return counts().join() === before.join();
    });
    expect(published).toBeGreaterThan(500);
    socket.destroy();
    reader.disconnect();
  });

  /** A client that sends its request and does not read the response. */
  async function idleFollower(id: string): Promise<net.Socket> {
    const uri = `lead://${id}`;
    const lines = ['Host: localhost', `Authorization: Bearer ${tenant.key.key}`];
    let body = '';
    if (protocolMode === 'sessions') {
      const session = await mcp.openSession('2025-06-18');
      await mcp.rpc(session, 'resources/subscribe', { uri });
      lines.unshift('GET /mcp HTTP/1.1', `Mcp-Session-Id: ${session}`);
    } else {
      body = JSON.stringify(
        statelessRequest(LISTEN, { notifications: { resourceSubscriptions: [uri] } }),
      );
      const mirrored = Object.entries(mirrorHeaders(LISTEN)).map((header) => header.join(': '));
      lines.unshift('POST /mcp HTTP/1.1', 'Content-Type: application/json', ...mirrored);
      lines.push(`Content-Length: ${body.length}`);
    }
    const socket = net.connect({ port: app.port, host: '127.0.0.1' });
    socket.pause();
    socket.on('error', () => undefined);
    socket.write([...lines, '', body].join('\r\n'));
    return socket;
  }

  it('is disconnected when the application stops', async () => {
    const instance = await TestApp.start({ database: app.database });
    const lead = await createLead(tenant.api);
    const follower = await Subscriber.of(protocolMode, callerOf(tenant, instance), [uriOf(lead)]);
    const cutOff = jest.spyOn(instance.app.getHttpServer(), 'closeAllConnections');
    const stopped = instance.stop();
    expect(await follower.next()).toBeUndefined();
    await stopped;
    expect(cutOff).not.toHaveBeenCalled();
  });
});
