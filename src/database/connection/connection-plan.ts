import { MIN_CONNECTIONS } from '../../config/settings.js';

/** The numbers of connections of a process, by their use. */
export interface ConnectionPlan {
  /** Pooled connections for transactions and statements of unknown cost. */
  readonly pool: number;
  /** Connections for statements that read or write a few rows by an index. */
  readonly batches: number;
  /** Connections of the pool that may wait for locks. */
  readonly waiting: number;
}

/**
 * Divides the connections of a process. Batches need few, because each serves many requests.
 * @param most maximum number of connections, at least `MIN_CONNECTIONS` of the settings
 */
export function planConnections(most: number): ConnectionPlan {
  const batches = between(2, Math.floor(most / 2), 12);
  const pool = most - batches;
  return { pool, batches, waiting: between(1, Math.floor(pool * 0.4), 4) };
}

/** Divides the connections of an instance among its workers. */
export function connectionsOfWorker(workers: number, most: number): number {
  return Math.max(Math.floor(most / workers), MIN_CONNECTIONS);
}

function between(least: number, value: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
