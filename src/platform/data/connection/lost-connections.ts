import type pg from 'pg';
import { logger } from '../../config/logger.js';

/** Logs the idle connections of a pool that are lost, until the pool ends. */
export function reportLostConnections(pool: pg.Pool): void {
  pool.on('error', ({ message }) => {
    if (!pool.ending) logger.warn({ reason: message }, 'a database connection was lost');
  });
}
