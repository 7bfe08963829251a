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
 * The state of a replica for one position of the primary. `current` has every write up to it.
 */
export type ReplicaState =
  'current' | 'late' | 'no standby' | 'other database' | 'other timeline' | 'other isolation';

/** Why a replica cannot be used. */
export const STATE_PROBLEMS: Readonly<Record<ReplicaState, string | undefined>> = {
  current: undefined,
  late: 'it lags behind the primary',
  'no standby': 'it is not a standby but a primary',
  'other database': 'it is not a copy of the database of DATABASE_URL',
  'other timeline': 'it has not confirmed that it follows the server that was promoted last',
  'other isolation': 'its default_transaction_isolation is not read committed',
};

/**
 * The timeline in the control file of a standby. The applied log can be on a later timeline, but never on an
 * earlier one.
 */
const CONFIRMED_TIMELINE = `greatest((select timeline_id from pg_control_checkpoint()),
  (select min_recovery_end_timeline from pg_control_recovery()))`;

/** Whether the replica has reached the position `$1`. */
const HAS_REACHED = 'pg_last_wal_replay_lsn() >= $1::pg_lsn';

/**
 * SQL that returns the `ReplicaState`, and waits if the replica is late. The next statement of the same
 * transaction sees every write up to the position. This needs the isolation level read committed: at higher
 * levels, the statement would see the data from before the wait. Its parameters are `stateValues`.
 */
export const STATE_SQL = `case
    when not pg_is_in_recovery() then 'no standby'
    when current_setting('transaction_isolation') not in ('read committed', 'read uncommitted')
      then 'other isolation'
    when ${DATABASE_ID} <> $3::text then 'other database'
    when ${CONFIRMED_TIMELINE} <> $2::text::int then 'other timeline'
    when ${HAS_REACHED} or (
      with recursive checks(n, slept, reached) as (
        select 1, '', false
        union all select n + 1, pg_sleep(0.001)::text, ${HAS_REACHED} from checks
        where not reached and n <= ${MAX_CHECKS})
      select bool_or(reached) from checks) then 'current'
    else 'late' end`;

/** The parameters of `STATE_SQL`. */
export function stateValues({ lsn, timeline, database }: WalPosition): string[] {
  return [lsn, timeline, database];
}
