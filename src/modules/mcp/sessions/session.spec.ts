import type { Call } from '../../../platform/data/call.js';
import type { Scope } from '../../../platform/access/scopes.js';
import { ChangeBus } from '../../../platform/data/gateway/change-bus.js';
import { canonicalUriOf, type ReadResource } from '../resources/resource-registry.js';
import { MAX_SUBSCRIPTIONS } from './subscriptions.js';
import { MAX_KEPT_EVENTS, Session, type SessionEvent, type SessionStream } from './session.js';

const LIST_CHANGED = 'notifications/tools/list_changed';
const UPDATED = 'notifications/resources/updated';

let changes: ChangeBus;
let session: Session;

function open(...scopes: readonly string[]): Session {
  return openAfter(0, scopes);
}

/** A session that was opened earlier, by another instance. */
function openAfter(ageMs: number, scopes: readonly string[] = []): Session {
  const key = { id: 'alice', name: 'k', expiresAt: null, userId: null };
  const call: Call = {
    tenant: { id: 'organization', name: 'Organization', phoneRegion: 'US', timeZone: 'UTC' },
    actor: { key, scopes: new Set(scopes), channel: 'api' },
  };
  const parameters = { protocol_version: '2025-11-25', client_name: 'test' };
  const record = { id: 'session', key_id: key.id, grant_id: null, client_id: null, ...parameters };
  return new Session(record, call, changes, ageMs);
}

beforeEach(() => {
  changes = new ChangeBus();
  session = open('leads:read', 'tasks:read');
});

/** A stream that records the events it receives. */
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

  get uris(): unknown[] {
    return this.events.map(({ message }) => message.params?.uri);
  }
}

function openStream(after = session.lastSentEventId, number = 1): Recorder {
  const stream = new Recorder();
  session.attachStream(stream, number, after);
  return stream;
}

describe('the stream of a session', () => {
  it('is the one with the highest number, in whichever order they are opened', () => {
    const newer = openStream(0, 2);
    const older = openStream(0, 1);
    expect([newer.isClosed, older.isClosed]).toEqual([false, true]);
    const newest = openStream(0, 3);
    expect([newer.isClosed, newest.isClosed]).toEqual([true, false]);
  });

  it('is closed when the session has a stream with a higher number elsewhere', () => {
    const stream = openStream(0, 2);
    session.closeReplacedStream(2);
    expect(stream.isClosed).toBe(false);
    session.closeReplacedStream(3);
    expect(stream.isClosed).toBe(true);
  });
});

describe('the events of a session that another instance opened', () => {
  it('have ids after those of the other instance', () => {
    session = openAfter(2_000.5);
    const stream = openStream(7);
    session.notify(LIST_CHANGED);
    expect(stream.ids).toEqual([2_002]);
  });

  it('are sent to a client that has received events of another instance with later ids', () => {
    session.notify(LIST_CHANGED);
    session.notify(LIST_CHANGED);
    const stream = openStream(60_000);
    session.notify(LIST_CHANGED);
    expect(stream.ids).toEqual([1, 2, 60_001]);
  });
});

describe('the events of a session', () => {
  function notify(count: number): void {
    for (let n = 0; n < count; n++) session.notify(LIST_CHANGED);
  }

  it('have sequential ids', () => {
    const stream = openStream();
    notify(2);
    const message = { jsonrpc: '2.0', method: LIST_CHANGED };
    expect(stream.events).toEqual([
      { id: 1, message },
      { id: 2, message },
    ]);
  });

  it('are kept for the first stream and sent to no other stream', () => {
    notify(1);
    const first = openStream();
    expect(first.ids).toEqual([1]);
    session.detachStream(first);
    expect(openStream().ids).toEqual([]);
  });

  it.each([
    [0, [1, 2, 3, 4]],
    [2, [3, 4]],
    [4, []],
  ])('are replayed to a stream that resumes after event %i', (after, missed) => {
    const stream = openStream();
    notify(2);
    session.detachStream(stream);
    notify(2);
    expect(openStream(after).ids).toEqual(missed);
  });

  it('are sent once to a stream that has resumed', () => {
    notify(1);
    const stream = openStream(0);
    notify(1);
    expect(stream.ids).toEqual([1, 2]);
  });

  it('are not repeated after a stream has resumed from an early event', () => {
    notify(3);
    session.detachStream(openStream());
    session.detachStream(openStream(0));
    expect(openStream().ids).toEqual([]);
  });

  it('go to the newest stream only, and the older one is closed', () => {
    const old = openStream();
    const newer = openStream();
    expect([old.isClosed, newer.isClosed]).toEqual([true, false]);
    notify(1);
    session.detachStream(old);
    notify(1);
    expect([old.ids, newer.ids]).toEqual([[], [1, 2]]);
    expect(session.isStreaming).toBe(true);
  });

  it('are limited to the latest ones', () => {
    notify(MAX_KEPT_EVENTS + 30);
    const kept = Array.from({ length: MAX_KEPT_EVENTS }, (_, index) => index + 31);
    expect(openStream(0).ids).toEqual(kept);
  });

  it('have ids up to that of the last event', () => {
    expect(session.lastEventId).toBe(0);
    notify(2);
    expect(session.lastEventId).toBe(2);
  });

  it('include one list_changed for each change of the scopes, but none for a new order', () => {
    session = open('leads:read', 'leads:write');
    const stream = openStream();
    session.updateScopes(['leads:write', 'leads:read']);
    expect(stream.ids).toEqual([]);
    session.updateScopes(['leads:read']);
    session.updateScopes(['leads:read']);
    expect(stream.events).toMatchObject([{ id: 1, message: { method: LIST_CHANGED } }]);
    session.updateScopes([]);
    expect(stream.ids).toEqual([1, 2]);
  });
});

describe('the subscriptions of a session', () => {
  const idOf = (n: number) => `0198c0de-0000-7000-8000-${String(n).padStart(12, '0')}`;
  const uriOf = (n: number, name = 'lead') => `${name}://${idOf(n)}`;
  const inUpperCase = (uri: string) => uri.toUpperCase().replace('LEAD', 'lead');

  function resource(uri: string, scope: Scope = 'leads:read'): ReadResource {
    const canonicalUri = canonicalUriOf(uri);
    const [, id = ''] = canonicalUri.split('://');
    const kind = { name: 'lead', title: 'Lead', description: 'One lead.', scope };
    return { uri, canonicalUri, id, kind, record: {} };
  }

  const subscribe = (...numbers: number[]) => {
    for (const n of numbers) session.subscriptions.add(resource(uriOf(n)));
  };
  const change = (...numbers: number[]) => {
    for (const n of numbers) changes.publish('organization', idOf(n));
  };

  it('notify the client of a change with the URI that it wrote', () => {
    const written = inUpperCase(uriOf(10));
    session.subscriptions.add(resource(written));
    const stream = openStream();
    change(10, 11);
    expect(stream.events).toEqual([
      { id: 1, message: { jsonrpc: '2.0', method: UPDATED, params: { uri: written } } },
    ]);
  });

  it('notify once when a record is subscribed to twice', () => {
    session.subscriptions.add(resource(inUpperCase(uriOf(1))));
    subscribe(1);
    const stream = openStream();
    change(1);
    expect(stream.uris).toEqual([uriOf(1)]);
  });

  it('replay a few missed changes in order', () => {
    subscribe(1, 2);
    session.detachStream(openStream());
    change(1, 2, 1);
    const stream = openStream();
    expect(stream.ids).toEqual([1, 2, 3]);
    expect(stream.uris).toEqual([1, 2, 1].map((n) => uriOf(n)));
  });

  it('replay the latest change of every changed record when more changes are missed than events are kept', () => {
    const records = Array.from({ length: MAX_SUBSCRIPTIONS }, (_, n) => n);
    subscribe(...records);
    session.detachStream(openStream());
    // The first record changes once, long before the many changes of all others.
    change(0);
    session.notify(LIST_CHANGED);
    for (let round = 0; round < 10; round++) change(...records.slice(1));
    const stream = openStream();
    expect(new Set(stream.uris)).toEqual(new Set([undefined, ...records.map((n) => uriOf(n))]));
    expect(stream.events).toHaveLength(MAX_KEPT_EVENTS);
    expect(stream.ids).toEqual([...new Set(stream.ids)].sort((a, b) => a - b));
    const latest = 2 + 10 * (MAX_SUBSCRIPTIONS - 1);
    expect(stream.ids.slice(0, 2).concat(stream.ids.slice(-1))).toEqual([1, 2, latest]);
    session.detachStream(stream);
    expect(openStream(latest).ids).toEqual([]);
  });

  it('notify the next stream of a change that the open stream did not accept', () => {
    subscribe(1);
    session.attachStream({ send: () => false, close: () => undefined }, 1, 0);
    change(1);
    expect(openStream().uris).toEqual([uriOf(1)]);
  });

  it('are limited until one ends', () => {
    const added = Array.from({ length: MAX_SUBSCRIPTIONS }, (_, n) => {
      return session.subscriptions.add(resource(uriOf(n)));
    });
    expect(new Set(added)).toEqual(new Set([true]));
    expect(session.subscriptions.add(resource(uriOf(500)))).toBe(false);
    expect(session.subscriptions.add(resource(uriOf(3)))).toBe(true);
    session.subscriptions.remove(canonicalUriOf(uriOf(7)));
    expect(session.subscriptions.add(resource(uriOf(500)))).toBe(true);
  });

  it('notify of neither missed nor later changes after unsubscribing', () => {
    subscribe(1, 2);
    change(1, 2);
    session.subscriptions.remove(canonicalUriOf(uriOf(1)));
    change(1);
    expect(openStream().uris).toEqual([uriOf(2)]);
  });

  it('end for the kinds that the key may no longer read', () => {
    subscribe(1);
    session.subscriptions.add(resource(uriOf(2, 'task'), 'tasks:read'));
    change(1, 2);
    session.updateScopes(['leads:read']);
    change(1, 2);
    expect(openStream().events.map(({ message }) => message)).toMatchObject([
      { params: { uri: uriOf(1) } },
      { method: LIST_CHANGED },
      { params: { uri: uriOf(1) } },
    ]);
  });

  it('end with the session, which refuses new ones', () => {
    subscribe(1);
    const notify = jest.spyOn(session, 'notify');
    session.terminate();
    expect(session.subscriptions.add(resource(uriOf(2)))).toBe(false);
    change(1, 2);
    expect(notify).not.toHaveBeenCalled();
  });
});
