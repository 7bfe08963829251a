import { type Checks, failed, type Finding, ok, skipped, together, warning } from '../check.js';
import type { DatabaseContext } from '../context.js';
import { ENDS_OF_POSTGRESQL, hasEnded } from '../ends-of-life.js';

const OLDEST = Math.min(...Object.keys(ENDS_OF_POSTGRESQL).map(Number));
const NEWEST = Math.max(...Object.keys(ENDS_OF_POSTGRESQL).map(Number));

/** Transactions after which PostgreSQL stops to accept writes, and when a check warns. */
const WRAPAROUND = 2 ** 31;
const WRAPAROUND_WARNING = 0.5;
const WRAPAROUND_FAILURE = 0.8;

/** Which server this is, and whether it is healthy. */
export const POSTGRES_CHECKS: Checks<DatabaseContext> = {
  postgres_version: async ({ sql }) => {
    const { version } = await sql.readOne<{ version: string }>(
      `select current_setting('server_version') as version`,
    );
    const major = Number.parseInt(version, 10);
    const end = ENDS_OF_POSTGRESQL[major];
    const name = `The server is PostgreSQL ${version}`;
    const remedy = `Use PostgreSQL ${OLDEST} to ${NEWEST}.`;
    if (major < OLDEST) return failed(`${name}, which Latitude does not support.`, remedy);
    if (major > NEWEST) {
      return warning(`${name}, with which this version was not tested.`, remedy);
    }
    if (hasEnded(end, new Date())) {
      return warning(`${name}, which gets no fixes since ${end}.`, remedy);
    }
    return ok(`${name}.`);
  },

  encoding: async ({ sql }) => {
    const { encoding } = await sql.readOne<{ encoding: string }>(
      `select current_setting('server_encoding') as encoding`,
    );
    if (encoding === 'UTF8') return ok('The encoding of the database is UTF8.');
    return failed(
      `The encoding of the database is ${encoding}, which cannot store every text.`,
      'Create a database with encoding UTF8, and restore a backup into it.',
    );
  },

  writable: async ({ sql }) => {
    const state = await sql.readOne<{ standby: boolean; read_only: boolean }>(
      `select pg_is_in_recovery() as standby,
         (select setting from pg_settings where name = 'default_transaction_read_only') = 'on' as read_only`,
    );
    if (state.standby) {
      return failed('DATABASE_URL leads to a standby.', 'Set DATABASE_URL to the primary.');
    }
    if (!state.read_only) return ok('The server accepts writes.');
    return failed(
      'default_transaction_read_only is on.',
      'Switch it off where it is set: for the server, the database or the role.',
    );
  },

  durability: async ({ sql }) => {
    const rows = await sql.read<{ name: string }>(
      `select name from pg_settings
       where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off' order by name`,
    );
    return together(
      rows.map(({ name }) =>
        warning(
          `${name} is off: a crash of the server can lose acknowledged writes.`,
          `Switch ${name} on.`,
        ),
      ),
      ok('Acknowledged writes are on disk.'),
    );
  },

  autovacuum: async ({ sql }) => {
    const rows = await sql.read<{ problem: string; remedy: string }>(FIND_AUTOVACUUM);
    return together(
      rows.map(({ problem, remedy }) => warning(problem, remedy)),
      ok('Autovacuum is on, and keeps up.'),
    );
  },

  wraparound: async ({ sql }) => {
    const { age } = await sql.readOne<{ age: number }>(
      `select greatest(age(datfrozenxid), mxid_age(datminmxid)) as age
       from pg_database where datname = current_database()`,
    );
    const share = age / WRAPAROUND;
    const message = `The oldest transaction id is ${Math.round(age / 1e6)} million transactions old, ${Math.round(share * 100)}% of what PostgreSQL allows.`;
    const remedy =
      'End long transactions and unused replication slots, then run: vacuum (freeze, verbose);';
    if (share >= WRAPAROUND_FAILURE) return failed(message, remedy);
    return share >= WRAPAROUND_WARNING ? warning(message, remedy) : ok(message);
  },

  long_transactions: async ({ sql }) => {
    const rows = await sql.read<{ what: string; minutes: number; remedy: string }>(
      FIND_LONG_TRANSACTIONS,
    );
    return together(
      rows.map(({ what, minutes, remedy }) =>
        warning(
          `${what} has been open for ${minutes} minutes, so that vacuum cannot remove dead rows.`,
          remedy,
        ),
      ),
      ok('No transaction has been open for more than 10 minutes.'),
    );
  },

  locks: async ({ sql }) => {
    const rows = await sql.read<{ what: string; waiting: number; remedy: string }>(FIND_BLOCKING);
    return together(
      rows.map(({ what, waiting, remedy }) =>
        warning(`${what} has locks for which others wait: ${waiting}.`, remedy),
      ),
      ok('Nobody waits for a lock for more than a second.'),
    );
  },

  replication_slots: async ({ sql, database }) => {
    if (database.embedded) return skipped('The embedded PostgreSQL has no replicas.');
    const rows = await sql.read<{ name: string; retained: string }>(
      `select slot_name as name,
         pg_size_pretty(pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn()
           else pg_current_wal_lsn() end, restart_lsn)) as retained
       from pg_replication_slots where not active and restart_lsn is not null order by 1`,
    );
    return together(rows.map(slotFinding), ok('No replication slot is unused.'));
  },
};

function slotFinding({ name, retained }: { name: string; retained: string }): Finding {
  return warning(
    `No replica uses the replication slot ${name}, which keeps ${retained} of the write-ahead log.`,
    `Start its replica, or: select pg_drop_replication_slot('${name}');`,
  );
}

/** Tables whose dead rows are twice as many as those at which autovacuum starts are not kept up with. */
const FIND_AUTOVACUUM = `
  select format('%s is off: dead rows stay, and queries get slower.', name) as problem,
    format('Set %s = on in the configuration of the server.', name) as remedy
  from pg_settings where name in ('autovacuum', 'track_counts') and setting = 'off'
  union all
  select format('Autovacuum is off for the table %s.', oid::regclass),
    format('alter table %s reset (autovacuum_enabled);', oid::regclass)
  from pg_class, pg_options_to_table(reloptions) where relnamespace = current_schema()::regnamespace
    and option_name = 'autovacuum_enabled' and lower(option_value) in ('false', 'off', 'no', '0')
  union all
  select format('The table %s has %s dead rows beside %s live ones.', relid::regclass, n_dead_tup, n_live_tup),
    format('vacuum (analyze) %s;', relid::regclass)
  from pg_stat_user_tables where schemaname = current_schema() and n_dead_tup > 100000
    and n_dead_tup > 2 * current_setting('autovacuum_vacuum_scale_factor')::float8 * n_live_tup`;

/** Neither statements nor parameters are shown, which can contain data. */
const FIND_LONG_TRANSACTIONS = `
  select format('A transaction of %s (process %s, %s)', coalesce(nullif(application_name, ''), 'an application'),
      pid, coalesce(state, 'of another user')) as what,
    (extract(epoch from now() - xact_start) / 60)::int as minutes,
    format('End it in its application, or: select pg_terminate_backend(%s);', pid) as remedy
  from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
    and backend_type = 'client backend' and xact_start < now() - interval '10 minutes'
  union all
  select format('The prepared transaction %s', gid), (extract(epoch from now() - prepared) / 60)::int,
    format('commit prepared %1$L; or rollback prepared %1$L;', gid)
  from pg_prepared_xacts where database = current_database() and prepared < now() - interval '10 minutes'`;

/**
 * The transactions that are the first to be ended: they block others and wait for none. The process of a prepared one is 0.
 */
const FIND_BLOCKING = `
  with waiting as (
    select pid, unnest(pg_blocking_pids(pid)) as blocker from pg_locks
    where not granted and waitstart < clock_timestamp() - interval '1 second'
  )
  select case blocker when 0 then 'A prepared transaction'
      else format('A transaction of %s (process %s, %s)', coalesce(nullif(application_name, ''), 'an application'),
        blocker, coalesce(state, 'of another user')) end as what,
    count(distinct waiting.pid)::int as waiting,
    case blocker when 0 then 'End it: select gid from pg_prepared_xacts shows it.'
      else format('End it in its application, or: select pg_terminate_backend(%s);', blocker) end as remedy
  from waiting left join pg_stat_activity on pg_stat_activity.pid = blocker
  where blocker not in (select pid from waiting)
  group by blocker, application_name, state order by 2 desc`;
