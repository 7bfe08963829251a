import { randomUUID } from 'node:crypto';
import { setLogLevel } from '../../../platform/config/logger.js';
import type { Settings } from '../../../platform/config/settings.js';
import { ApiError } from '../../../platform/errors/api-error.js';
import type { Instances } from '../../../platform/data/instances.js';
import { ChangeBus } from '../../../platform/data/gateway/change-bus.js';
import type { Call } from '../../../platform/data/call.js';
import type { EventFollower } from '../../events/event-follower.js';
import { lifetimeOf } from './session-lifetime.js';
import type { Session } from './session.js';
import { SessionStore } from './session-store.js';
import type { SessionsRepository, StoredSession } from './sessions.repository.js';
import type { StoredSubscriptions } from './stored-subscriptions.js';

const MINUTE_MS = 60_000;
const TTL_MS = 30 * MINUTE_MS;
/** A session ends at the latest after this time without use. */
const LATEST_END_MS = 1.1 * TTL_MS;
const TERMS = { protocol_version: '2025-11-25', client_name: 'test' };

function callOf(name: string): Call {
  const key = { id: randomUUID(), name, expiresAt: null, userId: null };
  return {
    tenant: { id: randomUUID(), name: 'Organization', phoneRegion: 'US', timeZone: 'UTC' },
    actor: { key, scopes: new Set(['leads:read']), channel: 'api' },
  };
}

const ALICE = callOf('Alice');
const BOB: Call = { ...ALICE, actor: callOf('Bob').actor };

const repository = {
  open: jest.fn<Promise<ReadonlySet<string>>, [{ id: string }[]]>(),
  find: jest.fn<Promise<StoredSession[]>, [string[]]>(),
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
  repository.find.mockImplementation((ids) => Promise.resolve(ids.map((id) => stored(id))));
  repository.postponeEnds.mockImplementation((ids) => Promise.resolve(new Set(ids)));
  repository.delete.mockResolvedValue(true);
  mayShareDatabase.mockReset().mockResolvedValue(false);
  sessions = storeOf(TTL_MS / 1_000);
});
afterEach(() => jest.useRealTimers());

function storeOf(mcpSessionTtlSeconds: number): SessionStore {
  return new SessionStore(
    repository as unknown as SessionsRepository,
    { replace: () => [], catchUp: () => Promise.resolve() } as unknown as StoredSubscriptions,
    new ChangeBus(),
    { mayShareDatabase } as unknown as Instances,
    { beforeEvents: () => undefined } as unknown as EventFollower,
    { mcpSessionTtlSeconds } as Settings,
  );
}

function stored(id: string, remainingMs = TTL_MS): StoredSession {
  const now = new Date();
  return {
    id,
    key_id: ALICE.actor.key.id,
    grant_id: null,
    client_id: null,
    protocol_version: '2025-11-25',
    client_name: 'test',
    scopes: ['leads:read'],
    subscriptions: [],
    stream_number: 0,
    age_ms: 0,
    last_used_at: now,
    read_at: now,
    remaining_ms: remainingMs,
  };
}

/** What is stored about the next sessions that are looked up. */
function findStored(remainingMs: number): void {
  repository.find.mockImplementation((ids) =>
    Promise.resolve(ids.map((id) => stored(id, remainingMs))),
  );
}

/** Checks all sessions, as is done again and again. */
async function check(): Promise<void> {
  await sessions.revalidate();
  await sessions.postponeDueEnds();
}

/** A session of an instance that has looked for others. */
async function opened(): Promise<Session> {
  const session = await sessions.open(ALICE, TERMS);
  await check();
  return session;
}

/** @returns undefined when there is no such session or it has ended */
async function use(id: string, call: Call): Promise<Session | undefined> {
  try {
    return await sessions.find(id, call, 'not_found');
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return undefined;
    throw error;
  }
}

function openStream(session: Session) {
  const stream = { send: () => true, close: jest.fn() };
  sessions.attachStream(session, stream, 1, 0);
  return stream;
}

describe('a session that the instance knows', () => {
  it('is used without a statement, and only by its key', async () => {
    const session = await opened();
    repository.find.mockClear();
    expect(await use(session.id, ALICE)).toBe(session);
    await expect(use(session.id, BOB)).rejects.toMatchObject({ code: 'session_mismatch' });
    expect(repository.find).not.toHaveBeenCalled();
    expect(repository.postponeEnds).not.toHaveBeenCalled();
  });

  it('is looked up and written by a use that its stored end does not cover', async () => {
    const { id } = await opened();
    jest.advanceTimersByTime(LATEST_END_MS - TTL_MS);
    findStored(TTL_MS - 1);
    await use(id, ALICE);
    expect(repository.postponeEnds.mock.calls).toEqual([[[id]]]);
    repository.find.mockClear();
    await use(id, ALICE);
    expect(repository.find).not.toHaveBeenCalled();
  });

  it('always has its time to live left while it has a stream', async () => {
    const session = await opened();
    openStream(session);
    const { checkMs } = lifetimeOf({ mcpSessionTtlSeconds: TTL_MS / 1_000 } as Settings);
    for (let elapsedMs = 0; elapsedMs < 2 * TTL_MS; elapsedMs += checkMs) {
      jest.advanceTimersByTime(checkMs);
      expect(session.storedEnd - performance.now()).toBeGreaterThanOrEqual(TTL_MS);
      await check();
    }
    // Fewer statements than checks.
    expect(repository.postponeEnds.mock.calls.length).toBeLessThanOrEqual(2 * 50);
  });

  it('continues if its use cannot be written, which is tried again', async () => {
    const { id } = await opened();
    jest.advanceTimersByTime(LATEST_END_MS - TTL_MS);
    findStored(TTL_MS - 1);
    repository.postponeEnds.mockRejectedValueOnce(new Error('the disk is full'));
    expect(await use(id, ALICE)).toMatchObject({ id });
    jest.advanceTimersByTime(TTL_MS - 1);
    findStored(0);
    await check();
    findStored(TTL_MS);
    await check();
    expect(repository.postponeEnds.mock.calls).toEqual([[[id]], [[id]]]);
  });

  it('stays open when the database is lost while the instances are counted', async () => {
    const { id } = await opened();
    repository.find.mockRejectedValueOnce(new Error('the database is unavailable'));
    mayShareDatabase.mockReturnValueOnce(new Promise(() => undefined));
    // A process ends when nothing handles a rejected promise.
    await expect(sessions.revalidate()).rejects.toThrow('the database is unavailable');
    expect([...sessions.all()].map((session) => session.id)).toEqual([id]);
  });

  it('is removed from memory without statements if it is not used, unless it has a stream', async () => {
    const [unused, streaming] = await Promise.all([1, 2].map(() => sessions.open(ALICE, TERMS)));
    const stream = openStream(streaming!);
    jest.advanceTimersByTime(5 * MINUTE_MS);
    await check();
    expect([...sessions.all()]).toEqual([streaming]);
    expect(repository.delete).not.toHaveBeenCalled();
    streaming!.detachStream(stream);
    await check();
    expect([...sessions.all()]).toEqual([]);
    repository.find.mockClear();
    await check();
    expect(repository.find).not.toHaveBeenCalled();
    repository.find.mockResolvedValue([]);
    expect(await use(unused!.id, ALICE)).toBeUndefined();
    expect(repository.find).toHaveBeenCalledWith([unused!.id]);
  });

  it('is kept while it has notifications that its client has not received', async () => {
    const session = await sessions.open(ALICE, TERMS);
    session.notify('notifications/tools/list_changed');
    jest.advanceTimersByTime(LATEST_END_MS - MINUTE_MS);
    await check();
    expect([...sessions.all()]).toEqual([session]);
  });

  it('ends with its stream when it is no longer stored', async () => {
    const [ended, kept] = await Promise.all([1, 2].map(() => sessions.open(ALICE, TERMS)));
    const stream = openStream(ended!);
    repository.find.mockResolvedValue([stored(kept!.id)]);
    await check();
    expect([...sessions.all()]).toEqual([kept]);
    expect(stream.close).toHaveBeenCalledTimes(1);
  });
});

describe('a session that other instances may use', () => {
  beforeEach(() => {
    mayShareDatabase.mockResolvedValue(true);
    findStored(TTL_MS);
  });

  it('is looked up for each request, and only its key may use it', async () => {
    const session = await opened();
    expect(await use(session.id, ALICE)).toBe(session);
    expect(repository.find).toHaveBeenCalledWith([session.id]);
    await expect(use(session.id, BOB)).rejects.toMatchObject({ code: 'session_mismatch' });
  });

  it('has ended when it is no longer stored', async () => {
    const session = await opened();
    const stream = openStream(session);
    repository.find.mockResolvedValue([]);
    expect(await use(session.id, ALICE)).toBeUndefined();
    expect([...sessions.all()]).toEqual([]);
    expect(stream.close).toHaveBeenCalledTimes(1);
  });

  it('has ended when its stored end has passed', async () => {
    const session = await opened();
    jest.advanceTimersByTime(LATEST_END_MS);
    findStored(0);
    expect(await use(session.id, ALICE)).toBeUndefined();
    expect(await use(session.id, BOB)).toBeUndefined();
    expect(repository.postponeEnds).not.toHaveBeenCalled();
  });

  it('continues after another instance has postponed its end', async () => {
    const session = await opened();
    jest.advanceTimersByTime(LATEST_END_MS);
    expect(await use(session.id, ALICE)).toBeDefined();
    expect(repository.postponeEnds).not.toHaveBeenCalled();
  });

  it.each([
    ['less than its time to live left', TTL_MS - 1],
    ['more time left than its time to live allows, after a change of the setting', 2 * TTL_MS],
  ])('is written if it has %s', async (_, remainingMs) => {
    const { id } = await opened();
    findStored(remainingMs);
    await use(id, ALICE);
    expect(repository.postponeEnds.mock.calls).toEqual([[[id]]]);
  });

  it('has ended when another instance ends it while its use is written', async () => {
    const { id } = await opened();
    findStored(TTL_MS - 1);
    repository.postponeEnds.mockResolvedValue(new Set());
    expect(await use(id, ALICE)).toBeUndefined();
    expect([...sessions.all()]).toEqual([]);
  });

  it('is not written by another key', async () => {
    const { id } = await opened();
    findStored(1);
    await expect(use(id, BOB)).rejects.toMatchObject({ code: 'session_mismatch' });
    expect(repository.postponeEnds).not.toHaveBeenCalled();
  });

  it('is looked up before events are delivered, if it has a stream', async () => {
    const [streaming] = await Promise.all([opened(), opened()]);
    openStream(streaming);
    repository.find.mockClear();
    await sessions.refreshNotified();
    expect(repository.find.mock.calls).toEqual([[[streaming.id]]]);
  });
});

describe('a session that has ended by the clock of the database', () => {
  beforeEach(() => {
    findStored(0);
  });

  it('continues and is written if this instance knows of a later end', async () => {
    const session = await sessions.open(ALICE, TERMS);
    jest.advanceTimersByTime(1_000);
    await check();
    expect(await use(session.id, ALICE)).toBe(session);
    expect(repository.postponeEnds.mock.calls).toEqual([[[session.id]]]);
  });

  it('ends if it was not used within the time to live', async () => {
    const session = await sessions.open(ALICE, TERMS);
    session.notify('notifications/tools/list_changed');
    jest.advanceTimersByTime(LATEST_END_MS);
    await check();
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

  it('do not wait for an earlier one whose connection does not respond', async () => {
    repository.open.mockReturnValueOnce(new Promise(() => undefined));
    void sessions.open(ALICE, TERMS);
    await new Promise(setImmediate);
    await sessions.open(ALICE, TERMS);
    expect(repository.open).toHaveBeenCalledTimes(2);
  });
});

it('closes the stream of a terminated session and no longer knows the session', async () => {
  const session = await sessions.open(ALICE, TERMS);
  const stream = openStream(session);
  expect(await sessions.terminate(session)).toBe(true);
  repository.find.mockResolvedValue([]);
  expect(stream.close).toHaveBeenCalledTimes(1);
  expect(await use(session.id, ALICE)).toBeUndefined();
});

it('closes all open streams and every later one when the application shuts down', async () => {
  const opened = await Promise.all([1, 2, 3].map(() => sessions.open(ALICE, TERMS)));
  const streams = opened.map(openStream);
  sessions.beforeApplicationShutdown();
  streams.push(openStream(opened[0]!));
  for (const { close } of streams) expect(close).toHaveBeenCalledTimes(1);
});

describe('the checks of all sessions', () => {
  const SECOND_MS = 1_000;
  const revalidate = jest.spyOn(SessionStore.prototype, 'revalidate');
  const postponeDueEnds = jest.spyOn(SessionStore.prototype, 'postponeDueEnds');

  beforeEach(() => {
    for (const each of [revalidate, postponeDueEnds]) each.mockReset().mockResolvedValue();
    sessions = storeOf(TTL_MS / SECOND_MS);
    sessions.onApplicationBootstrap();
  });
  afterEach(() => {
    sessions.onModuleDestroy();
  });
  afterAll(() => {
    for (const each of [revalidate, postponeDueEnds]) each.mockRestore();
  });

  it('look them up within a second, also after a failure', async () => {
    revalidate.mockRejectedValueOnce(new Error('the database is unavailable'));
    await jest.advanceTimersByTimeAsync(10 * SECOND_MS);
    expect(revalidate.mock.calls.length).toBeGreaterThanOrEqual(10);
  });

  it('look for streams often enough that a session of five seconds always has that time left', async () => {
    sessions.onModuleDestroy();
    sessions = storeOf(5);
    sessions.onApplicationBootstrap();
    postponeDueEnds.mockRejectedValueOnce(new Error('the database is unavailable'));
    await jest.advanceTimersByTimeAsync(10 * SECOND_MS);
    expect(postponeDueEnds.mock.calls.length).toBeGreaterThanOrEqual(100);
  });

  it('look them up within a second while the use of sessions cannot be stored', async () => {
    postponeDueEnds.mockReturnValue(new Promise(() => undefined));
    await jest.advanceTimersByTimeAsync(100 * SECOND_MS);
    expect(postponeDueEnds).toHaveBeenCalledTimes(1);
    expect(revalidate.mock.calls.length).toBeGreaterThanOrEqual(100);
  });

  it('stop when the application stops', async () => {
    sessions.onModuleDestroy();
    await jest.advanceTimersByTimeAsync(10 * SECOND_MS);
    expect(revalidate).not.toHaveBeenCalled();
    expect(postponeDueEnds).not.toHaveBeenCalled();
  });
});
