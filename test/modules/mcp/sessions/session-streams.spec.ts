import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Authenticator } from '../../../../src/platform/access/authenticator.js';
import type { Scope } from '../../../../src/platform/access/scopes.js';
import {
  type EventReader,
  initializeRequest,
  sessionHeader,
  type McpHttpClient,
} from '../../../../src/testing/mcp-client.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import {
  expectAlive,
  expectRefusal,
  LIST_CHANGED,
  MCP,
  mcpHelpers,
  SEND,
  untilTrue,
} from '../../../support/mcp/mcp-helpers.js';
import { openSessions } from '../../../support/mcp/open-sessions.js';
import { until } from '../../../support/servers/product.js';

let app: TestApp;
let tenant: Tenant;
const { callerOf, stopAll } = mcpHelpers(() => app);
const { sessionOf, sessionsOf } = openSessions(() => app);

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
});
afterAll(() => stopAll());

describe('the stream of a session', () => {
  let owner: Tenant;
  let caller: McpHttpClient;

  beforeEach(async () => {
    owner = await app.organization();
    caller = callerOf(owner);
  });

  /** Changes the scopes of the key, which its sessions detect later. */
  const change = (...scopes: Scope[]) =>
    app.sql('update api_keys set scopes = $2 where id = $1', [owner.key.id, scopes]);

  /** Sends the notification of that change immediately. */
  const notify = (session: string): void => {
    sessionOf(session)!.notify(LIST_CHANGED.method);
  };

  const untilDetached = (session: string) => untilTrue(() => !sessionOf(session)!.isStreaming);
  const untilStored = (session: string, event: number) =>
    untilTrue(() => sessionOf(session)!.lastEventId >= event);

  async function expectEnd(stream: EventReader): Promise<void> {
    expect(await stream.next()).toBeUndefined();
  }

  it('starts with an event id, which a client can resume from, in a session of 2025-11-25', async () => {
    const stream = await caller.openStream(await caller.openSession());
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    expect(stream.headers.get('cache-control')).toContain('no-cache');
    for (const name of ['x-request-id', 'ratelimit-limit', 'ratelimit-reset']) {
      expect(stream.headers.get(name)).toBeTruthy();
    }
    expect(await stream.next()).toEqual({
      id: '0',
      data: '',
      retry: expect.stringMatching(/^\d+$/),
    });
  });

  it.each(['2025-06-18', '2025-03-26', '2024-11-05'])(
    'has the first message as its first event in a session of %s',
    async (revision) => {
      const session = await caller.openSession(revision);
      const stream = await caller.openStream(session);
      notify(session);
      expect(await stream.nextMessage()).toEqual({ id: '1', message: LIST_CHANGED });
    },
  );

  it('sends list_changed when the scopes of the key change', async () => {
    const session = await caller.openSession();
    const stream = await caller.openStream(session);
    await stream.next();
    await change('tasks:read');
    expect(await stream.nextMessage()).toEqual({ id: '1', message: LIST_CHANGED });
    await until(async () => {
      const { body } = await caller.rpc(session, 'tools/list');
      const { tools } = body.result as { tools: { name: string }[] };
      return !tools.some(({ name }) => name === 'list_leads');
    });
    await change('tasks:read', 'leads:read');
    expect(await stream.nextMessage()).toEqual({ id: '2', message: LIST_CHANGED });
  });

  it('sends list_changed to all sessions of the key, and to no others', async () => {
    const other = await app.key(tenant.id);
    const theirs = await callerOf(other).openSession('2025-06-18');
    const sessions = await Promise.all([
      caller.openSession('2025-06-18'),
      caller.openSession('2025-06-18'),
    ]);
    const streams = await Promise.all(sessions.map((session) => caller.openStream(session)));
    await change('leads:read');
    for (const stream of streams) {
      expect(await stream.nextMessage()).toEqual({ id: '1', message: LIST_CHANGED });
    }
    expect(sessionOf(theirs)!.lastEventId).toBe(0);
  });

  it('replays missed events once to a client that reconnects with Last-Event-ID', async () => {
    const session = await caller.openSession();
    const first = await caller.openStream(session);
    const { id } = (await first.next())!;
    first.disconnect();
    await untilDetached(session);
    await change('leads:read');
    await untilStored(session, 1);

    const second = await caller.openStream(session, { 'Last-Event-ID': id! });
    expect(await second.next()).toMatchObject({ id, data: '' });
    expect(await second.nextMessage()).toEqual({ id: '1', message: LIST_CHANGED });
    second.disconnect();
    await untilDetached(session);

    const third = await caller.openStream(session, { 'Last-Event-ID': '1' });
    expect(await third.next()).toMatchObject({ id: '1', data: '' });
    notify(session);
    expect(await third.nextMessage()).toEqual({ id: '2', message: LIST_CHANGED });
  });

  it('sends unsent events to a client that reconnects without Last-Event-ID', async () => {
    const session = await caller.openSession('2025-06-18');
    notify(session);
    const first = await caller.openStream(session);
    expect(await first.nextMessage()).toMatchObject({ id: '1' });
    first.disconnect();
    await untilDetached(session);
    notify(session);
    const second = await caller.openStream(session);
    expect(await second.nextMessage()).toMatchObject({ id: '2' });
  });

  it('replays events that were sent when a client resumes before them', async () => {
    const session = await caller.openSession('2025-06-18');
    const first = await caller.openStream(session);
    notify(session);
    expect(await first.nextMessage()).toMatchObject({ id: '1' });
    const second = await caller.openStream(session, { 'Last-Event-ID': '0' });
    expect(await second.nextMessage()).toMatchObject({ id: '1' });
  });

  it('ends when a newer stream is opened, which gets the events', async () => {
    const session = await caller.openSession();
    const old = await caller.openStream(session);
    await old.next();
    const newer = await caller.openStream(session);
    await newer.next();
    await expectEnd(old);
    notify(session);
    expect(await newer.nextMessage()).toEqual({ id: '1', message: LIST_CHANGED });
  });

  it('stays open after a HEAD request', async () => {
    const session = await caller.openSession('2025-06-18');
    const head = () => caller.request('HEAD', { headers: sessionHeader(session) });
    expect(await head()).toMatchObject({ status: 200, body: undefined });
    expect(sessionOf(session)!.isStreaming).toBe(false);
    const stream = await caller.openStream(session);
    expect(await head()).toMatchObject({ status: 200, body: undefined });
    notify(session);
    expect(await stream.nextMessage()).toEqual({ id: '1', message: LIST_CHANGED });
    expect(await caller.request('HEAD')).toMatchObject({ status: 400, body: undefined });
  });

  it('ends when the session is terminated', async () => {
    const session = await caller.openSession();
    const stream = await caller.openStream(session);
    await stream.next();
    await caller.delete(session);
    await expectEnd(stream);
    expectRefusal(await SEND.GET(caller, session), 400, 'no_session');
  });

  it('does not end the session when the client disconnects', async () => {
    const session = await caller.openSession();
    const stream = await caller.openStream(session);
    await stream.next();
    stream.disconnect();
    await untilDetached(session);
    await expectAlive(caller, session);
  });

  it.each(['GET', 'POST'])(
    'is not opened, nor is a session, when the client disconnects during authentication of %s',
    async (method) => {
      const session = await caller.openSession();
      const before = sessionsOf();
      const authenticator = app.app.get(Authenticator);
      const authenticate = authenticator.authenticate.bind(authenticator);
      let found = (): void => undefined;
      const gate = new Promise<void>((resolve) => (found = resolve));
      const spy = jest.spyOn(authenticator, 'authenticate').mockImplementationOnce(async (key) => {
        await gate;
        return authenticate(key);
      });
      const arrival = once(app.app.getHttpServer(), 'request');
      const abort = new AbortController();
      const leaving = fetch(app.url + MCP, {
        method,
        signal: abort.signal,
        headers: {
          Authorization: `Bearer ${owner.key.key}`,
          ...(method === 'GET' ? sessionHeader(session) : { 'Content-Type': 'application/json' }),
        },
        ...(method === 'POST' && { body: JSON.stringify(initializeRequest()) }),
      }).catch(() => undefined);
      const [, response] = (await arrival) as [IncomingMessage, ServerResponse];
      const closed = once(response, 'close');
      abort.abort();
      await Promise.all([leaving, closed]);
      found();
      await spy.mock.results[0]!.value;
      // The first request has been handled when another one has been answered.
      await expectAlive(caller, session);
      spy.mockRestore();
      expect(sessionOf(session)!.isStreaming).toBe(false);
      expect(sessionsOf()).toEqual(before);
    },
  );
});

describe('the shutdown of the application', () => {
  it('ends open streams instead of waiting for them', async () => {
    const instance = await TestApp.start({ database: app.database });
    const caller = callerOf(tenant, instance);
    const streams = await Promise.all(
      Array.from({ length: 5 }, async () =>
        caller.openStream(await caller.openSession('2025-06-18')),
      ),
    );
    const cutOff = jest.spyOn(instance.app.getHttpServer(), 'closeAllConnections');
    const stopped = instance.stop();
    for (const stream of streams) expect(await stream.next()).toBeUndefined();
    await stopped;
    expect(cutOff).not.toHaveBeenCalled();
  });
});
