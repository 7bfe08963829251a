import type { Authenticator } from '../../auth/authenticator.js';
import type { EventFollower } from '../../events/event-follower.js';
import { setLogLevel } from '../../config/logger.js';
import type {
  SubscriptionStream,
  SubscriptionStreams,
} from '../subscriptions/subscription-streams.js';
import type { SessionStore } from './session-store.js';
import { SessionRevalidation } from './session-revalidation.js';

/** Sessions and streams end within this time after their key becomes invalid. */
const SECOND_MS = 1_000;

const activeKeys = new Map([
  ['alice', []],
  ['bob', []],
]);
const ownedBy = (id: string) => ({
  key: { id, expiresAt: null },
  updateScopes: () => undefined,
});
const streams = [ownedBy('bob'), ownedBy('alice')] as unknown as SubscriptionStream[];

const findScopes = jest.fn<Promise<ReadonlyMap<string, readonly string[]>>, []>();
const revalidateSessions = jest.fn<Promise<void>, []>();
const ended: unknown[] = [];
let revalidation: SessionRevalidation;

beforeEach(() => {
  jest.useFakeTimers();
  setLogLevel('silent');
  ended.length = 0;
  findScopes.mockReset().mockResolvedValue(activeKeys);
  revalidateSessions.mockReset().mockResolvedValue();
  revalidation = new SessionRevalidation(
    { revalidate: revalidateSessions } as unknown as SessionStore,
    {
      all: () => streams,
      close: (one: unknown) => ended.push(one),
    } as unknown as SubscriptionStreams,
    { findScopes } as unknown as Authenticator,
    { beforeEvents: () => undefined } as unknown as EventFollower,
  );
  revalidation.onApplicationBootstrap();
});
afterEach(() => {
  revalidation.onModuleDestroy();
  jest.useRealTimers();
});

describe('SessionRevalidation', () => {
  it('revalidates sessions within a second', async () => {
    await jest.advanceTimersByTimeAsync(10 * SECOND_MS);
    expect(revalidateSessions.mock.calls.length).toBeGreaterThanOrEqual(10);
  });

  it('ends the streams of an invalid key within a second, and no others', async () => {
    await jest.advanceTimersByTimeAsync(10 * SECOND_MS);
    expect(ended).toEqual([]);
    findScopes.mockResolvedValue(new Map([['alice', []]]));
    await jest.advanceTimersByTimeAsync(SECOND_MS);
    expect(ended).toEqual([streams[0]]);
  });

  it('ends nothing when the lookup of the keys fails, and tries again', async () => {
    findScopes.mockRejectedValueOnce(new Error('the database is unavailable'));
    await jest.advanceTimersByTimeAsync(SECOND_MS);
    expect(ended).toEqual([]);
    findScopes.mockResolvedValue(new Map());
    await jest.advanceTimersByTimeAsync(SECOND_MS);
    expect(ended).toHaveLength(2);
  });

  it('stops when the application stops', async () => {
    revalidation.onModuleDestroy();
    await jest.advanceTimersByTimeAsync(10 * SECOND_MS);
    expect(findScopes).not.toHaveBeenCalled();
    expect(revalidateSessions).not.toHaveBeenCalled();
  });
});
