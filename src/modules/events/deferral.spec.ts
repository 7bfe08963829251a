import { TimeBudget } from '../../platform/data/gateway/policies.js';
import { Deferral } from './deferral.js';

const load = { isHigh: jest.fn(() => true) };

beforeEach(() => {
  jest.useFakeTimers();
  load.isHigh.mockReturnValue(true);
});
afterEach(() => jest.useRealTimers());

describe('Deferral', () => {
  it('lets a handler wait for 30 seconds while the load is high', () => {
    const deferral = new Deferral(load as never, new TimeBudget());
    const mustWait = [0, 29_000, 1_000, 0].map((ms) => {
      jest.advanceTimersByTime(ms);
      return deferral.mustWait('a');
    });
    expect(mustWait).toEqual([true, true, false, false]);
  });

  it('begins the time again after a moment without load, and after a run', () => {
    const deferral = new Deferral(load as never, new TimeBudget());
    expect(deferral.mustWait('a')).toBe(true);
    load.isHigh.mockReturnValueOnce(false);
    expect(deferral.mustWait('a')).toBe(false);
    jest.advanceTimersByTime(29_000);
    expect(deferral.mustWait('a')).toBe(true);
    jest.advanceTimersByTime(30_000);
    expect(deferral.mustWait('a')).toBe(false);
    deferral.runs('a', 10, 10);
    expect(deferral.mustWait('a')).toBe(true);
  });

  it('lets a handler that is behind receive the events of its first run before it waits again', () => {
    const deferral = new Deferral(load as never, new TimeBudget());
    const afterRuns = [
      [500, 2_000],
      [1_000, 2_500],
      [2_000, 3_000],
    ].map(([position = 0, head = 0]) => {
      deferral.runs('a', position, head);
      return deferral.mustWait('a');
    });
    expect(afterRuns).toEqual([false, false, true]);
    expect(deferral.mustWait('b')).toBe(true);
  });
});
