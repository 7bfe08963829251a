import { readSettings } from '../../config/settings.js';
import { HealthService } from './health.service.js';

const SECOND_MS = 1_000;

let now = 0;

beforeEach(() => {
  now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** The delay after readiness checks that were the given seconds ago. */
async function delayAfter(secondsAgo: readonly number[], env: Record<string, string> = {}) {
  const [none, host] = [{} as never, { httpAdapter: { isDraining: true } } as never];
  const health = new HealthService([], none, none, none, host, readSettings(env));
  for (const seconds of secondsAgo) {
    now = -seconds * SECOND_MS;
    await health.checkReadiness();
  }
  now = 0;
  return health.shutdownDelaySeconds;
}

describe('the delay of a shutdown', () => {
  it('is 7 seconds while /health/ready is polled', async () => {
    expect(await delayAfter([3, 1])).toBe(7);
    expect(await delayAfter([59, 29])).toBe(7);
  });

  it('is 0 if nothing polls /health/ready', async () => {
    for (const checks of [[], [1], [61, 1], [80, 70]]) expect(await delayAfter(checks)).toBe(0);
  });

  it.each(['0', '5'])('is that of the setting: SHUTDOWN_DELAY_SECONDS=%s', async (value) => {
    for (const checks of [[], [3, 1]]) {
      const delay = await delayAfter(checks, { SHUTDOWN_DELAY_SECONDS: value });
      expect(delay).toBe(Number(value));
    }
  });
});
