import type { EventFollower } from '../../events/event-follower.js';
import { setLogLevel } from '../../../platform/config/logger.js';
import type { Settings } from '../../../platform/config/settings.js';
import type { SessionStore } from './session-store.js';
import { SessionRevalidation } from './session-revalidation.js';

/** Sessions end within this time after their key becomes invalid. */
const SECOND_MS = 1_000;

const TTL_SECONDS = 5;

const revalidate = jest.fn<Promise<void>, []>();
const postponeEndsInUse = jest.fn<Promise<void>, []>();
let revalidation: SessionRevalidation;

beforeEach(() => {
  jest.useFakeTimers();
  setLogLevel('silent');
  revalidate.mockReset().mockResolvedValue();
  postponeEndsInUse.mockReset().mockResolvedValue();
  revalidation = new SessionRevalidation(
    { revalidate, postponeEndsInUse } as unknown as SessionStore,
    { beforeEvents: () => undefined } as unknown as EventFollower,
    { mcpSessionTtlSeconds: TTL_SECONDS } as Settings,
  );
  revalidation.onApplicationBootstrap();
});
afterEach(() => {
  revalidation.onModuleDestroy();
  jest.useRealTimers();
});

describe('SessionRevalidation', () => {
  it('revalidates sessions within a second, also after a failure', async () => {
    revalidate.mockRejectedValueOnce(new Error('the database is unavailable'));
    await jest.advanceTimersByTimeAsync(10 * SECOND_MS);
    expect(revalidate.mock.calls.length).toBeGreaterThanOrEqual(10);
  });

  it('looks for streams often enough that a session of five seconds always has that time left', async () => {
    postponeEndsInUse.mockRejectedValueOnce(new Error('the database is unavailable'));
    await jest.advanceTimersByTimeAsync(10 * SECOND_MS);
    expect(postponeEndsInUse.mock.calls.length).toBeGreaterThanOrEqual(100);
  });

  it('stops when the application stops', async () => {
    revalidation.onModuleDestroy();
    await jest.advanceTimersByTimeAsync(10 * SECOND_MS);
    expect(revalidate).not.toHaveBeenCalled();
    expect(postponeEndsInUse).not.toHaveBeenCalled();
  });
});
