import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { DatabaseTarget } from '../../../src/platform/data/connection/data-source-options.js';
import { createDatabase } from '../../../src/testing/databases.js';

/**
 * A new, empty database and its owner, who is no superuser and does not bypass row-level security.
 * @param mayUse a role that the owner is a member of
 */
export async function createDatabaseWithPlainOwner(mayUse?: string): Promise<DatabaseTarget> {
  const database = await createDatabase('empty');
  const owner = `owner_${randomUUID().replaceAll('-', '')}`;
  const statements = [
    `create role ${owner} login password 'secret' nosuperuser nobypassrls`,
    `do $$ begin execute format('alter database %I owner to ${owner}', current_database()); end $$`,
    ...(mayUse ? [`grant ${mayUse} to ${owner}`] : []),
  ];
  for (const statement of statements) await queryAs(database, statement);
  return asUser(database, owner, 'secret');
}

/** Runs SQL as the user of the target. */
export async function queryAs<Row>(
  target: DatabaseTarget,
  text: string,
  values?: unknown[],
): Promise<Row[]> {
  const client = new pg.Client('url' in target ? { connectionString: target.url } : target);
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}

/** The same database as the superuser of the test cluster. */
export function asSuperuser(target: DatabaseTarget): DatabaseTarget {
  return asUser(target, 'postgres', '');
}

/** The URL of a database, of one behind a socket too. */
export function urlOf(target: DatabaseTarget): string {
  if ('url' in target) return target.url;
  const { host, port, user, database } = target;
  const address = new URLSearchParams({ host, port: String(port) });
  return `postgres://${user}@localhost/${database}?${address.toString()}`;
}

/** The same database as another user. */
export function asUser(target: DatabaseTarget, user: string, password: string): DatabaseTarget {
  if (!('url' in target)) return { ...target, user };
  const url = new URL(target.url);
  url.username = user;
  url.password = password;
  return { url: url.href };
}
