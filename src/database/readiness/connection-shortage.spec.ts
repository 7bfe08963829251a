import { ConnectionShortage } from './connection-shortage.js';

describe('a shortage of connections', () => {
  it('lasts too long after 5 seconds in which no statement completed', () => {
    const shortage = new ConnectionShortage();
    expect(shortage.note(7, 1_000)).toBe(false);
    expect(shortage.note(7, 5_999)).toBe(false);
    expect(shortage.note(7, 6_000)).toBe(true);
  });

  it('never lasts too long while statements complete', () => {
    const shortage = new ConnectionShortage();
    const noted = Array.from({ length: 20 }, (_, n) => shortage.note(n, n * 4_000));
    expect(noted).not.toContain(true);
  });

  it('begins anew after a connection was free', () => {
    const shortage = new ConnectionShortage();
    shortage.note(7, 0);
    shortage.end();
    expect(shortage.note(7, 9_000)).toBe(false);
    expect(shortage.note(7, 14_000)).toBe(true);
  });
});
