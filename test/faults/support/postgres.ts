import { openEmbeddedPostgres } from '../../../src/ops/embedded-postgres/embedded-postgres.js';
import { withPid } from '../../support/servers/postmaster.js';
import type { Connection } from '../../../src/ops/embedded-postgres/connection.js';

/** A PostgreSQL for fault tests. */
export interface Postgres {
  readonly connection: Connection;
  /** Process id of the postmaster. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** Opens an embedded PostgreSQL, which is restarted when it exits. */
export async function openPostgres(dataDir: string): Promise<Postgres> {
  return withPid(await openEmbeddedPostgres({ dataDir, role: 'server' }), dataDir);
}
