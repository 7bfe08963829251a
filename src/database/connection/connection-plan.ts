import { MIN_CONNECTIONS } from '../../config/settings.js';

/** The numbers of connections of a process, by their use. */
export interface ConnectionPlan {
  /** Pooled connections for transactions and statements of unknown cost. */
  readonly pool: number;
  /** Connections for single statements that read or write a few rows by an index. */
  readonly single: number;
  /** Connections that concurrent batches of reads share. */
  readonly sharedReads: number;
  /** Connections that concurrent batches of writes share. */
  readonly sharedWrites: number;
  /** Connections of the pool that may wait for locks. */
  readonly waiting: number;
}

/**
 * Divides the connections of a process. Short statements need few: a connection serves many requests.
 * @param maxConnections maximum number of connections, at least `MIN_CONNECTIONS` of the settings
 */
export function planConnections(maxConnections: number): ConnectionPlan {
  const short = clamp(Math.floor(maxConnections / 2), 3, 12);
  const sharedReads = clamp(Math.floor(short / 6), 1, 2);
  const sharedWrites = clamp(Math.floor(short / 3), 1, 4);
  const single = short - sharedReads - sharedWrites;
  const pool = maxConnections - short;
  return { pool, single, sharedReads, sharedWrites, waiting: clamp(Math.floor(pool * 0.4), 1, 4) };
}

/** Divides the connections of an instance among its workers. */
export function connectionsOfWorker(workers: number, maxConnections: number): number {
  return Math.max(Math.floor(maxConnections / workers), MIN_CONNECTIONS);
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}
