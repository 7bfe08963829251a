import { Availability } from './availability.js';

const PROBLEM = 'it does not reply';

describe('a read replica', () => {
  let replica: Availability;

  beforeEach(() => {
    jest.useFakeTimers();
    replica = new Availability('host:5432');
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Checks each second until the replica is used, and returns the seconds. */
  function secondsUntilUsed(): number {
    let seconds = 0;
    for (; !replica.isUsed && seconds < 100; seconds++) {
      jest.advanceTimersByTime(1_000);
      replica.succeed();
    }
    return seconds;
  }

  it('is not used before a check has succeeded', () => {
    expect(replica.problem).toBe('it has not been checked yet');
    replica.succeed();
    expect(replica.isUsed).toBe(true);
  });

  it('is left out with its problem after a failure, for twice as long each time up to half a minute', () => {
    replica.succeed();
    const pauses = Array.from({ length: 7 }, () => {
      replica.fail(PROBLEM);
      expect(replica.problem).toBe(PROBLEM);
      return secondsUntilUsed();
    });
    expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30]);
  });

  it('is left out for a second again after it has been used for half a minute', () => {
    replica.succeed();
    for (let n = 0; n < 4; n++) {
      replica.fail(PROBLEM);
      secondsUntilUsed();
    }
    jest.advanceTimersByTime(31_000);
    replica.fail(PROBLEM);
    expect(secondsUntilUsed()).toBe(1);
  });

  it('is not left out for longer if it fails again while it is left out', () => {
    replica.succeed();
    for (let n = 0; n < 5; n++) replica.fail(PROBLEM);
    expect(secondsUntilUsed()).toBe(1);
  });
});
