import type pg from 'pg';
import type { ConnectionPool } from '../connection/driver-pool.js';
import type { SharedDatabase } from '../gateway/shared-database.js';

/** A write is cancelled after this time, so that no server process waits for ever. */
const GIVE_UP_MS = 3_000;

const BEGIN = 'begin; select pg_backend_pid() as pid';
const CANCEL = 'select pg_cancel_backend($1)';

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

/**
 * Checks that the database commits writes. Concurrent checks share one write, so that a hanging write
 * does not occupy more connections.
 */
export class WriteProbe {
  private pending: Promise<string | undefined> | undefined;
  /** Whether the pending write waits for a connection. */
  isConnecting = false;

  constructor(
    private readonly pool: ConnectionPool,
    private readonly database: SharedDatabase,
  ) {}

  /**
   * @returns a problem, or undefined if a write was committed
   * @throws any error of the driver
   */
  write(): Promise<string | undefined> {
    this.pending ??= this.attempt().finally(() => (this.pending = undefined));
    return this.pending;
  }

  private attempt(): Promise<string | undefined> {
    this.isConnecting = true;
    return this.pool.use(async (client, limitTo) => {
      this.isConnecting = false;
      let backend: number | undefined = undefined;
      const cancel = () => this.database.read(CANCEL, [backend]);
      limitTo(GIVE_UP_MS, () => void cancel().catch(() => undefined));
      // In a transaction, a pooler keeps the backend.
      const [, first] = await queryEach<{ pid: number }>(client, BEGIN);
      backend = first?.rows[0]?.pid;
      const results = await queryEach<{ read_only: boolean }>(client, WRITE);
      const isReadOnly = results.at(-2)?.rows[0]?.read_only !== false;
      return isReadOnly ? 'The database is read-only or a standby.' : undefined;
    });
  }
}

/** Runs several statements, and returns the result of each. */
async function queryEach<Row extends object>(
  client: pg.ClientBase,
  statements: string,
): Promise<pg.QueryResult<Row>[]> {
  return (await client.query<Row>(statements)) as unknown as pg.QueryResult<Row>[];
}
