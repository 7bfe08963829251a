import pg from 'pg';
import { connectionOptions, POOL_WAIT_MS } from '../connection/data-source-options.js';
import { ConnectionPool } from '../connection/driver-pool.js';
import { destroyConnection, ResilientClient } from '../connection/resilient-client.js';
import { LostConnectionError } from '../connection/statement-pipeline.js';
import type { Statement } from '../gateway/statement.js';
import { Deadline } from '../gateway/policies.js';
import { ORDERS_NAMES } from '../names-collation.js';
import { Availability } from './availability.js';
import {
  type ReplicaState,
  STATE_PROBLEMS,
  STATE_SQL,
  stateValues,
  type WalPosition,
} from './replica-state.js';

/** Timeout of a check. */
const CHECK_MS = 1_000;

const CHECK = `select ${STATE_SQL} as state,
  pg_wal_lsn_diff($1::pg_lsn, pg_last_wal_replay_lsn())::float8 as lag, ${ORDERS_NAMES} as orders_names`;

interface ReplicaCheck {
  readonly state: ReplicaState;
  readonly lag: number | null;
  readonly orders_names: boolean;
}

/** The state of a replica in the transaction of a read, and the result. */
interface ReplicaAnswer<T> {
  readonly state: ReplicaState;
  readonly result: T;
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
  /** Number of running reads. */
  running = 0;
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

  /** Whether the replica can run a read and has a free connection for it. One connection is for checks. */
  isFreeFor({ ordersNames = false }: Pick<Statement, 'ordersNames'>): boolean {
    const { isUsed } = this.availability;
    return isUsed && this.running < this.maxConnections - 1 && (this.ordersNames || !ordersNames);
  }

  /**
   * Runs a read. A replica that cannot serve reads is left out.
   * @param read returns the state of the replica in its transaction, and the result
   * @returns the result; undefined if the primary has to run the read
   */
  async use<T>(
    deadline: Deadline,
    read: (client: pg.PoolClient) => Promise<ReplicaAnswer<T>>,
  ): Promise<T | undefined> {
    this.running++;
    try {
      return await this.attempt(deadline, read);
    } finally {
      this.running--;
    }
  }

  /** Checks whether the replica can be used, unless the last check is still running. */
  async check(position: WalPosition): Promise<void> {
    if (this.isChecking) return;
    this.isChecking = true;
    let behind = null as number | null;
    const isUsable = await this.attempt(new Deadline(CHECK_MS), async (client) => {
      const { rows } = await client.query<ReplicaCheck>(CHECK, stateValues(position));
      const [{ state, lag, orders_names }] = rows as [ReplicaCheck];
      this.ordersNames = orders_names;
      behind = lag;
      return { state, result: true };
    });
    this.lagBytes = behind === null ? undefined : Math.max(0, behind);
    if (isUsable) this.availability.succeed();
    this.isChecking = false;
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  private async attempt<T>(
    deadline: Deadline,
    read: (client: pg.PoolClient) => Promise<ReplicaAnswer<T>>,
  ): Promise<T | undefined> {
    try {
      const { state, result } = await this.pool.use((client, limitTo) => {
        limitTo(deadline.connectionMs);
        return read(client);
      });
      const problem = STATE_PROBLEMS[state];
      if (problem) this.availability.fail(problem);
      return problem ? undefined : result;
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
