import { Injectable } from '@nestjs/common';
import { SessionContext } from '../connection/session-context.js';
import { BatchConnections } from '../gateway/batch-connections.js';
import { BatchQueue } from '../gateway/queues.js';
import { Deadline } from '../gateway/policies.js';

/** A position in the write-ahead log of the primary. */
export interface WalPosition {
  readonly lsn: string;
  /** Rises with each promotion. The logs of two timelines differ. */
  readonly timeline: string;
  /** Identifies the cluster and the database in it. A standby has the same. */
  readonly database: string;
}

/** SQL that identifies the cluster and the database of a connection. */
export const DATABASE_ID = `(select system_identifier from pg_control_system()) || ' ' || current_database()`;

/** The position after all acknowledged commits. Without `synchronous_commit` they may not be flushed yet. */
const FIND_POSITION = `
  select case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn()
      else pg_current_wal_flush_lsn() end::text as lsn,
    ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int::text as timeline,
    ${DATABASE_ID} as database`;

/** Number of concurrent statements. A caller waits for at most one before its own is sent. */
const CONCURRENCY = 2;

/** Reads the position of the primary in its write-ahead log. */
@Injectable()
export class PrimaryPosition {
  private readonly queue = new BatchQueue<Deadline, WalPosition>(
    { concurrency: CONCURRENCY },
    (take) => this.readBatch(take),
  );

  constructor(
    private readonly connections: BatchConnections,
    private readonly context: SessionContext,
  ) {}

  /**
   * Returns a position that includes every write that any instance acknowledged before the call. Concurrent calls
   * share a statement that is sent after all of them.
   * @throws any error of the driver
   */
  read(deadline: Deadline): Promise<WalPosition> {
    return this.queue.add(deadline);
  }

  private readBatch(take: () => readonly Deadline[]): Promise<readonly WalPosition[]> {
    return this.connections.pool.use(async (client, limitTo) => {
      const batch = take();
      limitTo(Deadline.earliest(batch).connectionMs);
      const name = this.context.preparesStatements ? 'position' : undefined;
      const { rows } = await client.query<WalPosition>({ name, text: FIND_POSITION });
      return batch.flatMap(() => rows);
    });
  }
}
