import pg from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { DEFAULT_CONNECTIONS } from '../../config/settings.js';
import { planConnections } from './connection-plan.js';
import { InitialSchema1763683200000 } from '../migrations/1763683200000-initial-schema.js';
import { AppointmentsAndTasks1763769600000 } from '../migrations/1763769600000-appointments-and-tasks.js';
import { PurgeIndexes1763856000000 } from '../migrations/1763856000000-purge-indexes.js';
import {
  CountRecords1763942400001,
  RecordCounts1763942400000,
} from '../migrations/1763942400000-record-counts.js';
import { IdempotencyKeys1764115200000 } from '../migrations/1764115200000-idempotency-keys.js';
import { SearchIndexes1764028800000 } from '../migrations/1764028800000-search-indexes.js';
import { AnsweredRecords1764374400000 } from '../migrations/1764374400000-answered-records.js';
import { SearchText1764201600000 } from '../migrations/1764201600000-search-text.js';
import { FillSearchText1764201600001 } from '../migrations/1764201600001-fill-search-text.js';
import { SearchTextIndexes1764201600002 } from '../migrations/1764201600002-search-text-indexes.js';
import { ContactIdentity1764288000000 } from '../migrations/1764288000000-contact-identity.js';
import { McpSessions1764460800000 } from '../migrations/1764460800000-mcp-sessions.js';
import { Jobs1764547200000 } from '../migrations/1764547200000-jobs.js';
import { Events1764633600000 } from '../migrations/1764633600000-events.js';
import { JobRepeats1764720000000 } from '../migrations/1764720000000-job-repeats.js';
import { Webhooks1764806400000 } from '../migrations/1764806400000-webhooks.js';
import { McpStreamNumbers1764892800000 } from '../migrations/1764892800000-mcp-stream-numbers.js';
import { QueueSearchTexts1765065600000 } from '../migrations/1765065600000-queue-search-texts.js';
import { LeadsToRefill1765065600001 } from '../migrations/1765065600001-leads-to-refill.js';
import { OrderOfNames1765152000000 } from '../migrations/1765152000000-order-of-names.js';
import { RandomCountVersions1764979200000 } from '../migrations/1764979200000-random-count-versions.js';
import { McpSessionEnds1766016000000 } from '../migrations/1766016000000-mcp-session-ends.js';
import { EntityManagerWrites1766102400000 } from '../migrations/1766102400000-entity-manager-writes.js';
import {
  ExternalIds1766275200000,
  UniqueExternalIds1766275200001,
} from '../migrations/1766275200000-external-ids.js';
import { OAuth1766448000000 } from '../migrations/1766448000000-oauth.js';
import { KeysOverRest1766534400000 } from '../migrations/1766534400000-keys-over-rest.js';
import { Erasures1766793600002 } from '../migrations/1766793600002-erasures.js';
import {
  FillTagsFolded1766620800001,
  TagsFolded1766620800000,
  TagsFoldedIndex1766620800002,
} from '../migrations/1766620800000-tags-folded.js';
import {
  CountByFilters1766620800004,
  CountsOfFilters1766620800003,
} from '../migrations/1766620800003-counts-of-filters.js';
import { IndexesOfFilters1766620800005 } from '../migrations/1766620800005-indexes-of-filters.js';
import {
  MergedLeads1766793600000,
  MergedLeadsIndex1766793600001,
} from '../migrations/1766793600000-merged-leads.js';
import { LeadImports1766707200000 } from '../migrations/1766707200000-lead-imports.js';
import {
  BulkDeliveries1766707200001,
  NextDeliveries1766707200002,
} from '../migrations/1766707200001-bulk-deliveries.js';
import { ApplicationClient } from './application-client.js';
import { withPool } from './driver-pool.js';
import { PostgresNames } from './postgres-names.js';
import type { ResilientClient } from './resilient-client.js';
import { CONNECTION_SETTINGS, SessionContext } from './session-context.js';

/** The address of a PostgreSQL: a URL, or the socket of the embedded one. */
export type DatabaseTarget =
  | {
      readonly url: string;
      /** Whether a check at startup has found no pooler in transaction mode. */
      readonly isUnpooled?: boolean;
    }
  | {
      readonly host: string;
      readonly port: number;
      readonly user: string;
      readonly database: string;
    };

/** Whether each connection to a database keeps its session. */
export function hasOwnSessions(target: DatabaseTarget): boolean {
  return 'host' in target || target.isUnpooled === true;
}

/** All migrations in the order of execution. */
export const MIGRATIONS = [
  InitialSchema1763683200000,
  AppointmentsAndTasks1763769600000,
  PurgeIndexes1763856000000,
  RecordCounts1763942400000,
  CountRecords1763942400001,
  SearchIndexes1764028800000,
  IdempotencyKeys1764115200000,
  SearchText1764201600000,
  FillSearchText1764201600001,
  SearchTextIndexes1764201600002,
  ContactIdentity1764288000000,
  AnsweredRecords1764374400000,
  McpSessions1764460800000,
  Jobs1764547200000,
  Events1764633600000,
  JobRepeats1764720000000,
  Webhooks1764806400000,
  McpStreamNumbers1764892800000,
  RandomCountVersions1764979200000,
  QueueSearchTexts1765065600000,
  LeadsToRefill1765065600001,
  OrderOfNames1765152000000,
  McpSessionEnds1766016000000,
  EntityManagerWrites1766102400000,
  ExternalIds1766275200000,
  UniqueExternalIds1766275200001,
  OAuth1766448000000,
  KeysOverRest1766534400000,
  TagsFolded1766620800000,
  FillTagsFolded1766620800001,
  TagsFoldedIndex1766620800002,
  CountsOfFilters1766620800003,
  CountByFilters1766620800004,
  IndexesOfFilters1766620800005,
  LeadImports1766707200000,
  BulkDeliveries1766707200001,
  NextDeliveries1766707200002,
  MergedLeads1766793600000,
  MergedLeadsIndex1766793600001,
  Erasures1766793600002,
] as const;

/**
 * Timeouts for a new connection, including its setup, and for a free connection of the pool: in a server, and in
 * commands and tests, which have no deadline.
 */
export const POOL_WAIT_MS = 2_000;
export const PATIENT_WAIT_MS = 60_000;

type PostgresOptions = Extract<DataSourceOptions, { type: 'postgres' }>;

/**
 * PostgreSQL rolls back a statement if its client has closed the connection, so that a write that was answered
 * with an error is not committed later. PostgreSQL on Windows has no such setting.
 */
const CHECK_CLIENT = `select set_config('client_connection_check_interval', '100ms', false)
  where version() !~* 'windows|mingw|visual c'`;

/**
 * Returns the function that sets up new connections.
 * @param withinMs timeout for the connection, including its setup
 * @param settings additional settings of their sessions
 */
export function setUpConnection(withinMs: number, settings: Readonly<Record<string, string>> = {}) {
  const statements = Object.entries({ ...CONNECTION_SETTINGS, ...settings }).map(
    ([name, value]) => `set ${name} = '${value}'`,
  );
  const sql = [...statements, CHECK_CLIENT].join('; ');
  return (client: pg.ClientBase) => (client as ResilientClient).setUp(sql, withinMs);
}

/**
 * Options of all pools of connections. Their class is a `ResilientClient`.
 * @param waitMs timeout for a connection
 */
export function connectionOptions(waitMs: number) {
  return {
    connectionTimeoutMillis: waitMs,
    // Firewalls drop idle connections.
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
    onConnect: setUpConnection(waitMs),
  };
}

/**
 * The TypeORM options of the server, the command line and the tests.
 * @param sessionContext session context of every transaction; by default it is empty and statements
 *   run as the database user
 * @param applicationName name of the connections in the views of PostgreSQL
 * @param waitMs timeout for a connection
 */
export function dataSourceOptions(
  target: DatabaseTarget,
  sessionContext = new SessionContext(),
  applicationName = 'latitude',
  waitMs = PATIENT_WAIT_MS,
): PostgresOptions {
  const address = 'url' in target ? target : { ...target, username: target.user };
  return {
    type: 'postgres',
    ...address,
    applicationName,
    ...withPool(),
    namingStrategy: new PostgresNames(),
    migrations: [...MIGRATIONS],
    migrationsTransactionMode: 'each',
    installExtensions: false,
    synchronize: false,
    logging: false,
    poolSize: planConnections(DEFAULT_CONNECTIONS).pool,
    // `reportLostConnections` listens to the pool.
    poolErrorHandler: () => undefined,
    extra: { ...connectionOptions(waitMs), Client: ApplicationClient, sessionContext },
  };
}
