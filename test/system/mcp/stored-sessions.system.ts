import { randomUUID } from 'node:crypto';
import { KeysService } from '../../../src/auth/keys.service.js';
import { AdministrativeWrites } from '../../../src/database/gateway/administrative-writes.js';
import { SharedLookups } from '../../../src/database/gateway/shared-lookups.js';
import { EventFollower } from '../../../src/events/event-follower.js';
import { SessionStore } from '../../../src/mcp/sessions/session-store.js';
import { createLead, updateLead } from '../../../src/testing/factories.js';
import type { McpHttpClient } from '../../../src/testing/mcp-client.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import {
  expectAlive,
  expectRefusal,
  mcpHelpers,
  SEND,
  terminatedSession,
  VERSION_WITH_BATCHES,
} from '../../support/mcp/mcp-helpers.js';
import { readAllEvents } from '../../support/events.js';
import { openSessions } from '../../support/mcp/open-sessions.js';
import { until } from '../../support/servers/product.js';

const TTL_SECONDS = 60;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** By how much a session may live longer, because its last use is written once a minute. */
const GRACE_SECONDS = 70;

let app: TestApp;
let tenant: Tenant;
let mcp: McpHttpClient;
const { callerOf, start, stopAll } = mcpHelpers(() => app);
const { sessionOf } = openSessions(() => app);

beforeAll(async () => {
  app = await TestApp.start({ settings: { mcpSessionTtlSeconds: TTL_SECONDS } });
  tenant = await app.organization();
  mcp = callerOf(tenant);
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => stopAll());

/** Starts one more instance, which the first one notices. */
async function startAnother(): Promise<TestApp> {
  const another = await start({ mcpSessionTtlSeconds: TTL_SECONDS });
  await app.app.get(SessionStore).revalidate();
  return another;
}

/** Moves the last use of a session into the past. */
const age = (session: string, seconds: number) =>
  app.sql(
    `update mcp_sessions set last_used_at = now() - make_interval(secs => $2) where id = $1`,
    [session, seconds],
  );

/** Stores a session that no running instance knows, with the given number of seconds since its last use. */
async function storeSession(idleSeconds: number): Promise<string> {
  const id = randomUUID();
  await app.sql(
    `insert into mcp_sessions (id, key_id, protocol_version, client_name, last_used_at)
     values ($1, $2, '2025-11-25', 'test', now() - make_interval(secs => $3))`,
    [id, tenant.key.id, idleSeconds],
  );
  return id;
}

describe('a session on another instance, such as after a restart', () => {
  let other: TestApp;
  let caller: McpHttpClient;

  beforeAll(async () => {
    other = await startAnother();
    caller = callerOf(tenant, other);
  });

  it('is continued', async () => {
    const session = await mcp.openSession();
    await expectAlive(caller, session);
    const call = { name: 'create_task', arguments: { title: 'Call back' } };
    const { body } = await caller.rpc(session, 'tools/call', call);
    expect(body).toMatchObject({ result: { structuredContent: { title: 'Call back' } } });
    await expectAlive(mcp, session);
  });

  it('is continued by several requests at the same time, as one session', async () => {
    const session = await mcp.openSession();
    await Promise.all(Array.from({ length: 10 }, () => expectAlive(caller, session)));
    const known = openSessions(() => other).sessionsOf();
    expect(known.filter(({ id }) => id === session)).toHaveLength(1);
  });

  it('speaks the revision that initialize agreed on', async () => {
    const batch = [{ jsonrpc: '2.0', id: 1, method: 'ping' }];
    for (const [revision, status] of [
      [VERSION_WITH_BATCHES, 200],
      ['2025-06-18', 400],
    ] as const) {
      const session = await mcp.openSession(revision);
      const answer = await caller.post(batch, { 'Mcp-Session-Id': session });
      expect(answer.status).toBe(status);
    }
  });

  it('belongs to the key that opened it', async () => {
    const session = await mcp.openSession();
    const stranger = callerOf(await app.key(tenant.id), other);
    for (const method of ['POST', 'GET', 'DELETE'] as const) {
      expectRefusal(await SEND[method](stranger, session), 403, 'session_mismatch');
    }
    await expectAlive(caller, session);
  });

  it('opens its stream again, after the last event that the client has received', async () => {
    const session = await mcp.openSession();
    const first = await mcp.openStream(session);
    await first.next();
    sessionOf(session)!.notify('notifications/tools/list_changed');
    const { id } = await first.nextMessage();
    first.disconnect();
    const second = await caller.openStream(session, { 'Last-Event-ID': id! });
    expect(await second.next()).toMatchObject({ id });
    openSessions(() => other)
      .sessionOf(session)!
      .notify('notifications/tools/list_changed');
    const next = await second.nextMessage();
    expect(Number(next.id)).toBeGreaterThan(Number(id));
    second.disconnect();
    const third = await mcp.openStream(session, { 'Last-Event-ID': next.id! });
    expect(await third.next()).toMatchObject({ id: next.id });
    third.disconnect();
  });

  it('has one stream: a newer one on any instance replaces it and gets the notifications', async () => {
    const owner = await app.organization();
    const lead = await createLead(owner.api);
    const [here, there] = [callerOf(owner), callerOf(owner, other)];
    const session = await here.openSession('2025-06-18');
    const uri = `lead://${lead.id}`;
    await here.rpc(session, 'resources/subscribe', { uri });
    const first = await here.openStream(session);
    const second = await there.openStream(session);
    expect(await first.next()).toBeUndefined();
    const third = await here.openStream(session);
    expect(await second.next()).toBeUndefined();
    await updateLead(owner.api, lead.id, { notes: 'x' });
    expect((await third.nextMessage()).message).toMatchObject({ params: { uri } });
    third.disconnect();
  });

  it('has the subscriptions that requests to any instance make and end', async () => {
    const owner = await app.organization();
    const [kept, dropped] = [await createLead(owner.api), await createLead(owner.api)];
    const [here, there] = [callerOf(owner), callerOf(owner, other)];
    const session = await here.openSession('2025-06-18');
    const stream = await there.openStream(session);
    const change = (method: string, { id }: { id: string }) =>
      here.rpc(session, method, { uri: `lead://${id}` });
    const nextUri = async () =>
      ((await stream.nextMessage()).message as { params: { uri: string } }).params.uri;
    await change('resources/subscribe', dropped);
    await updateLead(owner.api, dropped.id, { notes: 'x' });
    expect(await nextUri()).toBe(`lead://${dropped.id}`);
    await change('resources/unsubscribe', dropped);
    await change('resources/subscribe', kept);
    await updateLead(owner.api, dropped.id, { notes: 'y' });
    await updateLead(owner.api, kept.id, { notes: 'y' });
    expect(await nextUri()).toBe(`lead://${kept.id}`);
    stream.disconnect();
  });

  it('notifies of what has changed since a subscription to another instance', async () => {
    const owner = await app.organization();
    const lead = await createLead(owner.api);
    const [here, there] = [callerOf(owner), callerOf(owner, other)];
    const session = await here.openSession('2025-06-18');
    await expectAlive(there, session);
    await here.rpc(session, 'resources/subscribe', { uri: `lead://${lead.id}` });
    await updateLead(owner.api, lead.id, { notes: 'x' });
    await readAllEvents(owner.api, 2);
    const { head } = app.app.get(EventFollower);
    await until(() => Promise.resolve(other.app.get(EventFollower).head >= head));
    await other.app.get(SessionStore).revalidate();
    const stream = await there.openStream(session);
    expect((await stream.nextMessage()).message).toMatchObject({
      params: { uri: `lead://${lead.id}` },
    });
    stream.disconnect();
  });

  it('has its subscriptions, as far as the key may still read the records', async () => {
    const owner = await app.organization();
    const lead = await createLead(owner.api);
    const before = callerOf(owner);
    const session = await before.openSession();
    const uri = `lead://${lead.id}`;
    const dropped = `lead://${(await createLead(owner.api)).id}`;
    await before.rpc(session, 'resources/subscribe', { uri: dropped });
    await before.rpc(session, 'resources/subscribe', { uri });
    await before.rpc(session, 'resources/unsubscribe', {
      uri: dropped.toUpperCase().replace('LEAD', 'lead'),
    });
    const after = callerOf(owner, other);
    const stream = await after.openStream(session);
    await stream.next();
    const api = other.client(owner.key.key);
    await updateLead(api, dropped.slice('lead://'.length), { notes: 'x' });
    await updateLead(api, lead.id, { notes: 'x' });
    expect((await stream.nextMessage()).message).toMatchObject({ params: { uri } });
    stream.disconnect();

    await app.sql(`update api_keys set scopes = '{tasks:read}' where id = $1`, [owner.key.id]);
    const third = await startAnother();
    await expectAlive(callerOf(owner, third), session);
    expect(openSessions(() => third).sessionOf(session)!.hasNotifications).toBe(false);
  });
});

describe('ending a session', () => {
  let other: TestApp;
  let caller: McpHttpClient;

  beforeAll(async () => {
    other = await startAnother();
    caller = callerOf(tenant, other);
  });

  it('with DELETE takes effect on every instance at once', async () => {
    const session = await mcp.openSession();
    const stream = await caller.openStream(session);
    await stream.next();
    await mcp.delete(session);
    for (const known of [caller, mcp]) {
      expectRefusal(await SEND.POST(known, session), 404, 'not_found');
    }
    expect(await stream.next()).toBeUndefined();
    for (const known of [mcp, caller]) {
      expectRefusal(await SEND.POST(known, session), 404, 'not_found');
      expectRefusal(await SEND.DELETE(known, session), 404, 'not_found');
      expectRefusal(await SEND.GET(known, session), 400, 'no_session');
    }
  });

  it('with DELETE is confirmed once if two instances are asked at the same time', async () => {
    const session = await mcp.openSession();
    await expectAlive(caller, session);
    const answers = await Promise.all([mcp, caller].map((one) => one.delete(session)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
  });

  it('remains in effect after a restart', async () => {
    const session = await terminatedSession(mcp);
    const revoked = await app.key(tenant.id);
    const theirs = await callerOf(revoked).openSession();
    await app.app.get(KeysService).revoke(revoked.key.id);
    const after = callerOf(tenant, await startAnother());
    for (const id of [session, theirs]) {
      expectRefusal(await SEND.POST(after, id), 404, 'not_found');
    }
  });

  it('by the revocation of its key makes room for another one', async () => {
    const narrow = await start({ mcpMaxSessions: 1 });
    await app.sql('delete from mcp_sessions');
    const owner = await app.key(tenant.id);
    await callerOf(owner, narrow).openSession();
    expect((await callerOf(tenant, narrow).initialize()).status).toBe(503);
    await app.app.get(KeysService).revoke(owner.key.id);
    await callerOf(tenant, narrow).openSession();
    const stored = await app.sql<{ key_id: string }>('select key_id from mcp_sessions');
    expect(stored).toEqual([{ key_id: tenant.key.id }]);
  });
});

describe('the time to live', () => {
  it('ends an unused session on every instance', async () => {
    const other = await startAnother();
    const caller = callerOf(tenant, other);
    const session = await caller.openSession();
    sessionOf(session, other)!.notify('notifications/tools/list_changed');
    const idleSeconds = TTL_SECONDS + GRACE_SECONDS;
    const realNow = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => realNow() + idleSeconds * 1_000);
    await age(session, idleSeconds);
    await until(() => Promise.resolve(!sessionOf(session, other)));
    jest.restoreAllMocks();
    for (const known of [mcp, caller]) {
      expectRefusal(await SEND.POST(known, session), 404, 'not_found');
      expectRefusal(await SEND.DELETE(known, session), 404, 'not_found');
      expectRefusal(await SEND.GET(known, session), 400, 'no_session');
    }
    const stranger = callerOf(await app.key(tenant.id));
    expectRefusal(await SEND.POST(stranger, session), 404, 'not_found');
  });

  it('frees the capacity at its end, and the row is removed later', async () => {
    const narrow = await start({ mcpMaxSessions: 1, mcpSessionTtlSeconds: TTL_SECONDS });
    await app.sql('delete from mcp_sessions');
    const session = await storeSession(TTL_SECONDS + GRACE_SECONDS);
    await callerOf(tenant, narrow).openSession();
    await age(session, TTL_SECONDS + GRACE_SECONDS + 7_200);
    await mcp.openSession();
    expect(await app.sql('select id from mcp_sessions where id = $1', [session])).toEqual([]);
  });

  it('continues a used session after the clock of the database was set forward', async () => {
    const session = await mcp.openSession();
    await age(session, TTL_SECONDS + GRACE_SECONDS + 3_600);
    await mcp.openSession();
    const isExpired = `select id from mcp_sessions where id = $1 and last_used_at < now() - interval '1 minute'`;
    await until(async () => (await app.sql(isExpired, [session])).length === 0);
    await expectAlive(mcp, session);
    await expectAlive(callerOf(tenant, await startAnother()), session);
  });

  it('does not end a session whose last use may not be written yet', async () => {
    const session = await mcp.openSession();
    await age(session, TTL_SECONDS + GRACE_SECONDS - 10);
    await expectAlive(callerOf(tenant, await startAnother()), session);
  });

  it('is extended by an open stream and by requests, but not by those of another key', async () => {
    const realNow = performance.now.bind(performance);
    const [streaming, used, refused] = await Promise.all([1, 2, 3].map(() => mcp.openSession()));
    const stream = await mcp.openStream(streaming!);
    await Promise.all([streaming, used, refused].map((session) => age(session!, TTL_SECONDS)));
    let aheadMs = HOUR_MS;
    jest.spyOn(performance, 'now').mockImplementation(() => realNow() + aheadMs);
    const stranger = callerOf(await app.key(tenant.id));
    expectRefusal(await SEND.POST(stranger, refused), 403, 'session_mismatch');
    const recent = `select id from mcp_sessions where id = any($1) and last_used_at > now() - interval '10 seconds'`;
    await until(async () => {
      // Uses are written once a minute.
      aheadMs += MINUTE_MS;
      await expectAlive(mcp, used!);
      const rows = await app.sql<{ id: string }>(recent, [[streaming, used, refused]]);
      const ids = rows.map(({ id }) => id).sort();
      return ids.join() === [streaming, used].sort().join();
    });
    stream.disconnect();
  });
});

describe('the statements of sessions', () => {
  it('are none for the calls of a session while no other instance uses the database', async () => {
    const alone = await TestApp.start();
    const owner = callerOf(await alone.organization(), alone);
    const session = await owner.openSession();
    // revalidate() finds no other instance, so that the calls below need no lookup.
    await alone.app.get(SessionStore).revalidate();
    const lookups = jest.spyOn(alone.app.get(SharedLookups), 'find');
    const writes = jest.spyOn(alone.app.get(AdministrativeWrites), 'run');
    await Promise.all(Array.from({ length: 50 }, () => expectAlive(owner, session)));
    const names = lookups.mock.calls.map(([{ name }]) => name);
    expect(names.filter((name) => name === 'session')).toEqual([]);
    expect(writes).not.toHaveBeenCalled();
    await alone.stop();
  });

  it('are refused to the tenant role', async () => {
    await expect(app.sql(`set role latitude_app; select * from mcp_sessions`)).rejects.toThrow(
      'permission denied for table mcp_sessions',
    );
  });
});
