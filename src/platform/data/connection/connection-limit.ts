import type { DataSource } from 'typeorm';
import { logger } from '../../config/logger.js';

/** A limit of -1 means that the role or the database has no limit. */
const FIND_LIMIT = `
  select least(
    current_setting('max_connections')::int
      - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0),
    (select nullif(rolconnlimit, -1) from pg_roles where rolname = session_user),
    (select nullif(datconnlimit, -1) from pg_database where datname = current_database())
  ) as "limit"`;

/** Logs a warning if the database allows fewer connections than this instance may open. */
export async function warnOfConnectionLimit(
  dataSource: DataSource,
  maxConnections: number,
): Promise<void> {
  const [row] = await dataSource.query<{ limit: number }[]>(FIND_LIMIT);
  if (!row || row.limit >= maxConnections) return;
  logger.warn(
    `DATABASE_MAX_CONNECTIONS lets this instance open up to ${maxConnections} connections, but the database ` +
      `allows ${row.limit}: requests fail under load`,
  );
}
