import { MIN_CONNECTIONS } from '../../config/settings.js';
import { planConnections } from './connection-plan.js';

describe('planConnections', () => {
  it.each([MIN_CONNECTIONS, 6, 8, 11, 12, 23, 24, 25, 100, 1_000])(
    'distributes exactly %d connections',
    (maxConnections) => {
      const { pool, background, batches, waiting, snapshots, scans } =
        planConnections(maxConnections);
      expect(pool + background + batches).toBe(maxConnections);
      expect(Math.min(background, batches, waiting)).toBeGreaterThanOrEqual(1);
      // Migrations need two connections, and operations that wait for locks must leave some to others.
      expect(pool).toBeGreaterThanOrEqual(2);
      expect(waiting).toBeLessThan(pool);
      expect(snapshots).toBeGreaterThanOrEqual(1);
      expect(snapshots).toBeLessThan(pool);
      expect(scans).toBeGreaterThanOrEqual(1);
      expect(scans).toBeLessThan(pool);
      if (maxConnections >= 24) expect(waiting + snapshots + scans).toBeLessThan(pool);
    },
  );
});
