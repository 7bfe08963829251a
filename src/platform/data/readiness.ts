import { Injectable } from '@nestjs/common';
import pg from 'pg';
import { logger } from '../config/logger.js';
import { TimeoutError, withTimeout } from '../config/timeout.js';
import {
  INSUFFICIENT_PRIVILEGE,
  POOL_TIMEOUT,
  TOO_MANY_CONNECTIONS,
} from './connection/driver-error.js';
import { BatchConnections } from './gateway/batch-connections.js';
import { ConcurrencyLimit } from './gateway/policies.js';
import { SystemDatabase } from './gateway/system-database.js';
import { TenantDatabase } from './gateway/tenant-database.js';
import { updateTimesOf } from './records/tenant-entity.js';
import { TenantTables } from './records/tenant-tables.service.js';
import { COLUMN_PRIVILEGES } from './tenant-role/tenant-privileges.js';

/** How long an instance may have no free connection and no progress before it is unready. */
const MAX_STANDSTILL_MS = 5_000;

/**
 * Distinguishes overload from a standstill. Under overload, every connection is in use but statements
 * complete. An instance that became unready then would shift its load to the others.
 */
export class ConnectionShortage {
  private since: number | undefined;
  private completed = 0;

  /**
   * Records that no connection is free.
   * @param completed how many statements have completed since the start of the process
   * @param now milliseconds of a monotonic clock
   * @returns whether no statement has completed for too long
   */
  record(completed: number, now: number): boolean {
    if (this.since === undefined || completed !== this.completed) this.since = now;
    this.completed = completed;
    return now - this.since >= MAX_STANDSTILL_MS;
  }

  /** Records that a connection was free. */
  end(): void {
    this.since = undefined;
  }
}

/** Timeout of a part of a check. Many load balancers wait for one second only. */
const CHECK_MS = 900;

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

/** Tables with an `organization_id` that have no repository. */
const COMMON_TABLES = ['idempotency_keys', 'record_counts'];

/** An organization that does not exist: its reads use the tables and find nothing. */
const NO_ORGANIZATION = { tenant: { id: '00000000-0000-0000-0000-000000000000' } };

/** A problem only after a standstill. */
const NO_CONNECTION =
  'No connection to the database has become free, and no statement has completed, for 5 seconds.';

/** The role of requests may read the tables but not write to all of them, or not use them at all. */
const MISSING_GRANTS = 'The role that requests use lacks grants on tables or may not be used.';

const NO_REPLY = 'The database does not answer in time.';
const NO_COMMIT = 'The database does not commit writes in time.';

/** Checks whether requests can read from the database and write to it. */
@Injectable()
export class Readiness {
  private readonly shortage = new ConnectionShortage();
  /** The write that runs. Checks share it, so that a hanging write does not occupy more connections. */
  private writing: Promise<string | undefined> | undefined;
  /** Whether this write waits for a connection. */
  private isConnecting = false;
  /** The result of the last completed check. */
  private lastReason: string | undefined;
  /** Statements of the checks themselves, which do not count as progress. */
  private ownStatements = 0;

  constructor(
    private readonly connections: BatchConnections,
    private readonly tenantTables: TenantTables,
    private readonly database: TenantDatabase,
    private readonly shared: SystemDatabase,
    private readonly limit: ConcurrencyLimit,
  ) {}

  /** @returns why the instance is not ready, as a message for operators; undefined if it is */
  async check(): Promise<string | undefined> {
    const problems = await Promise.all([
      runCheck(this.readShared(), () => NO_REPLY),
      runCheck(this.readAsTenant(), () => NO_REPLY),
      this.isPoolExhausted ? NO_CONNECTION : runCheck(this.write(), () => this.lateWrite),
    ]);
    const reason = this.unreadyReasonOf(problems);
    if (reason !== this.lastReason) {
      if (reason === undefined) logger.info('the instance is ready again');
      else logger.warn({ reason }, 'the instance is not ready');
    }
    this.lastReason = reason;
    return reason;
  }

  private unreadyReasonOf(problems: readonly (string | undefined)[]): string | undefined {
    const found = problems.find((problem) => problem !== undefined && problem !== NO_CONNECTION);
    if (found !== undefined) return found;
    if (!problems.includes(NO_CONNECTION)) {
      this.shortage.end();
      return undefined;
    }
    const completed = this.limit.completed - this.ownStatements;
    return this.shortage.record(completed, performance.now()) ? NO_CONNECTION : undefined;
  }

  private get isPoolExhausted(): boolean {
    const { idleCount, waitingCount, totalCount, options } = this.connections.requests;
    return idleCount <= waitingCount && totalCount >= options.max;
  }

  /** The problem of a write that does not end in time. */
  private get lateWrite(): string {
    const isWaiting = this.isConnecting && this.connections.requests.waitingCount > 0;
    return isWaiting ? NO_CONNECTION : NO_COMMIT;
  }

  /** Reads the tables that requests read before their organization is known. */
  private async readShared(): Promise<undefined> {
    const text = 'select exists (select from api_keys) and exists (select from organizations)';
    await this.shared.read(text);
  }

  private write(): Promise<string | undefined> {
    this.writing ??= this.commitWrite().finally(() => {
      this.writing = undefined;
    });
    return this.writing;
  }

  /** Checks that the database commits writes. */
  private commitWrite(): Promise<string | undefined> {
    this.isConnecting = true;
    return this.connections.requests.use(async (client, limitTo) => {
      this.isConnecting = false;
      let backend: number | undefined = undefined;
      const cancel = () => this.shared.read(CANCEL, [backend]);
      limitTo(GIVE_UP_MS, () => void cancel().catch(() => undefined));
      // In a transaction, a pooler keeps the backend.
      const [, first] = await queryEach<{ pid: number }>(client, BEGIN);
      backend = first?.rows[0]?.pid;
      const results = await queryEach<{ read_only: boolean }>(client, WRITE);
      const isReadOnly = results.at(-2)?.rows[0]?.read_only !== false;
      return isReadOnly ? 'The database is read-only or a standby.' : undefined;
    });
  }

  /** Reads from every table as requests do. */
  private async readAsTenant(): Promise<string | undefined> {
    const names = this.tenantTables.all.flatMap((table) =>
      [table.name, updateTimesOf(table) ?? []].flat(),
    );
    const text = readStatement([...names, ...COMMON_TABLES]);
    const statement = { text, values: [NO_ORGANIZATION.tenant.id], plan: 'index' } as const;
    const [row] = await this.database.read<{ may_write: boolean }>(NO_ORGANIZATION, statement);
    this.ownStatements++;
    return row?.may_write ? undefined : MISSING_GRANTS;
  }
}

/**
 * A statement that fails without privileges to read, and returns whether the role may write. Of tables of which it uses some
 * columns only, each start checks the privileges.
 */
function readStatement(tables: readonly string[]): string {
  const rows = tables.map((table) => `exists (select from ${table} where organization_id = $1)`);
  const whole = tables.filter((table) => !(table in COLUMN_PRIVILEGES));
  const grants = whole.flatMap((table) =>
    ['insert', 'update', 'delete'].map((right) => `has_table_privilege('${table}', '${right}')`),
  );
  return `select ${rows.join(' or ')} as found, ${grants.join(' and ')} as may_write`;
}

/**
 * Runs a part of a check with a timeout.
 * @param work returns a problem, as a message for operators
 * @param late returns the problem after the timeout
 */
async function runCheck(
  work: Promise<string | undefined>,
  late: () => string,
): Promise<string | undefined> {
  try {
    return await withTimeout(work, CHECK_MS);
  } catch (error) {
    return error instanceof TimeoutError ? late() : problemOf(error);
  }
}

function problemOf(thrown: unknown): string {
  const error = (thrown as Error).cause ?? thrown;
  const code = error instanceof pg.DatabaseError ? error.code : undefined;
  if (code === TOO_MANY_CONNECTIONS || (error as Error).message === POOL_TIMEOUT) {
    return NO_CONNECTION;
  }
  if (code === INSUFFICIENT_PRIVILEGE) return MISSING_GRANTS;
  if (code !== undefined) return `The database refuses statements (SQLSTATE ${code}).`;
  return 'The database cannot be reached.';
}

/** Runs several statements, and returns the result of each. */
async function queryEach<Row extends object>(
  client: pg.ClientBase,
  statements: string,
): Promise<pg.QueryResult<Row>[]> {
  return (await client.query<Row>(statements)) as unknown as pg.QueryResult<Row>[];
}
