import { retryDelayMs } from '../../platform/jobs/job.js';
import { DELAYS, MAX_ATTEMPTS } from './webhooks.jobs.js';

const DAY_MS = 86_400_000;

/** The time from the first to the last attempt. */
const total = (random: number) =>
  Array.from({ length: MAX_ATTEMPTS - 1 }, (_, failed) =>
    retryDelayMs(DELAYS, failed + 1, random),
  ).reduce((sum, delay) => sum + delay);

describe('the delays between the attempts of a delivery', () => {
  it('begin with a second and grow by a quarter', () => {
    expect([1, 2, 3].map((failed) => retryDelayMs(DELAYS, failed, 1))).toEqual([
      1_000, 1_250, 1_563,
    ]);
  });

  it('are reduced at random by up to a quarter', () => {
    expect(retryDelayMs(DELAYS, 1, 0)).toBe(750);
  });

  it('are at most 12 hours', () => {
    expect(retryDelayMs(DELAYS, 52, 1)).toBe(DAY_MS / 2);
  });

  it('add up to more than the three days after which a failing webhook is disabled', () => {
    expect(total(0)).toBeGreaterThan(3 * DAY_MS);
    expect(total(1)).toBeLessThan(4.1 * DAY_MS);
  });
});
