import {
  FIND_POSITION,
  FIND_STATE,
  problemValues,
  type ReplicaState,
  type WalPosition,
} from '../../../platform/data/gateway/replicas/replica.js';
import { isTransactionPooled } from '../../../platform/data/connection/transaction-pooler.js';
import { FIND_LIMIT } from '../../../platform/data/records/startup-checks.js';
import { withConnection } from '../../connection.js';
import { messageOf } from '../../embedded-postgres/errors.js';
import { type Checks, failed, type Finding, ok, skipped, together, warning } from '../check.js';
import type { DatabaseContext } from '../context.js';
import { ReadOnlyDatabase } from '../read-only-database.js';

/** Differences of clocks at which times of records and lifetimes of keys are wrong. */
const CLOCK_WARNING_MS = 2_000;
const CLOCK_FAILURE_MS = 60_000;

/** The share of connections in use from which a burst can find none. */
const BUSY = 0.9;

/** How this machine and the server are connected. */
export const CONNECTION_CHECKS: Checks<DatabaseContext> = {
  encryption: async ({ sql, database }) => {
    if (database.embedded) return skipped('The embedded PostgreSQL listens on no network.');
    const { is_local, ssl } = await sql.readOne<{ is_local: boolean; ssl: boolean }>(
      `select coalesce(inet_client_addr() <<= '127.0.0.0/8' or inet_client_addr() = '::1', true) as is_local,
         coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as ssl`,
    );
    if (ssl) return ok('The connection to PostgreSQL is encrypted.');
    if (is_local) return ok('The connection to PostgreSQL does not leave its machine.');
    return warning(
      'The connection to PostgreSQL is not encrypted.',
      'Add sslmode=verify-full to DATABASE_URL.',
    );
  },

  // One that mixes up what its clients send has ended the opening of the database.
  pooler: async ({ database: { target, embedded }, settings }) => {
    if (embedded) return skipped('Nothing is between Latitude and the embedded PostgreSQL.');
    const isPooled = await withConnection(target, (one) =>
      withConnection(target, (other) => isTransactionPooled(one, other)),
    );
    if (!isPooled) {
      return ok(
        'Each connection keeps its server process: there is no pooler, or one in session mode.',
      );
    }
    const statements = settings.databasePreparedStatements ? ' and prepared statements' : '';
    return ok(
      `A pooler in transaction mode is in front of PostgreSQL. It keeps transactions, settings${statements} apart.`,
    );
  },

  connections: async ({ sql, settings, instances }) => {
    const { limit } = await sql.readOne<{ limit: number }>(FIND_LIMIT);
    const { used } = await sql.readOne<{ used: number }>(
      'select count(*)::int as used from pg_stat_get_activity(null) where datid is not null',
    );
    const servers = Math.max(1, instances);
    const wanted = servers * settings.databaseMaxConnections;
    const problems: Finding[] = [];
    if (wanted > limit) {
      problems.push(
        warning(
          `DATABASE_MAX_CONNECTIONS lets all instances (${servers}) open ${wanted} connections, but the database allows ${limit}.`,
          'Raise max_connections of PostgreSQL, or lower DATABASE_MAX_CONNECTIONS.',
        ),
      );
    }
    if (used > BUSY * limit) {
      problems.push(
        warning(
          `${used} of ${limit} connections are in use.`,
          'Find who holds them in pg_stat_activity, or raise max_connections of PostgreSQL.',
        ),
      );
    }
    return together(problems, ok(`${used} of ${limit} connections are in use.`));
  },

  clock: async ({ sql }) => {
    const before = Date.now();
    const { now } = await sql.readOne<{ now: number }>(
      'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now',
    );
    const after = Date.now();
    // The statement ran at a moment between the two.
    const difference = now < before ? now - before : Math.max(0, now - after);
    const seconds = (Math.abs(difference) / 1_000).toFixed(1);
    const message = `The clock of PostgreSQL is ${seconds} s ${difference < 0 ? 'behind' : 'ahead of'} that of this machine.`;
    const remedy = 'Synchronize the clocks of both machines, for example by chrony.';
    if (Math.abs(difference) >= CLOCK_FAILURE_MS) return failed(message, remedy);
    if (Math.abs(difference) >= CLOCK_WARNING_MS) return warning(message, remedy);
    return ok('The clocks of PostgreSQL and of this machine agree.');
  },

  replicas: async ({ sql, settings }) => {
    const urls = settings.databaseReplicaUrls;
    if (urls.length === 0) return skipped('DATABASE_REPLICA_URLS is not set.');
    const position = await sql.readOne<WalPosition>(FIND_POSITION);
    const findings = await Promise.all(
      urls.map((url, index) => examineReplica(url, `Read replica ${index + 1}`, position)),
    );
    const problems = findings.filter(({ status }) => status !== 'ok');
    return together(problems, ok(findings.map(({ message }) => message).join(' ')));
  },
};

/** @param name how messages name the replica, whose URL has a password */
async function examineReplica(url: string, name: string, position: WalPosition): Promise<Finding> {
  const remedy = `Check that URL ${name.replace('Read replica ', '')} of DATABASE_REPLICA_URLS leads to a standby that streams from the primary.`;
  try {
    const state = await withConnection({ url }, (client) =>
      new ReadOnlyDatabase(client).readOne<ReplicaState>(FIND_STATE, problemValues(position)),
    );
    const lag = `${Math.max(0, Math.round(state.lag ?? 0))} bytes`;
    if (state.problem !== null) {
      return warning(`${name} is left out: ${state.problem} (${lag} behind).`, remedy);
    }
    if (state.orders_names === false) {
      return warning(
        `${name} sorts no names: it has another version of ICU.`,
        'Use the same operating system and version of ICU on the primary and its replicas.',
      );
    }
    return ok(`${name} serves reads (${lag} behind).`);
  } catch (error) {
    return warning(`${name} cannot be reached: ${messageOf(error)}.`, remedy);
  }
}
