import { SystemDatabase } from '../../../../src/platform/data/gateway/system-database.js';
import { EventFollower } from '../../../../src/modules/events/event-follower.js';
import { SessionStore } from '../../../../src/modules/mcp/sessions/session-store.js';
import { createLead, updateLead } from '../../../../src/testing/factories.js';
import type { McpHttpClient } from '../../../../src/testing/mcp-client.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import {
  expectAlive,
  expectRefusal,
  mcpHelpers,
  SEND,
  terminatedSession,
  VERSION_WITH_BATCHES,
} from '../../../support/mcp/mcp-helpers.js';
import { readAllEvents } from '../../../support/events.js';
import { openSessions } from '../../../support/mcp/open-sessions.js';
import { until } from '../../../support/servers/product.js';

/** Long enough that no session ends by itself while its test runs. */
const TTL_SECONDS = 3_600;

/** A session ends at the latest after this time without use: its time to live and a tenth of it. */
const LATEST_END_SECONDS = 1.1 * TTL_SECONDS;

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

/** Makes sessions as old as if the time had passed for the database. */
const age = (seconds: number, ...sessions: string[]) =>
  app.sql(
    `update mcp_sessions set last_used_at = last_used_at - make_interval(secs => $2),
       expires_at = expires_at - make_interval(secs => $2) where id = any($1)`,
    [sessions, seconds],
  );

/** Returns the seconds until the stored end of a session. */
async function remainingOf(session: string): Promise<number> {
  const [row] = await app.sql<{ seconds: number }>(
    `select extract(epoch from expires_at - now())::float8 as seconds from mcp_sessions where id = $1`,
    [session],
  );
  return row!.seconds;
}

/** Opens a session that no running instance knows, as if the instance that opened it had stopped. */
async function openElsewhere(): Promise<string> {
  const stopped = await start({ mcpSessionTtlSeconds: TTL_SECONDS });
  const session = await callerOf(tenant, stopped).openSession();
  await stopped.stop();
  return session;
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
    expect(openSessions(() => third).sessionOf(session)!.isNotified).toBe(false);
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
    await app.revoke(revoked);
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
    await app.revoke(owner);
    await callerOf(tenant, narrow).openSession();
    const stored = await app.sql<{ key_id: string }>('select key_id from mcp_sessions');
    expect(stored).toEqual([{ key_id: tenant.key.id }]);
  });
});

describe('the time to live', () => {
  let other: TestApp;
  let caller: McpHttpClient;

  beforeAll(async () => {
    other = await startAnother();
    caller = callerOf(tenant, other);
  });

  /** Makes the clocks of the instances and of the database show a later time for sessions. */
  async function pass(seconds: number, ...sessions: string[]): Promise<void> {
    const realNow = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => realNow() + seconds * 1_000);
    await age(seconds, ...sessions);
  }

  async function expectEnded(session: string): Promise<void> {
    for (const known of [mcp, caller]) {
      expectRefusal(await SEND.POST(known, session), 404, 'not_found');
      expectRefusal(await SEND.DELETE(known, session), 404, 'not_found');
      expectRefusal(await SEND.GET(known, session), 400, 'no_session');
    }
    const stranger = callerOf(await app.key(tenant.id));
    expectRefusal(await SEND.POST(stranger, session), 404, 'not_found');
  }

  it('ends an unused session on every instance, a tenth later at the latest', async () => {
    const session = await caller.openSession();
    await expectAlive(mcp, session);
    sessionOf(session, other)!.notify('notifications/tools/list_changed');
    await pass(LATEST_END_SECONDS, session);
    await expectEnded(session);
    await until(() => Promise.resolve(!sessionOf(session, other)));
  });

  it('ends a session that no instance knows, a tenth later at the latest', async () => {
    const session = await openElsewhere();
    await age(LATEST_END_SECONDS, session);
    await expectEnded(session);
  });

  it('ends no session earlier, on any instance', async () => {
    for (const instance of [mcp, caller]) {
      const [known, unknown] = [await mcp.openSession(), await openElsewhere()];
      // The second use is not written, because the stored end covers it.
      await age(TTL_SECONDS / 100, known, unknown);
      for (const session of [known, unknown]) await expectAlive(instance, session);
      await age(TTL_SECONDS - 60, known, unknown);
      for (const session of [known, unknown]) await expectAlive(instance, session);
    }
  });

  it('begins again with each request and while a stream is open, but not by another key', async () => {
    const streaming = await mcp.openSession();
    const used = await mcp.openSession();
    const refused = await mcp.openSession();
    const stream = await mcp.openStream(streaming);
    await pass(TTL_SECONDS / 2, streaming, used, refused);
    await expectAlive(caller, used);
    await app.app.get(SessionStore).postponeDueEnds();
    const stranger = callerOf(await app.key(tenant.id));
    expectRefusal(await SEND.POST(stranger, refused), 403, 'session_mismatch');
    expect(await remainingOf(streaming)).toBeGreaterThan(TTL_SECONDS);
    expect(await remainingOf(used)).toBeGreaterThan(TTL_SECONDS);
    expect(await remainingOf(refused)).toBeLessThan(TTL_SECONDS);
    stream.disconnect();
  });

  it('frees the capacity at its end, and the row is removed later', async () => {
    const narrow = await start({ mcpMaxSessions: 1, mcpSessionTtlSeconds: TTL_SECONDS });
    await app.sql('delete from mcp_sessions');
    const session = await openElsewhere();
    expect((await callerOf(tenant, narrow).initialize()).status).toBe(503);
    await age(LATEST_END_SECONDS, session);
    await callerOf(tenant, narrow).openSession();
    await age(7_200, session);
    await mcp.openSession();
    expect(await app.sql('select id from mcp_sessions where id = $1', [session])).toEqual([]);
  });

  it('is that of the last use after a change of the setting: no ended session continues', async () => {
    const [ended, open] = [await openElsewhere(), await openElsewhere()];
    await age(LATEST_END_SECONDS, ended);
    const longer = callerOf(tenant, await start({ mcpSessionTtlSeconds: 10 * TTL_SECONDS }));
    expectRefusal(await SEND.POST(longer, ended), 404, 'not_found');
    await expectAlive(longer, open);
    expect(await remainingOf(open)).toBeGreaterThan(10 * TTL_SECONDS);
    await expectAlive(mcp, open);
    expect(await remainingOf(open)).toBeLessThan(LATEST_END_SECONDS);
  });

  it('continues for a used session after the clock of the database was set forward', async () => {
    const session = await mcp.openSession();
    await age(LATEST_END_SECONDS + 3_600, session);
    await mcp.openSession();
    await until(async () => (await remainingOf(session)) > TTL_SECONDS);
    await expectAlive(mcp, session);
    await expectAlive(caller, session);
  });
});

describe('the statements of sessions', () => {
  it('are none for the calls of a session while no other instance uses the database', async () => {
    const alone = await TestApp.start();
    const owner = callerOf(await alone.organization(), alone);
    const session = await owner.openSession();
    // revalidate() finds no other instance, so that the calls below need no lookup.
    const sessions = alone.app.get(SessionStore);
    await sessions.revalidate();
    jest.spyOn(sessions, 'revalidate').mockResolvedValue();
    const reads = jest.spyOn(alone.app.get(SystemDatabase), 'read');
    const writes = jest.spyOn(alone.app.get(SystemDatabase), 'write');
    await Promise.all(Array.from({ length: 50 }, () => expectAlive(owner, session)));
    const texts = reads.mock.calls.map(([text]) => text);
    expect(texts.filter((text) => text.includes('mcp_sessions'))).toEqual([]);
    expect(writes).not.toHaveBeenCalled();
    await alone.stop();
  });

  it('are refused to the tenant role', async () => {
    await expect(app.sql(`set role latitude_app; select * from mcp_sessions`)).rejects.toThrow(
      'permission denied for table mcp_sessions',
    );
  });
});
