import { ConnectionShortage } from './connection-shortage.js';

describe('ConnectionShortage', () => {
  it('exceeds the limit after 5 seconds without a completed statement', () => {
    const shortage = new ConnectionShortage();
    expect(shortage.note(7, 1_000)).toBe(false);
    expect(shortage.note(7, 5_999)).toBe(false);
    expect(shortage.note(7, 6_000)).toBe(true);
  });

  it('never exceeds the limit while statements complete', () => {
    const shortage = new ConnectionShortage();
    const noted = Array.from({ length: 20 }, (_, n) => shortage.note(n, n * 4_000));
    expect(noted).not.toContain(true);
  });

  it('starts again after a connection was available', () => {
    const shortage = new ConnectionShortage();
    shortage.note(7, 0);
    shortage.end();
    expect(shortage.note(7, 9_000)).toBe(false);
    expect(shortage.note(7, 14_000)).toBe(true);
  });
});
