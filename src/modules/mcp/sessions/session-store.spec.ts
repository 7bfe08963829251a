import { randomUUID } from 'node:crypto';
import { setLogLevel } from '../../../platform/config/logger.js';
import type { Settings } from '../../../platform/config/settings.js';
import type { Instances } from '../../../platform/data/instances.js';
import { ChangeBus } from '../../../platform/data/gateway/change-bus.js';
import type { Call } from '../../../platform/data/call.js';
import { lifetimeOf } from './session-lifetime.js';
import type { Session } from './session.js';
import { SessionStore } from './session-store.js';
import type { SessionsRepository, ValidSession } from './sessions.repository.js';
import type { StoredSubscriptions } from './stored-subscriptions.js';

const MINUTE_MS = 60_000;
const TTL_MS = 30 * MINUTE_MS;
/** A session ends at the latest after this time without use. */
const LATEST_END_MS = 1.1 * TTL_MS;
const TERMS = { protocolVersion: '2025-11-25', clientName: 'test' };

function callOf(name: string): Call {
  const key = { id: randomUUID(), name, expiresAt: null, userId: null };
  return {
    tenant: { id: randomUUID(), name: 'Organization', phoneRegion: 'US' },
    actor: { key, scopes: new Set(['leads:read']), channel: 'api' },
  };
}

const ALICE = callOf('Alice');
const BOB: Call = { ...ALICE, actor: callOf('Bob').actor };

const repository = {
  open: jest.fn<Promise<ReadonlySet<string>>, [{ id: string }[]]>(),
  find: jest.fn<Promise<object | undefined>, [string]>(),
  findValid: jest.fn<Promise<ValidSession[]>, [string[]]>(),
  postponeEnds: jest.fn<Promise<ReadonlySet<string>>, [string[]]>(),
  delete: jest.fn<Promise<boolean>, [string]>(),
};
const mayShareDatabase = jest.fn<Promise<boolean>, []>();
let sessions: SessionStore;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  setLogLevel('silent');
  for (const method of Object.values(repository)) method.mockReset();
  repository.open.mockImplementation((opened) =>
    Promise.resolve(new Set(opened.map(({ id }) => id))),
  );
  repository.findValid.mockImplementation((ids) => Promise.resolve(ids.map((id) => valid(id))));
  repository.postponeEnds.mockImplementation((ids) => Promise.resolve(new Set(ids)));
  repository.delete.mockResolvedValue(true);
  mayShareDatabase.mockReset().mockResolvedValue(false);
  sessions = new SessionStore(
    repository as unknown as SessionsRepository,
    { replace: () => [], catchUp: () => Promise.resolve() } as unknown as StoredSubscriptions,
    new ChangeBus(),
    { mayShareDatabase } as unknown as Instances,
    { mcpSessionTtlSeconds: TTL_MS / 1_000 } as Settings,
  );
});
afterEach(() => jest.useRealTimers());

function valid(id: string, hasEnded = false): ValidSession {
  return { id, scopes: ['leads:read'], subscriptions: [], stream_number: 0, has_ended: hasEnded };
}

function stored(remainingMs = TTL_MS) {
  const now = new Date();
  const times = { age_ms: 0, last_used_at: now, read_at: now };
  return {
    ...{
      key_id: ALICE.actor.key.id,
      grant_id: null,
      protocol_version: '2025-11-25',
      client_name: 'test',
    },
    ...{ subscriptions: [], ...times, remaining_ms: remainingMs },
  };
}

/** A session of an instance that has looked for others. */
async function opened(): Promise<Session> {
  const session = await sessions.open(ALICE, TERMS);
  await sessions.revalidate();
  return session;
}

function openStream(session: Session) {
  const stream = { send: () => true, close: jest.fn() };
  sessions.attachStream(session, stream, 1, 0);
  return stream;
}

describe('a session that the instance knows', () => {
  it('is used without a statement, and only by its key', async () => {
    const session = await opened();
    expect(sessions.use(session.id, ALICE)).toBe(session);
    expect(() => sessions.use(session.id, BOB)).toThrow(
      expect.objectContaining({ code: 'session_mismatch' }),
    );
    expect(repository.find).not.toHaveBeenCalled();
    expect(repository.postponeEnds).not.toHaveBeenCalled();
  });

  it('is looked up and written by a use that its stored end does not cover', async () => {
    const { id } = await opened();
    jest.advanceTimersByTime(LATEST_END_MS - TTL_MS);
    repository.find.mockResolvedValue(stored(TTL_MS - 1));
    await sessions.use(id, ALICE);
    expect(repository.postponeEnds.mock.calls).toEqual([[[id]]]);
    repository.find.mockClear();
    await sessions.use(id, ALICE);
    expect(repository.find).not.toHaveBeenCalled();
  });

  it('always has its time to live left while it has a stream', async () => {
    const session = await opened();
    openStream(session);
    const { pauseMs } = lifetimeOf({ mcpSessionTtlSeconds: TTL_MS / 1_000 } as Settings);
    for (let elapsedMs = 0; elapsedMs < 2 * TTL_MS; elapsedMs += pauseMs) {
      jest.advanceTimersByTime(pauseMs);
      expect(session.endsAt - performance.now()).toBeGreaterThanOrEqual(TTL_MS);
      await sessions.postponeEndsInUse();
    }
    // Fewer statements than checks.
    expect(repository.postponeEnds.mock.calls.length).toBeLessThanOrEqual(2 * 50);
  });

  it('continues if its use cannot be written, which is tried again', async () => {
    const { id } = await opened();
    jest.advanceTimersByTime(LATEST_END_MS - TTL_MS);
    repository.find.mockResolvedValue(stored(TTL_MS - 1));
    repository.postponeEnds.mockRejectedValueOnce(new Error('the disk is full'));
    expect(await sessions.use(id, ALICE)).toMatchObject({ id });
    jest.advanceTimersByTime(TTL_MS - 1);
    repository.findValid.mockResolvedValue([valid(id, true)]);
    await sessions.postponeEndsInUse();
    await sessions.postponeEndsInUse();
    expect(repository.postponeEnds.mock.calls).toEqual([[[id]], [[id]]]);
  });

  it('stays open when the database is lost while the instances are counted', async () => {
    const { id } = await opened();
    repository.findValid.mockRejectedValueOnce(new Error('the database is unavailable'));
    mayShareDatabase.mockReturnValueOnce(new Promise(() => undefined));
    // A process ends when nothing handles a rejected promise.
    await expect(sessions.revalidate()).rejects.toThrow('the database is unavailable');
    expect([...sessions.all()].map((session) => session.id)).toEqual([id]);
  });

  it('is removed from memory without statements if it is not used, unless it has a stream', async () => {
    const [unused, streaming] = await Promise.all([1, 2].map(() => sessions.open(ALICE, TERMS)));
    const stream = openStream(streaming!);
    jest.advanceTimersByTime(5 * MINUTE_MS);
    await sessions.revalidate();
    expect([...sessions.all()]).toEqual([streaming]);
    expect(repository.delete).not.toHaveBeenCalled();
    streaming!.detachStream(stream);
    await sessions.revalidate();
    expect([...sessions.all()]).toEqual([]);
    repository.findValid.mockClear();
    await sessions.revalidate();
    expect(repository.findValid).not.toHaveBeenCalled();
    repository.find.mockResolvedValue(undefined);
    expect(await sessions.use(unused!.id, ALICE)).toBeUndefined();
    expect(repository.find).toHaveBeenCalledWith(unused!.id);
  });

  it('is kept while it has notifications that its client has not received', async () => {
    const session = await sessions.open(ALICE, TERMS);
    session.notify('notifications/tools/list_changed');
    jest.advanceTimersByTime(LATEST_END_MS - MINUTE_MS);
    await sessions.revalidate();
    expect([...sessions.all()]).toEqual([session]);
  });

  it('ends with its stream when it is no longer stored', async () => {
    const [ended, kept] = await Promise.all([1, 2].map(() => sessions.open(ALICE, TERMS)));
    const stream = openStream(ended!);
    repository.findValid.mockResolvedValue([valid(kept!.id)]);
    await sessions.revalidate();
    expect([...sessions.all()]).toEqual([kept]);
    expect(stream.close).toHaveBeenCalledTimes(1);
  });
});

describe('a session that other instances may use', () => {
  beforeEach(() => {
    mayShareDatabase.mockResolvedValue(true);
    repository.find.mockResolvedValue(stored());
  });

  it('is looked up for each request, and only its key may use it', async () => {
    const session = await opened();
    expect(await sessions.use(session.id, ALICE)).toBe(session);
    expect(repository.find).toHaveBeenCalledWith(session.id);
    await expect(sessions.use(session.id, BOB)).rejects.toMatchObject({ code: 'session_mismatch' });
  });

  it('has ended when it is no longer stored', async () => {
    const session = await opened();
    const stream = openStream(session);
    repository.find.mockResolvedValue(undefined);
    expect(await sessions.use(session.id, ALICE)).toBeUndefined();
    expect([...sessions.all()]).toEqual([]);
    expect(stream.close).toHaveBeenCalledTimes(1);
  });

  it('has ended when its stored end has passed', async () => {
    const session = await opened();
    jest.advanceTimersByTime(LATEST_END_MS);
    repository.find.mockResolvedValue(stored(0));
    expect(await sessions.use(session.id, ALICE)).toBeUndefined();
    await expect(Promise.resolve(sessions.use(session.id, BOB))).resolves.toBeUndefined();
    expect(repository.postponeEnds).not.toHaveBeenCalled();
  });

  it('continues after another instance has postponed its end', async () => {
    const session = await opened();
    jest.advanceTimersByTime(LATEST_END_MS);
    expect(await sessions.use(session.id, ALICE)).toBeDefined();
    expect(repository.postponeEnds).not.toHaveBeenCalled();
  });

  it.each([
    ['less than its time to live left', TTL_MS - 1],
    ['more time left than its time to live allows, after a change of the setting', 2 * TTL_MS],
  ])('is written if it has %s', async (_, remainingMs) => {
    const { id } = await opened();
    repository.find.mockResolvedValue(stored(remainingMs));
    await sessions.use(id, ALICE);
    expect(repository.postponeEnds.mock.calls).toEqual([[[id]]]);
  });

  it('has ended when another instance ends it while its use is written', async () => {
    const { id } = await opened();
    repository.find.mockResolvedValue(stored(TTL_MS - 1));
    repository.postponeEnds.mockResolvedValue(new Set());
    expect(await sessions.use(id, ALICE)).toBeUndefined();
    expect([...sessions.all()]).toEqual([]);
  });

  it('is not written by another key', async () => {
    const { id } = await opened();
    repository.find.mockResolvedValue(stored(1));
    await expect(sessions.use(id, BOB)).rejects.toMatchObject({ code: 'session_mismatch' });
    expect(repository.postponeEnds).not.toHaveBeenCalled();
  });

  it('is looked up before events are delivered, if it has a stream', async () => {
    const [streaming] = await Promise.all([opened(), opened()]);
    openStream(streaming);
    repository.findValid.mockClear();
    await sessions.refreshNotified();
    expect(repository.findValid.mock.calls).toEqual([[[streaming.id]]]);
  });
});

describe('a session that has ended by the clock of the database', () => {
  beforeEach(() => {
    repository.findValid.mockImplementation((ids) =>
      Promise.resolve(ids.map((id) => valid(id, true))),
    );
  });

  it('continues and is written if this instance knows of a later end', async () => {
    const session = await sessions.open(ALICE, TERMS);
    jest.advanceTimersByTime(1_000);
    await sessions.revalidate();
    expect(sessions.use(session.id, ALICE)).toBe(session);
    expect(repository.postponeEnds.mock.calls).toEqual([[[session.id]]]);
  });

  it('ends if it was not used within the time to live', async () => {
    const session = await sessions.open(ALICE, TERMS);
    session.notify('notifications/tools/list_changed');
    jest.advanceTimersByTime(LATEST_END_MS);
    await sessions.revalidate();
    expect([...sessions.all()]).toEqual([]);
  });
});

describe('sessions that are opened at the same time', () => {
  it('are stored together', async () => {
    await Promise.all(Array.from({ length: 100 }, () => sessions.open(ALICE, TERMS)));
    expect(repository.open.mock.calls.map(([opened]) => opened.length)).toEqual([100]);
  });

  it('fail together, without affecting later ones', async () => {
    repository.open.mockRejectedValueOnce(new Error('the database is unavailable'));
    const outcomes = await Promise.allSettled([1, 2].map(() => sessions.open(ALICE, TERMS)));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await sessions.open(ALICE, TERMS);
  });
});

it('closes the stream of a terminated session and no longer knows the session', async () => {
  const session = await sessions.open(ALICE, TERMS);
  const stream = openStream(session);
  expect(await sessions.terminate(session)).toBe(true);
  expect(stream.close).toHaveBeenCalledTimes(1);
  expect(await sessions.use(session.id, ALICE)).toBeUndefined();
});

it('closes all open streams and every later one when the application shuts down', async () => {
  const opened = await Promise.all([1, 2, 3].map(() => sessions.open(ALICE, TERMS)));
  const streams = opened.map(openStream);
  sessions.beforeApplicationShutdown();
  streams.push(openStream(opened[0]!));
  for (const { close } of streams) expect(close).toHaveBeenCalledTimes(1);
});
