/** How an instance divides its connections. */
export interface ConnectionPlan {
  /** Pooled connections for transactions and statements of unknown cost. */
  readonly pool: number;
  /** Pipelined connections that reads share. */
  readonly reads: number;
  /** Pipelined connections that writes share. More of them let the disk commit several writes at once. */
  readonly writes: number;
  /** Pipelined connections for keys. The second one serves while the first reconnects. */
  readonly lookups: number;
  /** Connections of the pool that may wait for locks. */
  readonly waiting: number;
}

/**
 * Divides the connections of an instance. A few pipelined ones suffice; the pool gets the rest.
 * @param most maximum number of connections, at least `MIN_CONNECTIONS` of the settings
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
