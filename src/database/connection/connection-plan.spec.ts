import { MIN_CONNECTIONS } from '../../config/settings.js';
import { planConnections } from './connection-plan.js';

describe('the division of connections', () => {
  it.each([MIN_CONNECTIONS, 6, 8, 11, 12, 23, 24, 25, 100, 1_000])('uses exactly %d', (most) => {
    const { pool, reads, writes, lookups, waiting } = planConnections(most);
    expect(pool + reads + writes + lookups).toBe(most);
    expect(Math.min(reads, writes, lookups, waiting)).toBeGreaterThanOrEqual(1);
    // The start migrates on two connections, and whoever waits for a lock keeps none from others.
    expect(pool).toBeGreaterThanOrEqual(2);
    expect(waiting).toBeLessThan(pool);
  });
});
