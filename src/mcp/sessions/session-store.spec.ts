import type { Scope } from '../../auth/scopes.js';
import { readSettings } from '../../config/settings.js';
import { ChangeBus } from '../../events/change-bus.js';
import type { Actor } from '../../tenancy/actor.js';
import { canonicalUriOf, type ReadResource } from '../resources/resource-registry.js';
import { MAX_KEPT_EVENTS, type Session, type SessionEvent, type SessionStream } from './session.js';
import { SessionStore } from './session-store.js';
import { MAX_SUBSCRIPTIONS } from '../subscriptions/subscriptions.js';

const TTL_SECONDS = 60;
const MOST = 3;
const CHANGED = 'notifications/tools/list_changed';

let changes: ChangeBus;
let sessions: SessionStore;

beforeEach(() => {
  jest.useFakeTimers();
  changes = new ChangeBus();
  const settings = readSettings({});
  sessions = new SessionStore(
    { ...settings, mcpMaxSessions: MOST, mcpSessionTtlSeconds: TTL_SECONDS },
    changes,
  );
});
afterEach(() => jest.useRealTimers());

function actor(keyId: string, scopes: readonly string[] = ['leads:read']): Actor {
  return {
    organization: { id: 'organization', name: 'Organization', phoneRegion: 'US' },
    key: { id: keyId, name: 'k', expiresAt: null, userId: null },
    scopes: new Set(scopes),
    channel: 'api',
  };
}

const ALICE = actor('alice');
const BOB = actor('bob');

const pass = (seconds: number): void => {
  jest.advanceTimersByTime(seconds * 1_000);
};
const find = ({ id }: Session, by = ALICE) => sessions.touch(id, by);
const openAll = () => Array.from({ length: MOST }, () => sessions.open(ALICE));

/** A stream that remembers what it was given. */
class Recorder implements SessionStream {
  readonly events: SessionEvent[] = [];
  isClosed = false;

  send(event: SessionEvent): boolean {
    if (this.isClosed) throw new Error('the stream is closed');
    this.events.push(event);
    return true;
  }

  close(): void {
    this.isClosed = true;
  }

  get ids(): number[] {
    return this.events.map(({ id }) => id);
  }
}

function listen(session: Session, after = session.lastSentEventId): Recorder {
  const stream = new Recorder();
  sessions.attachStream(session, stream, after);
  return stream;
}

describe('the time to live of a session', () => {
  it('given a session that nothing uses, when its time is over, then it has ended', () => {
    const session = sessions.open(ALICE);
    pass(TTL_SECONDS);
    expect(find(session)).toBeUndefined();
  });

  it('given a session, when it is used in time, then it lives as long again', () => {
    const session = sessions.open(ALICE);
    for (let n = 0; n < 5; n++) {
      pass(TTL_SECONDS - 1);
      expect(find(session)).toBe(session);
    }
    pass(TTL_SECONDS);
    expect(find(session)).toBeUndefined();
  });

  it('given the session of another key, when it is asked for, then that is a session_mismatch which does not extend its life', () => {
    const session = sessions.open(ALICE);
    pass(TTL_SECONDS - 1);
    expect(() => find(session, BOB)).toThrow(expect.objectContaining({ code: 'session_mismatch' }));
    pass(1);
    expect(find(session)).toBeUndefined();
  });

  it('given the ended session of another key, when it is asked for, then there is none', () => {
    const session = sessions.open(ALICE);
    pass(TTL_SECONDS);
    expect(find(session, BOB)).toBeUndefined();
  });

  it('given an open stream, when the time passes many times over, then the session lives', () => {
    const session = sessions.open(ALICE);
    listen(session);
    pass(10 * TTL_SECONDS);
    sessions.terminateExpired();
    expect(find(session)).toBe(session);
  });

  it('given a stream that was open for long, when it ends, then the time starts again', () => {
    const session = sessions.open(ALICE);
    const stream = listen(session);
    pass(10 * TTL_SECONDS);
    session.detachStream(stream);
    pass(TTL_SECONDS - 1);
    sessions.terminateExpired();
    expect([...sessions.all()]).toEqual([session]);
    pass(1);
    expect(find(session)).toBeUndefined();
  });

  it('given a stream that a newer one replaced, when it ends, then the newer is still use', () => {
    const session = sessions.open(ALICE);
    const old = listen(session);
    listen(session);
    session.detachStream(old);
    pass(2 * TTL_SECONDS);
    expect(find(session)).toBe(session);
  });

  it('given some sessions, when only one is used, then only the others end', () => {
    const [one, two, three] = openAll();
    pass(TTL_SECONDS - 1);
    find(two!);
    pass(1);
    expect([one, two, three].map((session) => find(session!))).toEqual([undefined, two, undefined]);
  });
});

describe('the places', () => {
  it('given as many sessions as there are places, when one more is opened, then that is too_many_sessions with Retry-After', () => {
    const ids = new Set(openAll().map(({ id }) => id));
    expect(ids.size).toBe(MOST);
    expect(() => sessions.open(BOB)).toThrow(
      expect.objectContaining({
        code: 'too_many_sessions',
        headers: { 'Retry-After': expect.stringMatching(/^[1-9]\d*$/) as string },
      }),
    );
    expect(sessions.counts()).toEqual({ sessions: MOST, streams: 0 });
  });

  it('given a full house, when a session ends, then there is one place', () => {
    const [session] = openAll();
    sessions.terminate(session!);
    sessions.open(BOB);
    expect(() => sessions.open(BOB)).toThrow();
  });

  it('given a full house, when their time is over, then all places are free at once', () => {
    openAll();
    pass(TTL_SECONDS);
    expect(openAll()).toHaveLength(MOST);
    expect(() => sessions.open(ALICE)).toThrow();
  });

  it('given a full house, when all but a stream have expired, then that one keeps its place', () => {
    const [session] = openAll();
    const stream = listen(session!);
    pass(TTL_SECONDS);
    for (let n = 1; n < MOST; n++) sessions.open(BOB);
    expect(() => sessions.open(BOB)).toThrow();
    expect(stream.isClosed).toBe(false);
  });

  it('given sessions and streams, when they are counted, then each counts once', () => {
    const [one, two] = openAll();
    listen(one!);
    listen(one!);
    listen(two!);
    expect(sessions.counts()).toEqual({ sessions: MOST, streams: 2 });
  });

  it('given a session with a stream, when it ends, then its stream is closed and it is found no more', () => {
    const session = sessions.open(ALICE);
    const stream = listen(session);
    sessions.terminate(session);
    expect(stream.isClosed).toBe(true);
    expect(find(session)).toBeUndefined();
  });
});

describe('the end of the application', () => {
  it('given open streams, when it begins, then all of them are closed, and so is every later one', () => {
    const streams = openAll().map((session) => listen(session));
    sessions.beforeApplicationShutdown();
    const [session] = sessions.all();
    streams.push(listen(session!));
    expect(streams.map(({ isClosed }) => isClosed)).toEqual([true, true, true, true]);
  });
});

describe('the events of a session', () => {
  let session: Session;

  beforeEach(() => {
    session = sessions.open(ALICE);
  });

  function notify(count: number): void {
    for (let n = 0; n < count; n++) session.notify(CHANGED);
  }

  it('given a stream, when there is a notification, then it is sent with a number of its own', () => {
    const stream = listen(session);
    notify(2);
    const message = { jsonrpc: '2.0', method: CHANGED };
    expect(stream.events).toEqual([
      { id: 1, message },
      { id: 2, message },
    ]);
  });

  it('given no stream, when there is a notification, then the first stream gets it, and no other', () => {
    notify(1);
    const first = listen(session);
    expect(first.ids).toEqual([1]);
    session.detachStream(first);
    expect(listen(session).ids).toEqual([]);
  });

  it.each([
    [0, [1, 2, 3, 4]],
    [2, [3, 4]],
    [4, []],
  ])(
    'given a client that knows the events up to %i, when it comes back, then it gets exactly those it missed',
    (after, missed) => {
      const stream = listen(session);
      notify(2);
      session.detachStream(stream);
      notify(2);
      expect(listen(session, after).ids).toEqual(missed);
    },
  );

  it('given a stream that came back, when there is a further notification, then it gets that once', () => {
    notify(1);
    const stream = listen(session, 0);
    notify(1);
    expect(stream.ids).toEqual([1, 2]);
  });

  it('given a stream that begins again at an early event, when the next begins where the last was, then nothing comes twice', () => {
    notify(3);
    session.detachStream(listen(session));
    session.detachStream(listen(session, 0));
    expect(listen(session).ids).toEqual([]);
  });

  it('given a stream, when a newer one comes, then the old one is closed and only the newer gets events', () => {
    const old = listen(session);
    const newer = listen(session);
    expect([old.isClosed, newer.isClosed]).toEqual([true, false]);
    notify(1);
    session.detachStream(old);
    notify(1);
    expect([old.ids, newer.ids]).toEqual([[], [1, 2]]);
    expect(session.isStreaming).toBe(true);
  });

  it('given more events than are kept, when a stream comes, then it gets the latest of them in order', () => {
    notify(MAX_KEPT_EVENTS + 30);
    const kept = Array.from({ length: MAX_KEPT_EVENTS }, (_, index) => index + 31);
    expect(listen(session, 0).ids).toEqual(kept);
  });

  it('given some events, when a client names one, then those that were and the beginning are known', () => {
    notify(2);
    expect([0, 1, 2, 3].map((id) => session.hasEvent(id))).toEqual([true, true, true, false]);
  });

  it('given the scopes of the key, when they change, then the client is told once; when only their order does, then not', () => {
    session = sessions.open(actor('carol', ['leads:read', 'leads:write']));
    const stream = listen(session);
    session.updateScopes(['leads:write', 'leads:read']);
    expect(stream.ids).toEqual([]);
    session.updateScopes(['leads:read']);
    session.updateScopes(['leads:read']);
    expect(stream.events).toMatchObject([{ id: 1, message: { method: CHANGED } }]);
    session.updateScopes([]);
    expect(stream.ids).toEqual([1, 2]);
  });
});

describe('the subscriptions of a session', () => {
  const UPDATED = 'notifications/resources/updated';
  let session: Session;

  beforeEach(() => {
    session = sessions.open(actor('alice', ['leads:read', 'tasks:read']));
  });

  const idOf = (n: number) => `0198c0de-0000-7000-8000-${String(n).padStart(12, '0')}`;
  const uriOf = (n: number, name = 'lead') => `${name}://${idOf(n)}`;

  function find(uri: string, scope: Scope = 'leads:read'): ReadResource {
    const [, id = ''] = canonicalUriOf(uri).split('://');
    const kind = { name: 'lead', title: 'Lead', description: 'One lead.', scope };
    return { uri, canonicalUri: canonicalUriOf(uri), id, kind, record: {} };
  }

  const change = (...numbers: number[]) => {
    for (const n of numbers) changes.publish('organization', [idOf(n)]);
  };
  const urisOf = ({ events }: Recorder) => events.map(({ message }) => message.params?.uri);

  it('given a record, when it changes, then the client is told by the address that it wrote', () => {
    const written = uriOf(10).toUpperCase().replace('LEAD', 'lead');
    session.subscribe(find(written));
    const stream = listen(session);
    change(10, 11);
    expect(stream.events).toEqual([
      { id: 1, message: { jsonrpc: '2.0', method: UPDATED, params: { uri: written } } },
    ]);
  });

  it('given a record that is subscribed to twice, when it changes, then the client is told once', () => {
    session.subscribe(find(uriOf(1).toUpperCase().replace('LEAD', 'lead')));
    session.subscribe(find(uriOf(1)));
    const stream = listen(session);
    change(1);
    expect(urisOf(stream)).toEqual([uriOf(1)]);
  });

  it('given a client that is away, when a few changes come, then it gets exactly those, in order', () => {
    for (const n of [1, 2]) session.subscribe(find(uriOf(n)));
    session.detachStream(listen(session));
    change(1, 2, 1);
    const stream = listen(session);
    expect(stream.ids).toEqual([1, 2, 3]);
    expect(urisOf(stream)).toEqual([1, 2, 1].map((n) => uriOf(n)));
  });

  it('given a client that is away, when more changes come than are kept, then it learns of every record that changed, of each the latest, none twice', () => {
    const records = Array.from({ length: MAX_SUBSCRIPTIONS }, (_, n) => n);
    for (const n of records) session.subscribe(find(uriOf(n)));
    session.detachStream(listen(session));
    // The first changes once, long before all others change many times over.
    change(0);
    session.notify(CHANGED);
    for (let round = 0; round < 10; round++) change(...records.slice(1));
    const stream = listen(session);
    expect(new Set(urisOf(stream))).toEqual(new Set([undefined, ...records.map((n) => uriOf(n))]));
    expect(stream.events).toHaveLength(MAX_KEPT_EVENTS);
    expect(stream.ids).toEqual([...new Set(stream.ids)].sort((a, b) => a - b));
    const latest = 2 + 10 * (MAX_SUBSCRIPTIONS - 1);
    expect(stream.ids.slice(0, 2).concat(stream.ids.slice(-1))).toEqual([1, 2, latest]);
    session.detachStream(stream);
    expect(listen(session, latest).ids).toEqual([]);
  });

  it('given a stream that takes nothing more, when a record changes, then the next stream tells of it', () => {
    session.subscribe(find(uriOf(1)));
    session.attachStream({ send: () => false, close: () => undefined }, 0);
    change(1);
    expect(urisOf(listen(session))).toEqual([uriOf(1)]);
  });

  it('given as many subscriptions as there may be, when one more comes, then there is no room until one ends', () => {
    const added = Array.from({ length: MAX_SUBSCRIPTIONS }, (_, n) => {
      return session.subscribe(find(uriOf(n)));
    });
    expect(new Set(added)).toEqual(new Set([true]));
    expect(session.subscribe(find(uriOf(500)))).toBe(false);
    expect(session.subscribe(find(uriOf(3)))).toBe(true);
    session.unsubscribe(canonicalUriOf(uriOf(7)));
    expect(session.subscribe(find(uriOf(500)))).toBe(true);
  });

  it('given a client that is away, when it unsubscribes, then it is told neither of what it missed nor of what comes', () => {
    for (const n of [1, 2]) session.subscribe(find(uriOf(n)));
    change(1, 2);
    session.unsubscribe(canonicalUriOf(uriOf(1)));
    change(1);
    expect(urisOf(listen(session))).toEqual([uriOf(2)]);
  });

  it('given a key that loses a scope, when records change, then it is told only of kinds that it may still read', () => {
    session.subscribe(find(uriOf(1)));
    session.subscribe(find(uriOf(2, 'task'), 'tasks:read'));
    change(1, 2);
    session.updateScopes(['leads:read']);
    change(1, 2);
    expect(listen(session).events.map(({ message }) => message)).toMatchObject([
      { params: { uri: uriOf(1) } },
      { method: CHANGED },
      { params: { uri: uriOf(1) } },
    ]);
  });

  it('given a session that has ended, when a record changes, then nothing is told, and it takes no more', () => {
    session.subscribe(find(uriOf(1)));
    const notify = jest.spyOn(session, 'notify');
    sessions.terminate(session);
    expect(session.subscribe(find(uriOf(2)))).toBe(false);
    change(1, 2);
    expect(notify).not.toHaveBeenCalled();
  });
});
