import { ConnectionShortage } from './readiness.js';

describe('ConnectionShortage', () => {
  it('exceeds the limit after 5 seconds without a completed statement', () => {
    const shortage = new ConnectionShortage();
    expect(shortage.record(7, 1_000)).toBe(false);
    expect(shortage.record(7, 5_999)).toBe(false);
    expect(shortage.record(7, 6_000)).toBe(true);
  });

  it('never exceeds the limit while statements complete', () => {
    const shortage = new ConnectionShortage();
    const recorded = Array.from({ length: 20 }, (_, n) => shortage.record(n, n * 4_000));
    expect(recorded).not.toContain(true);
  });

  it('starts again after a connection was available', () => {
    const shortage = new ConnectionShortage();
    shortage.record(7, 0);
    shortage.end();
    expect(shortage.record(7, 9_000)).toBe(false);
    expect(shortage.record(7, 14_000)).toBe(true);
  });
});
