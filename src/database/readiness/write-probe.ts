import type pg from 'pg';
import { destroyConnection } from '../connection/resilient-client.js';

/** A database that answers but takes no writes: a standby, or one that was set to read-only. */
export class ReadOnlyDatabase extends Error {}

/** A write that takes longer is cancelled, so that no server process waits for ever. */
const GIVE_UP_MS = 3_000;

/**
 * A write that changes nothing: a message in the write-ahead log, which commits like every write
 * (to the disk, and to synchronous standbys) but needs no table and takes no lock. The rows spill
 * into a temporary file of some 60 KB, which a full disk refuses.
 */
const WRITE = `
  set local work_mem = '64kB';
  set local temp_tablespaces = '';
  select case when pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' then true
      else pg_logical_emit_message(true, 'latitude', 'readiness') is null end as read_only,
    (select count(*) from generate_series(1,
      case when current_setting('temp_file_limit') = '-1' then 3000 else 0 end)) as spilled`;

/** Where the probe gets a connection, and how it ends a statement that hangs on one. */
export interface WriteProbeOptions {
  connect(): Promise<[pg.PoolClient, release: () => void]>;
  cancel(backend: number): Promise<unknown>;
}

/**
 * Proves that the database commits writes. One write runs at a time: while it hangs, those who ask
 * share it instead of occupying one more connection each.
 */
export class WriteProbe {
  private pending: Promise<void> | undefined;
  /** Whether the pending write still waits for a connection. */
  isConnecting = false;

  constructor(private readonly options: WriteProbeOptions) {}

  /**
   * Resolves when a write was committed.
   * @throws ReadOnlyDatabase, and whatever the driver does
   */
  write(): Promise<void> {
    this.pending ??= this.attempt().finally(() => (this.pending = undefined));
    return this.pending;
  }

  private async attempt(): Promise<void> {
    this.isConnecting = true;
    const [client, release] = await this.options.connect().finally(() => {
      this.isConnecting = false;
    });
    let backend: number | undefined;
    const overdue = setTimeout(() => {
      if (backend !== undefined) this.options.cancel(backend).catch(() => undefined);
      destroyConnection(client);
    }, GIVE_UP_MS);
    try {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      backend = rows[0]?.pid;
      const results = (await client.query(WRITE)) as unknown as pg.QueryResult[];
      const written = results.at(-1)?.rows[0] as { read_only: boolean } | undefined;
      if (written?.read_only !== false) throw new ReadOnlyDatabase();
    } finally {
      clearTimeout(overdue);
      release();
    }
  }
}
