/** How the connections of an instance are divided. */
export interface ConnectionPlan {
  /** For transactions, and for statements of unknown cost. */
  readonly pool: number;
  /** Pipelined connections that reads share. */
  readonly reads: number;
  /** Pipelined connections that writes share. They wait for the disk, which takes several at a time. */
  readonly writes: number;
  /** Pipelined connections for keys; the second one serves while the first is opened again. */
  readonly lookups: number;
  /** Connections of the pool that may wait for locks, whoever holds them for however long. */
  readonly waiting: number;
}

/**
 * Divides the connections that an instance may open. A few pipelined ones suffice: everything beyond
 * them belongs to the pool.
 * @param most at least `MIN_CONNECTIONS` of the settings
 */
export function planConnections(most: number): ConnectionPlan {
  const lookups = most < 12 ? 1 : 2;
  const reads = between(1, Math.floor(most / 6), 4);
  const writes = between(1, Math.floor(most / 3), 8);
  const pool = most - lookups - reads - writes;
  return { pool, reads, writes, lookups, waiting: between(1, Math.floor(pool * 0.4), 4) };
}

function between(least: number, value: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
