import { randomUUID } from 'node:crypto';
import { setLogLevel } from '../../config/logger.js';
import { ChangeBus } from '../../events/change-bus.js';
import type { Actor } from '../../tenancy/actor.js';
import type { ResourceRegistry } from '../resources/resource-registry.js';
import type { Session } from './session.js';
import { SessionStore } from './session-store.js';
import type { SessionsRepository } from './sessions.repository.js';

const MINUTE_MS = 60_000;
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
  findScopes: jest.fn<Promise<ReadonlyMap<string, string[]>>, [string[]]>(),
  writeUses: jest.fn<Promise<void>, [{ id: string; idle_seconds: number }[]]>(),
  delete: jest.fn<Promise<boolean>, [string]>(),
};
let sessions: SessionStore;

beforeEach(() => {
  jest.useFakeTimers();
  setLogLevel('silent');
  for (const method of Object.values(repository)) method.mockReset();
  repository.open.mockImplementation((opened) =>
    Promise.resolve(new Set(opened.map(({ id }) => id))),
  );
  repository.findScopes.mockImplementation((ids) =>
    Promise.resolve(new Map(ids.map((id) => [id, ['leads:read']]))),
  );
  repository.writeUses.mockResolvedValue();
  repository.delete.mockResolvedValue(true);
  sessions = new SessionStore(
    repository as unknown as SessionsRepository,
    {} as ResourceRegistry,
    new ChangeBus(),
  );
});
afterEach(() => jest.useRealTimers());

function openStream(session: Session) {
  const stream = { send: () => true, close: jest.fn() };
  sessions.attachStream(session, stream, 0);
  return stream;
}

describe('a session that the instance knows', () => {
  it('is used without a statement, and only by its key', async () => {
    const session = await sessions.open(ALICE, TERMS);
    expect(sessions.use(session.id, ALICE)).toBe(session);
    expect(() => sessions.use(session.id, BOB)).toThrow(
      expect.objectContaining({ code: 'session_mismatch' }),
    );
    expect(repository.find).not.toHaveBeenCalled();
    expect(repository.writeUses).not.toHaveBeenCalled();
  });

  it('has its last use written once a minute, while it is used or has a stream', async () => {
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

  it('has its last use written by the next revalidation if the write fails', async () => {
    const { id } = await sessions.open(ALICE, TERMS);
    repository.writeUses.mockRejectedValueOnce(new Error('the database is unavailable'));
    jest.advanceTimersByTime(MINUTE_MS);
    await sessions.revalidate();
    await sessions.revalidate();
    expect(repository.writeUses).toHaveBeenCalledTimes(2);
    expect(repository.writeUses.mock.calls[1]).toEqual([[{ id, idle_seconds: 60 }]]);
  });

  it('is forgotten without statements a minute after its use, unless it has a stream', async () => {
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
    repository.findScopes.mockClear();
    await sessions.revalidate();
    expect(repository.findScopes).not.toHaveBeenCalled();
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
    repository.findScopes.mockResolvedValue(new Map([[kept!.id, []]]));
    await sessions.revalidate();
    expect([...sessions.all()]).toEqual([kept]);
    expect(stream.close).toHaveBeenCalledTimes(1);
  });
});

describe('sessions that are opened at the same time', () => {
  it('are stored together, after those before them', async () => {
    await Promise.all(Array.from({ length: 100 }, () => sessions.open(ALICE, TERMS)));
    expect(repository.open.mock.calls.map(([opened]) => opened.length)).toEqual([1, 99]);
  });

  it('fail together, without affecting later ones', async () => {
    repository.open.mockRejectedValueOnce(new Error('the database is unavailable'));
    const outcomes = await Promise.allSettled([1, 2].map(() => sessions.open(ALICE, TERMS)));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
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
