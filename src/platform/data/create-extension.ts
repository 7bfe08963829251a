import type { QueryRunner } from 'typeorm';

/**
 * Creates an extension of PostgreSQL, unless the database has it.
 * @throws Error that says what to do if the database user cannot create it
 */
export async function createExtension(runner: QueryRunner, extension: string): Promise<void> {
  const [{ database, user }] = (await runner.query(
    'select quote_ident(current_database()) as database, quote_ident(current_user) as user',
  )) as [{ database: string; user: string }];
  await runner.query(`create extension if not exists ${extension}`).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `Latitude needs the extension ${extension} in the database ${database}, and cannot create it (${reason}). ` +
        'It is one of the contributed modules of PostgreSQL, which its package in Debian contains. Run as a superuser: ' +
        `grant create on database ${database} to ${user}; or, in ${database}: create extension ${extension}`,
      { cause },
    );
  });
}
