import type pg from 'pg';
import { destroyConnection } from '../connection/resilient-client.js';

/** The database accepts no writes: it is a standby or was set to read-only. */
export class ReadOnlyDatabase extends Error {}

/** A write is cancelled after this time, so that no server process waits for ever. */
const GIVE_UP_MS = 3_000;

const BEGIN = 'begin; select pg_backend_pid() as pid';

/**
 * A write without effect: a message in the write-ahead log. It commits like every write (to disk, and to
 * synchronous standbys) but needs no table and no lock. The generated rows spill into a temporary file of
 * about 60 KB, which fails on a full disk.
 */
const WRITE = `
  set local work_mem = '64kB';
  set local temp_tablespaces = '';
  select case when pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' then true
      else pg_logical_emit_message(true, 'latitude', 'readiness') is null end as read_only,
    (select count(*) from generate_series(1,
      case when current_setting('temp_file_limit') = '-1' then 3000 else 0 end)) as spilled;
  commit`;

/** How the probe gets a connection, and cancels a statement that hangs. */
export interface WriteProbeOptions {
  connect(): Promise<pg.PoolClient>;
  cancel(backend: number): Promise<unknown>;
}

/**
 * Checks that the database commits writes. Concurrent checks share one write, so that a hanging write
 * does not occupy more connections.
 */
export class WriteProbe {
  private pending: Promise<void> | undefined;
  /** Whether the pending write waits for a connection. */
  isConnecting = false;

  constructor(private readonly options: WriteProbeOptions) {}

  /**
   * Resolves when a write was committed.
   * @throws ReadOnlyDatabase, and any error of the driver
   */
  write(): Promise<void> {
    this.pending ??= this.attempt().finally(() => (this.pending = undefined));
    return this.pending;
  }

  private async attempt(): Promise<void> {
    this.isConnecting = true;
    const client = await this.options.connect().finally(() => {
      this.isConnecting = false;
    });
    let backend: number | undefined;
    const timer = setTimeout(() => {
      if (backend !== undefined) this.options.cancel(backend).catch(() => undefined);
      destroyConnection(client);
    }, GIVE_UP_MS);
    let isCommitted = false;
    try {
      // In a transaction, a pooler keeps the backend.
      const [, first] = await queryEach<{ pid: number }>(client, BEGIN);
      backend = first?.rows[0]?.pid;
      const results = await queryEach<{ read_only: boolean }>(client, WRITE);
      isCommitted = true;
      const written = results.at(-2)?.rows[0];
      if (written?.read_only !== false) throw new ReadOnlyDatabase();
    } finally {
      clearTimeout(timer);
      // Otherwise, the transaction may still be open.
      client.release(!isCommitted);
    }
  }
}

/** Runs several statements, and returns the result of each. */
async function queryEach<Row extends object>(
  client: pg.ClientBase,
  statements: string,
): Promise<pg.QueryResult<Row>[]> {
  return (await client.query<Row>(statements)) as unknown as pg.QueryResult<Row>[];
}
