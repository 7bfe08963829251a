import pg from 'pg';
import { connectionOptions, POOL_WAIT_MS } from '../../connection/data-source-options.js';
import {
  ConnectionPool,
  destroyConnection,
  ResilientClient,
} from '../../connection/driver-pool.js';
import {
  LostConnectionError,
  type PipelineStatement,
} from '../../connection/statement-pipeline.js';
import type { Statement } from '../statement.js';
import { Deadline } from '../policies.js';
import { ORDERS_NAMES } from '../../names-collation.js';
import { Availability } from './availability.js';

/** A position in the write-ahead log of the primary. */
export interface WalPosition {
  readonly lsn: string;
  /** Rises with each promotion. The logs of two timelines differ. */
  readonly timeline: string;
  /** Identifies the cluster and the database in it. A standby has the same. */
  readonly database: string;
}

/** SQL that identifies the cluster and the database of a connection. */
const DATABASE_ID = `(select system_identifier from pg_control_system()) || ' ' || current_database()`;

/**
 * Finds the position after all commits that the primary has acknowledged. Without `synchronous_commit` they may not be
 * flushed yet.
 */
export const FIND_POSITION = `
  select case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn()
      else pg_current_wal_flush_lsn() end::text as lsn,
    ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int::text as timeline,
    ${DATABASE_ID} as database`;

/**
 * How often a replica checks, at intervals of a millisecond, whether it has reached a position. Within a
 * region, replicas are some milliseconds behind. The wait takes about as long as a page of a list on the
 * primary.
 */
const MAX_CHECKS = 20;

/**
 * The timeline in the control file of a standby. The applied log can be on a later timeline, but never on an
 * earlier one.
 */
const CONFIRMED_TIMELINE = `greatest((select timeline_id from pg_control_checkpoint()),
  (select min_recovery_end_timeline from pg_control_recovery()))`;

/** Whether the replica has reached the position `$1`. */
const HAS_REACHED = 'pg_last_wal_replay_lsn() >= $1::pg_lsn';

/**
 * SQL that returns why a replica cannot be used, or null if it has every write up to a position of the primary. It waits
 * if the replica is late. The next statement of the same transaction sees every write up to the position. This needs the
 * isolation level read committed: at higher levels, the statement would see the data from before the wait. Its
 * parameters are `problemValues`.
 */
const PROBLEM_SQL = `case
    when not pg_is_in_recovery() then 'it is not a standby but a primary'
    when current_setting('transaction_isolation') not in ('read committed', 'read uncommitted')
      then 'its default_transaction_isolation is not read committed'
    when ${DATABASE_ID} <> $3::text then 'it is not a copy of the database of DATABASE_URL'
    when ${CONFIRMED_TIMELINE} <> $2::text::int
      then 'it has not confirmed that it follows the server that was promoted last'
    when ${HAS_REACHED} or (
      with recursive checks(n, slept, reached) as (
        select 1, '', false
        union all select n + 1, pg_sleep(0.001)::text, ${HAS_REACHED} from checks
        where not reached and n <= ${MAX_CHECKS})
      select bool_or(reached) from checks) then null
    else 'it lags behind the primary' end`;

/** The statement in front of a read. Its parameters are `problemValues`. */
export const FIND_PROBLEM = `select ${PROBLEM_SQL} as problem`;

/** The parameters of `PROBLEM_SQL`. */
export function problemValues({ lsn, timeline, database }: WalPosition): string[] {
  return [lsn, timeline, database];
}

/** Timeout of a check. */
const CHECK_MS = 1_000;

/** Reads the state of a replica. Its parameters are `problemValues`. */
export const FIND_STATE = `select ${PROBLEM_SQL} as problem,
  pg_wal_lsn_diff($1::pg_lsn, pg_last_wal_replay_lsn())::float8 as lag, ${ORDERS_NAMES} as orders_names`;

/** The row of the first statement of a transaction: of `FIND_PROBLEM`, or of `FIND_STATE` with the other columns. */
export interface ReplicaState {
  readonly problem: string | null;
  readonly lag?: number | null;
  readonly orders_names?: boolean;
}

/**
 * Prefixes of the SQLSTATEs of a replica that refuses all reads: errors of the connection (08, 28, 3D, 53300,
 * 57P), of the isolation level serializable, which standbys do not support (0A), of a pooler without prepared
 * statements (26, 42P05), of missing privileges (42) and of a broken server (58, XX). Other errors depend on
 * the data of one organization or are temporary, such as a conflict with the recovery.
 */
const REFUSED = /^(08|0A|26|28|3D|42|53300|57P|58|XX)/;

const SILENT = 'it does not reply';

/** A read replica with its connections. */
export class Replica {
  /** How far the replica was behind the primary at the last check; undefined if it did not reply. */
  lagBytes: number | undefined;
  /** Whether it orders names as the indexes do, by the last check. */
  ordersNames = false;
  readonly availability: Availability;
  private readonly pool: ConnectionPool;
  private isChecking = false;
  private readonly clients = new Set<pg.PoolClient>();

  /** @param maxConnections at least two */
  constructor(
    url: string,
    applicationName: string,
    private readonly maxConnections: number,
  ) {
    this.pool = new ConnectionPool({
      ...connectionOptions(POOL_WAIT_MS),
      Client: ResilientClient,
      connectionString: url,
      application_name: applicationName,
      max: maxConnections,
    });
    // A lost connection also fails the statement that uses it, or the next check.
    this.pool.on('error', () => undefined);
    this.pool.on('connect', (client) => this.clients.add(client));
    this.pool.on('remove', (client) => this.clients.delete(client));
    const { host, port } = new pg.Client({ connectionString: url });
    this.availability = new Availability(`${host}:${port}`);
  }

  /** How many connections are in use or awaited, by reads and the check. */
  get running(): number {
    const { totalCount, idleCount, waitingCount } = this.pool;
    return totalCount - idleCount + waitingCount;
  }

  /** Whether the replica can run a read and has a free connection for it. One connection is for checks. */
  isFreeFor({ ordersNames = false }: Pick<Statement, 'ordersNames'>): boolean {
    const { isUsed } = this.availability;
    const reads = this.running - Number(this.isChecking);
    return isUsed && reads < this.maxConnections - 1 && (this.ordersNames || !ordersNames);
  }

  /**
   * Runs a read. A replica that cannot serve reads is left out.
   * @param statements `FIND_PROBLEM` and others; the last one is the read
   * @returns the rows; undefined if the primary has to run the read
   */
  async read<Row>(
    deadline: Deadline,
    statements: () => readonly PipelineStatement[],
  ): Promise<Row[] | undefined> {
    const results = await this.send(deadline, statements);
    return stateOf(results)?.problem === null ? (results?.at(-1) as Row[]) : undefined;
  }

  /** Checks whether the replica can be used, unless the last check is still running. */
  async check(position: WalPosition): Promise<void> {
    if (this.isChecking) return;
    this.isChecking = true;
    const statements = () => [{ text: FIND_STATE, values: problemValues(position) }];
    const state = stateOf(await this.send(new Deadline(CHECK_MS), statements));
    const { lag = null, orders_names = this.ordersNames } = state ?? {};
    this.ordersNames = orders_names;
    this.lagBytes = lag === null ? undefined : Math.max(0, lag);
    if (state?.problem === null) this.availability.succeed();
    this.isChecking = false;
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  /** @returns the rows of the statements; undefined if one failed */
  private async send(
    deadline: Deadline,
    statements: () => readonly PipelineStatement[],
  ): Promise<unknown[][] | undefined> {
    try {
      const results = await this.pool.send(deadline, statements);
      const problem = stateOf(results)?.problem;
      if (problem) this.availability.fail(problem);
      return results;
    } catch (error) {
      this.leaveOutAfter(error);
      return undefined;
    }
  }

  /**
   * Leaves the replica out, unless only a statement failed. If the replica is silent, its connections are
   * closed, so that no other read waits for it. A check can still be running when the pool is closed.
   */
  private leaveOutAfter(thrown: unknown): void {
    if (this.pool.ending) return;
    const error = thrown instanceof LostConnectionError ? thrown.cause : thrown;
    if (!(error instanceof pg.DatabaseError)) {
      this.availability.fail(SILENT, error);
      for (const client of this.clients) destroyConnection(client);
    } else if (REFUSED.test(error.code ?? '')) {
      this.availability.fail(`it refuses statements (SQLSTATE ${error.code})`);
    }
  }
}

function stateOf(results: readonly unknown[][] | undefined): ReplicaState | undefined {
  return results?.[0]?.[0] as ReplicaState | undefined;
}
