import type { DataSource } from 'typeorm';

/** The extensions of PostgreSQL that migrations use. */
export const EXTENSIONS = ['pg_trgm', 'btree_gin', 'btree_gist'];

/**
 * Creates the extensions that the database does not have, before the migrations.
 * @throws Error that says what to do if the database user cannot create one
 */
export async function createExtensions(dataSource: DataSource): Promise<void> {
  for (const extension of EXTENSIONS) {
    await dataSource
      .query(`create extension if not exists ${extension}`)
      .catch((cause: unknown) => explain(dataSource, extension, cause));
  }
}

async function explain(dataSource: DataSource, extension: string, cause: unknown): Promise<never> {
  const [{ database, user }] = await dataSource.query<[{ database: string; user: string }]>(
    'select quote_ident(current_database()) as database, quote_ident(current_user) as user',
  );
  const reason = cause instanceof Error ? cause.message : String(cause);
  throw new Error(
    `Latitude needs the extension ${extension} in the database ${database}, and cannot create it (${reason}). ` +
      'It is one of the contributed modules of PostgreSQL, which its package in Debian contains. Run as a superuser: ' +
      `grant create on database ${database} to ${user}; or, in ${database}: create extension ${extension}`,
    { cause },
  );
}
