// One PostgreSQL for the whole run, and a migrated database to copy.
import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { setLogLevel } from '../../dist/src/platform/config/logger.js';
import { dataSourceOptions } from '../../dist/src/platform/data/connection/data-source-options.js';
import { poolOf } from '../../dist/src/platform/data/connection/driver-pool.js';
import { openEmbeddedPostgres } from '../../dist/src/ops/embedded-postgres/embedded-postgres.js';
import { EventLogRepository } from '../../dist/src/modules/events/event-log.repository.js';
import { SystemDatabase } from '../../dist/src/platform/data/gateway/system-database.js';
import { migrate } from '../../dist/src/platform/data/migrate.js';
import { asTarget, withClient } from './cluster.mjs';
import { temporaryFolder } from './temporary-folder.mjs';

const FAST_AND_FORGETFUL = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/**
 * For many small databases that live for seconds. PostgreSQL scans all shared buffers when it copies or drops
 * a database, and autovacuum visits every database in turn.
 */
const SHORT_LIVED = ['max_connections=1000', 'shared_buffers=128MB', 'autovacuum=off'];

export default async function setUp() {
  setLogLevel('silent');
  const cluster = await openCluster();
  const template = `latitude_template_${process.pid}`;
  await withClient(cluster, (client) => client.query(`create database ${template}`));
  const dataSource = new DataSource(dataSourceOptions(asTarget(cluster, template)));
  await dataSource.initialize();
  await migrate(dataSource);
  const pools = { background: poolOf(dataSource) };
  // Otherwise, each server of a test creates them in its copy.
  await new EventLogRepository(new SystemDatabase(pools)).maintainPartitions(30 * 86_400_000);
  // Copies have no rows, as after the migrations.
  await dataSource.query('delete from event_position');
  await dataSource.destroy();
  process.env.LATITUDE_TEST_CLUSTER = JSON.stringify({ ...cluster, template });
}

/** Uses the server of `TEST_DATABASE_URL`, or starts an embedded one. */
async function openCluster() {
  if (process.env.TEST_DATABASE_URL) return { url: process.env.TEST_DATABASE_URL };
  const dataDir = mkdtempSync(path.join(temporaryFolder(), 'latitude-test-'));
  globalThis.embeddedPostgres = await openEmbeddedPostgres({
    dataDir,
    role: 'server',
    flags: [...FAST_AND_FORGETFUL, ...SHORT_LIVED].flatMap((flag) => ['-c', flag]),
  });
  globalThis.embeddedDataDir = dataDir;
  return globalThis.embeddedPostgres.connection;
}
