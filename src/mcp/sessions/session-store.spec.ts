import { readSettings } from '../../config/settings.js';
import { ChangeBus } from '../../events/change-bus.js';
import type { Actor } from '../../tenancy/actor.js';
import type { Session } from './session.js';
import { SessionStore } from './session-store.js';

const TTL_SECONDS = 60;
const LIMIT = 3;

let sessions: SessionStore;

beforeEach(() => {
  jest.useFakeTimers();
  const settings = { mcpMaxSessions: LIMIT, mcpSessionTtlSeconds: TTL_SECONDS };
  sessions = new SessionStore({ ...readSettings({}), ...settings }, new ChangeBus());
});
afterEach(() => jest.useRealTimers());

function actor(keyId: string): Actor {
  return {
    organization: { id: 'organization', name: 'Organization', phoneRegion: 'US' },
    key: { id: keyId, name: 'k', expiresAt: null, userId: null },
    scopes: new Set(['leads:read']),
    channel: 'api',
  };
}

const ALICE = actor('alice');
const BOB = actor('bob');

const pass = (seconds: number): void => {
  jest.advanceTimersByTime(seconds * 1_000);
};
const touch = ({ id }: Session, by = ALICE) => sessions.touch(id, by);
const openAll = () => Array.from({ length: LIMIT }, () => sessions.open(ALICE));

function openStream(session: Session) {
  const stream = { send: () => true, close: jest.fn() };
  sessions.attachStream(session, stream, 0);
  return stream;
}

describe('the time to live of a session', () => {
  it('ends a session that is not used in time', () => {
    const session = sessions.open(ALICE);
    pass(TTL_SECONDS);
    expect(touch(session)).toBeUndefined();
  });

  it('starts again with each use', () => {
    const session = sessions.open(ALICE);
    for (let n = 0; n < 5; n++) {
      pass(TTL_SECONDS - 1);
      expect(touch(session)).toBe(session);
    }
    pass(TTL_SECONDS);
    expect(touch(session)).toBeUndefined();
  });

  it('is not extended by another key, which gets session_mismatch', () => {
    const session = sessions.open(ALICE);
    pass(TTL_SECONDS - 1);
    expect(() => touch(session, BOB)).toThrow(
      expect.objectContaining({ code: 'session_mismatch' }),
    );
    pass(1);
    expect(touch(session)).toBeUndefined();
  });

  it('hides the expired session of another key', () => {
    const session = sessions.open(ALICE);
    pass(TTL_SECONDS);
    expect(touch(session, BOB)).toBeUndefined();
  });

  it('does not end a session with an open stream', () => {
    const session = sessions.open(ALICE);
    openStream(session);
    pass(10 * TTL_SECONDS);
    sessions.terminateExpired();
    expect(touch(session)).toBe(session);
  });

  it('starts again when a stream ends', () => {
    const session = sessions.open(ALICE);
    const stream = openStream(session);
    pass(10 * TTL_SECONDS);
    session.detachStream(stream);
    pass(TTL_SECONDS - 1);
    sessions.terminateExpired();
    expect([...sessions.all()]).toEqual([session]);
    pass(1);
    expect(touch(session)).toBeUndefined();
  });

  it('does not start again when a replaced stream ends', () => {
    const session = sessions.open(ALICE);
    const old = openStream(session);
    openStream(session);
    session.detachStream(old);
    pass(2 * TTL_SECONDS);
    expect(touch(session)).toBe(session);
  });

  it('is counted for each session separately', () => {
    const [one, two, three] = openAll();
    pass(TTL_SECONDS - 1);
    touch(two!);
    pass(1);
    expect([one, two, three].map((session) => touch(session!))).toEqual([
      undefined,
      two,
      undefined,
    ]);
  });
});

describe('the limit of sessions', () => {
  it('refuses one more session with too_many_sessions and Retry-After', () => {
    const ids = new Set(openAll().map(({ id }) => id));
    expect(ids.size).toBe(LIMIT);
    expect(() => sessions.open(BOB)).toThrow(
      expect.objectContaining({
        code: 'too_many_sessions',
        headers: { 'Retry-After': expect.stringMatching(/^[1-9]\d*$/) as string },
      }),
    );
    expect([...sessions.all()]).toHaveLength(LIMIT);
  });

  it('admits one session after one has been terminated', () => {
    const [session] = openAll();
    sessions.terminate(session!);
    sessions.open(BOB);
    expect(() => sessions.open(BOB)).toThrow();
  });

  it('admits new sessions as soon as all others have expired', () => {
    openAll();
    pass(TTL_SECONDS);
    expect(openAll()).toHaveLength(LIMIT);
    expect(() => sessions.open(ALICE)).toThrow();
  });

  it('still counts a session with an open stream when the others have expired', () => {
    const [session] = openAll();
    const stream = openStream(session!);
    pass(TTL_SECONDS);
    for (let n = 1; n < LIMIT; n++) sessions.open(BOB);
    expect(() => sessions.open(BOB)).toThrow();
    expect(stream.close).not.toHaveBeenCalled();
  });
});

it('closes the stream of a terminated session and no longer finds the session', () => {
  const session = sessions.open(ALICE);
  const stream = openStream(session);
  sessions.terminate(session);
  expect(stream.close).toHaveBeenCalledTimes(1);
  expect(touch(session)).toBeUndefined();
});

it('closes all open streams and every later one when the application shuts down', () => {
  const streams = openAll().map(openStream);
  sessions.beforeApplicationShutdown();
  const [session] = sessions.all();
  streams.push(openStream(session!));
  for (const { close } of streams) expect(close).toHaveBeenCalledTimes(1);
});
