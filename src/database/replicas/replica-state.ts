import { DATABASE_ID, type WalPosition } from './primary-position.js';

/**
 * How often a replica looks, at intervals of a millisecond, whether it has reached a position. In one region
 * it is some milliseconds behind. A page of a list takes the primary about as long as this wait.
 */
const MAX_LOOKS = 20;

/**
 * The state of a replica for one position of the primary: `current` has every write up to it, and `awaited`
 * too, after some milliseconds.
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
  'no standby': 'it is no standby but a primary',
  'other database': 'it is no copy of the database of DATABASE_URL',
  'other timeline': 'it has not confirmed that it follows the server that was promoted last',
  'other isolation': 'its default_transaction_isolation is not read committed',
};

/**
 * The timeline that a standby has confirmed on its disk. The applied log may be on a later one, but never on an
 * earlier one.
 */
const CONFIRMED_TIMELINE = `greatest((select timeline_id from pg_control_checkpoint()),
  (select min_recovery_end_timeline from pg_control_recovery()))`;

/**
 * SQL of the `ReplicaState`, which waits for a late replica. Another statement that follows in the same
 * transaction sees what the state promises. At other isolation levels than read committed, it would see what
 * the replica had before the wait.
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
      with recursive looks(n, slept, reached) as (
        select 1, '', false
        union all select n + 1, pg_sleep(0.001)::text, ${hasReached} from looks
        where not reached and n <= ${MAX_LOOKS})
      select bool_or(reached) from looks) then 'awaited'
    else 'late' end`;
}

export function stateValues({ lsn, timeline, database }: WalPosition): string[] {
  return [lsn, timeline, database];
}
