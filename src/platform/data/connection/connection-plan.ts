/** The numbers of connections of a process, by their use. */
export interface ConnectionPlan {
  /** Pooled connections for transactions and statements of unknown cost. */
  readonly pool: number;
  /** Connections for statements across organizations. */
  readonly administration: number;
  /** Connections for statements that read or write a few rows by an index. */
  readonly batches: number;
  /** Connections of the pool that may wait for locks. */
  readonly waiting: number;
  /** Connections of the pool that may read a snapshot, which can take minutes. */
  readonly snapshots: number;
}

/**
 * Divides the connections of a process. Batches need few, because each serves many requests.
 * @param maxConnections maximum number of connections, at least `MIN_CONNECTIONS` of the settings
 */
export function planConnections(maxConnections: number): ConnectionPlan {
  const batches = clamp(Math.floor(maxConnections / 2), 2, 12);
  const administration = clamp(Math.floor(maxConnections / 8), 1, 3);
  const pool = maxConnections - batches - administration;
  // Waiting operations leave most connections to others, so that a locked record does not stop the process.
  const waiting = clamp(Math.floor((maxConnections - batches) * 0.4), 1, 4);
  // With few connections, a snapshot may take the last one of the pool. Batches still serve.
  const snapshots = clamp(pool - waiting - 1, 1, 2);
  return { pool, administration, batches, waiting, snapshots };
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}
