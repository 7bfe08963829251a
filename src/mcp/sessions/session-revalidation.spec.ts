import type { EventFollower } from '../../events/event-follower.js';
import { setLogLevel } from '../../config/logger.js';
import type { SessionStore } from './session-store.js';
import { SessionRevalidation } from './session-revalidation.js';

/** Sessions end within this time after their key becomes invalid. */
const SECOND_MS = 1_000;

const revalidate = jest.fn<Promise<void>, []>();
let revalidation: SessionRevalidation;

beforeEach(() => {
  jest.useFakeTimers();
  setLogLevel('silent');
  revalidate.mockReset().mockResolvedValue();
  revalidation = new SessionRevalidation(
    { revalidate } as unknown as SessionStore,
    { beforeEvents: () => undefined } as unknown as EventFollower,
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

  it('stops when the application stops', async () => {
    revalidation.onModuleDestroy();
    await jest.advanceTimersByTimeAsync(10 * SECOND_MS);
    expect(revalidate).not.toHaveBeenCalled();
  });
});
