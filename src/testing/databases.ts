import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { DatabaseTarget } from '../platform/data/connection/data-source-options.js';

/** The PostgreSQL of this test run: its address, and the migrated database to copy. */
type Cluster = { template: string } & (
  { url: string } | { host: string; port: number; user: string; database: string }
);

/**
 * The connections that create and drop databases, by cluster: each run in watch mode has a cluster of its own.
 * Opening a connection takes about 10 ms of CPU.
 */
const administrations = new Map<string, pg.Pool>();

/** Creates a database: a copy of the migrated template, or an empty one. */
export async function createDatabase(from: 'template' | 'empty' = 'template') {
  const { template, ...cluster } = testCluster();
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const source = from === 'template' ? template : 'template0';
  await administer(cluster, `create database ${name} template ${source} strategy file_copy`);
  if (!('url' in cluster)) return { ...cluster, database: name };
  const url = new URL(cluster.url);
  url.pathname = `/${name}`;
  return { url: url.href };
}

export async function dropDatabase(target: DatabaseTarget): Promise<void> {
  const name = databaseOf(target);
  const { template: _, ...cluster } = testCluster();
  await administer(cluster, `drop database ${name} with (force)`);
}

async function administer(cluster: DatabaseTarget, text: string): Promise<void> {
  const key = JSON.stringify(cluster);
  const pool = administrations.get(key) ?? ownerPool(cluster);
  administrations.set(key, pool);
  await pool.query(text);
}

/** Returns the configuration of a client of a database. */
export function configOf(target: DatabaseTarget): pg.ClientConfig {
  if (!('url' in target)) return target;
  const { hostname, port, username, pathname } = new URL(target.url);
  return {
    host: hostname,
    port: Number(port || 5432),
    user: username,
    database: pathname.slice(1),
  };
}

/** Returns the `DATABASE_URL` of a database. */
export function urlOf(target: DatabaseTarget): string {
  if ('url' in target) return target.url;
  const { host, port, user, database } = target;
  return `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}

/** Returns the name of a database. */
export function databaseOf(target: DatabaseTarget): string {
  return 'url' in target ? new URL(target.url).pathname.slice(1) : target.database;
}

/** Connects as the owner of a database. The pool keeps no process running. */
export function ownerPool(target: DatabaseTarget): pg.Pool {
  const pool = new pg.Pool({ ...clientConfigOf(target), max: 4, allowExitOnIdle: true });
  // A test may end idle connections.
  return pool.on('error', () => undefined);
}

/** Runs a statement as the owner of a database, on a connection of its own. */
export async function query<Row>(target: DatabaseTarget, text: string, values: unknown[] = []) {
  const client = new pg.Client(clientConfigOf(target));
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}

function clientConfigOf(target: DatabaseTarget): pg.ClientConfig {
  return 'url' in target ? { connectionString: target.url } : target;
}

function testCluster(): Cluster {
  return JSON.parse(process.env.LATITUDE_TEST_CLUSTER ?? '') as Cluster;
}
