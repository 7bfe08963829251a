import { DATABASE_ID, type WalPosition } from './primary-position.js';

/**
 * How often a replica checks, at intervals of a millisecond, whether it has reached a position. Within a
 * region, replicas are some milliseconds behind. The wait takes about as long as a page of a list on the
 * primary.
 */
const MAX_CHECKS = 20;

/**
 * The state of a replica for one position of the primary. `current` and `awaited` have every write up to it;
 * `awaited` had to wait for the last ones.
 */
export type ReplicaState =
  | 'current'
  | 'awaited'
  | 'late'
  | 'no standby'
  | 'other database'
  | 'other timeline'
  | 'other isolation';

/** Why a replica cannot be used. */
export const STATE_PROBLEMS: Readonly<Record<ReplicaState, string | undefined>> = {
  current: undefined,
  awaited: undefined,
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

/**
 * SQL that returns the `ReplicaState`, and waits if the replica is late. The next statement of the same
 * transaction sees every write up to the position. This needs the isolation level read committed: at higher
 * levels, the statement would see the data from before the wait.
 * @param first number of the first of the parameters, which are those of `stateValues`
 */
export function replicaStateSql(first: number): string {
  const [lsn, timeline, database] = [0, 1, 2].map((n) => `$${first + n}`);
  const hasReached = `pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn`;
  return `case
    when not pg_is_in_recovery() then 'no standby'
    when current_setting('transaction_isolation') not in ('read committed', 'read uncommitted')
      then 'other isolation'
    when ${DATABASE_ID} <> ${database}::text then 'other database'
    when ${CONFIRMED_TIMELINE} <> ${timeline}::text::int then 'other timeline'
    when ${hasReached} then 'current'
    when (
      with recursive checks(n, slept, reached) as (
        select 1, '', false
        union all select n + 1, pg_sleep(0.001)::text, ${hasReached} from checks
        where not reached and n <= ${MAX_CHECKS})
      select bool_or(reached) from checks) then 'awaited'
    else 'late' end`;
}

export function stateValues({ lsn, timeline, database }: WalPosition): string[] {
  return [lsn, timeline, database];
}
