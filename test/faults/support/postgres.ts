import { openEmbeddedPostgres } from '../../../src/embedded-postgres/embedded-postgres.js';
import type { Connection } from '../../../src/embedded-postgres/connection.js';

/** A PostgreSQL that a test can do things to. */
export interface Postgres {
  readonly connection: Connection;
  /** Of the postmaster, its first process. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** An embedded PostgreSQL, which is started again when it ends. */
export function openPostgres(dataDir: string): Promise<Postgres> {
  return openEmbeddedPostgres({ dataDir, role: 'server' });
}
