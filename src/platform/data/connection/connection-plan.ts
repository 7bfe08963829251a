/**
 * Divides the connections of a process:
 * - `pool`: for transactions and statements of unknown cost
 * - `background`: for background work and commands
 * - `batches`: for statements that read or write a few rows by an index. Few are needed, because each serves many
 *   requests.
 * - `waiting`: those of the pool that may wait for locks
 * - `snapshots`: those of the pool that may read a snapshot, which can take minutes
 * - `scans`: those of the pool that may run a filter that no index serves, which can take seconds
 * @param maxConnections maximum number of connections, at least `MIN_CONNECTIONS` of the settings
 */
export function planConnections(maxConnections: number) {
  const batches = clamp(Math.floor(maxConnections / 2), 2, 12);
  const background = clamp(Math.floor(maxConnections / 8), 1, 3);
  const pool = maxConnections - batches - background;
  // Waiting operations leave most connections to others, so that a locked record does not stop the process.
  const waiting = clamp(Math.floor((maxConnections - batches) * 0.4), 1, 4);
  // With few connections, a snapshot or a scan may take the last one of the pool. Batches still serve.
  const snapshots = clamp(pool - waiting - 1, 1, 2);
  const scans = clamp(pool - waiting - snapshots - 1, 1, 2);
  return { pool, background, batches, waiting, snapshots, scans };
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}
