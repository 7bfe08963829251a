import type { Authenticator } from '../../auth/authenticator.js';
import { setLogLevel } from '../../config/logger.js';
import type {
  SubscriptionStream,
  SubscriptionStreams,
} from '../subscriptions/subscription-streams.js';
import type { Session } from './session.js';
import type { SessionStore } from './session-store.js';
import { SessionRevalidation } from './session-revalidation.js';

/** The sessions and streams of a key end within this time after the key becomes invalid. */
const SECOND_MS = 1_000;

const activeKeys = new Map([
  ['alice', []],
  ['bob', []],
]);
const ownedBy = (keyId: string) => ({ keyId, updateScopes: () => undefined });
const sessions = [ownedBy('alice'), ownedBy('bob')] as unknown as Session[];
const streams = [ownedBy('bob'), ownedBy('alice')] as unknown as SubscriptionStream[];

const findScopes = jest.fn<Promise<ReadonlyMap<string, readonly string[]>>, []>();
const ended: unknown[] = [];
const end = (one: unknown) => ended.push(one);
let revalidation: SessionRevalidation;

beforeEach(() => {
  jest.useFakeTimers();
  setLogLevel('silent');
  ended.length = 0;
  findScopes.mockReset().mockResolvedValue(activeKeys);
  const store = { all: () => sessions, terminate: end, terminateExpired: () => undefined };
  revalidation = new SessionRevalidation(
    store as unknown as SessionStore,
    { all: () => streams, close: end } as unknown as SubscriptionStreams,
    { findScopes } as unknown as Authenticator,
  );
  revalidation.onApplicationBootstrap();
});
afterEach(() => {
  revalidation.onModuleDestroy();
  jest.useRealTimers();
});

describe('SessionRevalidation', () => {
  it('ends the sessions and streams of an invalid key within a second, and no others', async () => {
    await jest.advanceTimersByTimeAsync(10 * SECOND_MS);
    expect(ended).toEqual([]);
    findScopes.mockResolvedValue(new Map([['alice', []]]));
    await jest.advanceTimersByTimeAsync(SECOND_MS);
    expect(ended).toEqual([sessions[1], streams[0]]);
  });

  it('ends nothing when the lookup of the keys fails, and tries again', async () => {
    findScopes.mockRejectedValueOnce(new Error('the database is unavailable'));
    await jest.advanceTimersByTimeAsync(SECOND_MS);
    expect(ended).toEqual([]);
    findScopes.mockResolvedValue(new Map());
    await jest.advanceTimersByTimeAsync(SECOND_MS);
    expect(ended).toHaveLength(4);
  });

  it('stops when the application stops', async () => {
    revalidation.onModuleDestroy();
    await jest.advanceTimersByTimeAsync(10 * SECOND_MS);
    expect(findScopes).not.toHaveBeenCalled();
  });
});
