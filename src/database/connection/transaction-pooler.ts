import pg from 'pg';

/** Rounds in which a pooler may switch to another server connection. */
const ROUNDS = 4;

/** Identifies the server process. Two servers may have the same process id. */
const BACKEND = `
  select pid || ' ' || extract(epoch from backend_start) as backend
  from pg_stat_activity where pid = pg_backend_pid()`;

/** The methods of a connection that the check uses. */
export interface Connection {
  query<Row extends object>(text: string): Promise<{ rows: Row[] }>;
}

/**
 * Whether there is a connection pooler in transaction or statement mode. Otherwise each connection
 * keeps its own server process.
 * @param a one of two connections that stay open during the check
 * @param b the other one
 */
export async function isTransactionPooled(a: Connection, b: Connection): Promise<boolean> {
  const ofA = new Set<string>();
  const ofB = new Set<string>();
  const isShared = () =>
    ofA.size > 1 || ofB.size > 1 || [...ofA].some((backend) => ofB.has(backend));
  for (let round = 0; round < ROUNDS && !isShared(); round++) {
    ofA.add(await backendOf(a));
    ofB.add(await backendOf(b));
    if (isShared()) return true;
    try {
      await b.query('begin');
    } catch (error) {
      // Only a pooler in statement mode refuses transactions.
      if (error instanceof pg.DatabaseError) return true;
      throw error;
    }
    ofB.add(await backendOf(b));
    // The open transaction keeps its server connection, so that a pooler must use another one.
    if (!isShared()) ofA.add(await backendOf(a));
    await b.query('rollback');
  }
  return isShared();
}

async function backendOf(connection: Connection): Promise<string> {
  const { rows } = await connection.query<{ backend: string }>(BACKEND);
  return rows[0]?.backend ?? '';
}
