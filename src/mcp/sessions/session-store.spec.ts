import { randomUUID } from 'node:crypto';
import { setLogLevel } from '../../config/logger.js';
import type { Settings } from '../../config/settings.js';
import type { Instances } from '../../database/connection/instances.js';
import { ChangeBus } from '../../database/events/change-bus.js';
import type { Actor } from '../../tenancy/actor.js';
import type { Session } from './session.js';
import { SessionStore } from './session-store.js';
import type { SessionsRepository, ValidSession } from './sessions.repository.js';
import type { StoredSubscriptions } from './stored-subscriptions.js';

const MINUTE_MS = 60_000;
const TTL_SECONDS = 1_800;
const TERMS = { protocolVersion: '2025-11-25', clientName: 'test' };

const ALICE: Actor = {
  organization: { id: randomUUID(), name: 'Organization', phoneRegion: 'US' },
  key: { id: randomUUID(), name: 'k', expiresAt: null, userId: null },
  scopes: new Set(['leads:read']),
  channel: 'api',
};
const BOB: Actor = { ...ALICE, key: { ...ALICE.key, id: randomUUID() } };

const repository = {
  open: jest.fn<Promise<ReadonlySet<string>>, [{ id: string }[]]>(),
  find: jest.fn<Promise<object | undefined>, [string]>(),
  findValid: jest.fn<Promise<ValidSession[]>, [string[]]>(),
  writeUses: jest.fn<Promise<void>, [{ id: string; idle_seconds: number }[]]>(),
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
  repository.writeUses.mockResolvedValue();
  repository.delete.mockResolvedValue(true);
  mayShareDatabase.mockReset().mockResolvedValue(false);
  sessions = new SessionStore(
    repository as unknown as SessionsRepository,
    { replace: () => [], catchUp: () => Promise.resolve() } as unknown as StoredSubscriptions,
    new ChangeBus(),
    { mayShareDatabase } as unknown as Instances,
    { mcpSessionTtlSeconds: TTL_SECONDS } as Settings,
  );
});
afterEach(() => jest.useRealTimers());

function valid(id: string, isExpired = false): ValidSession {
  return { id, scopes: ['leads:read'], subscriptions: [], stream_number: 0, is_expired: isExpired };
}

function stored({ is_expired = false } = {}) {
  const now = new Date();
  const times = { age_ms: 0, last_used_at: now, read_at: now };
  return {
    ...{ key_id: ALICE.key.id, protocol_version: '2025-11-25', client_name: 'test' },
    ...{ subscriptions: [], ...times, is_expired },
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
    expect(repository.writeUses).not.toHaveBeenCalled();
  });

  it('writes its last use once a minute while it is used or has a stream', async () => {
    const [used, streaming, unused] = await Promise.all(
      [1, 2, 3].map(() => sessions.open(ALICE, TERMS)),
    );
    openStream(streaming!);
    await sessions.revalidate();
    jest.advanceTimersByTime(MINUTE_MS - 1_000);
    await sessions.use(used!.id, ALICE);
    await sessions.revalidate();
    expect(repository.writeUses).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1_000);
    await sessions.revalidate();
    await sessions.revalidate();
    expect(repository.writeUses.mock.calls).toEqual([
      [
        [
          { id: used!.id, idle_seconds: 1 },
          { id: streaming!.id, idle_seconds: 0 },
          { id: unused!.id, idle_seconds: 60 },
        ],
      ],
    ]);
    jest.advanceTimersByTime(MINUTE_MS);
    await sessions.revalidate();
    expect(repository.writeUses.mock.calls[1]).toEqual([[{ id: streaming!.id, idle_seconds: 0 }]]);
  });

  it('writes its last use at the next revalidation if the write fails', async () => {
    const { id } = await sessions.open(ALICE, TERMS);
    repository.writeUses.mockRejectedValueOnce(new Error('the database is unavailable'));
    jest.advanceTimersByTime(MINUTE_MS);
    await sessions.revalidate();
    await sessions.revalidate();
    expect(repository.writeUses).toHaveBeenCalledTimes(2);
    expect(repository.writeUses.mock.calls[1]).toEqual([[{ id, idle_seconds: 60 }]]);
  });

  it('stays open when the database is lost while the instances are counted', async () => {
    const { id } = await opened();
    repository.findValid.mockRejectedValueOnce(new Error('the database is unavailable'));
    mayShareDatabase.mockReturnValueOnce(new Promise(() => undefined));
    // A process ends when nothing handles a rejected promise.
    await expect(sessions.revalidate()).rejects.toThrow('the database is unavailable');
    expect([...sessions.all()].map((session) => session.id)).toEqual([id]);
  });

  it('is removed from memory without statements a minute after its use, unless it has a stream', async () => {
    const [unused, streaming] = await Promise.all([1, 2].map(() => sessions.open(ALICE, TERMS)));
    const stream = openStream(streaming!);
    jest.advanceTimersByTime(MINUTE_MS);
    await sessions.revalidate();
    expect([...sessions.all()]).toEqual([streaming]);
    expect(repository.delete).not.toHaveBeenCalled();
    streaming!.detachStream(stream);
    jest.advanceTimersByTime(MINUTE_MS);
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
    jest.advanceTimersByTime(10 * MINUTE_MS);
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

  it('continues if its last use is not written yet', async () => {
    const session = await opened();
    repository.find.mockResolvedValue(stored({ is_expired: true }));
    expect(await sessions.use(session.id, ALICE)).toBe(session);
    jest.advanceTimersByTime(TTL_SECONDS * 1_000 + 1);
    expect(await sessions.use(session.id, ALICE)).toBeUndefined();
  });

  it('is looked up before events are delivered, if it has a stream', async () => {
    const [streaming] = await Promise.all([opened(), opened()]);
    openStream(streaming);
    repository.findValid.mockClear();
    await sessions.refreshNotified();
    expect(repository.findValid.mock.calls).toEqual([[[streaming.id]]]);
  });
});

describe('a session that has expired by the clock of the database', () => {
  beforeEach(() => {
    repository.findValid.mockImplementation((ids) =>
      Promise.resolve(ids.map((id) => valid(id, true))),
    );
  });

  it('continues and writes its use if it was used within the time to live', async () => {
    const session = await sessions.open(ALICE, TERMS);
    jest.advanceTimersByTime(1_000);
    await sessions.revalidate();
    expect(sessions.use(session.id, ALICE)).toBe(session);
    expect(repository.writeUses.mock.calls).toEqual([[[{ id: session.id, idle_seconds: 1 }]]]);
  });

  it('ends if it was not used within the time to live', async () => {
    const session = await sessions.open(ALICE, TERMS);
    session.notify('notifications/tools/list_changed');
    jest.advanceTimersByTime(TTL_SECONDS * 1_000 + 1);
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
