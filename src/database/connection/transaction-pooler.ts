import pg from 'pg';

/** Rounds in which a pooler has the chance to lend another server connection. */
const ROUNDS = 4;

/** Names the server process that answers. A process id alone can be the same on two servers. */
const BACKEND = `
  select pid || ' ' || extract(epoch from backend_start) as backend
  from pg_stat_activity where pid = pg_backend_pid()`;

/** What the check needs of a connection. */
export interface Connection {
  query<Row extends object>(text: string): Promise<{ rows: Row[] }>;
}

/**
 * Whether a pooler lends server connections for a transaction or a statement at a time. Without one, or
 * with one in session mode, two connections never share a server process and never change theirs.
 * @param a and `b`: two connections that stay open meanwhile
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
      // Nothing but a pooler in statement mode refuses a transaction.
      if (error instanceof pg.DatabaseError) return true;
      throw error;
    }
    ofB.add(await backendOf(b));
    // While the transaction keeps its server connection, others have to do with another one.
    if (!isShared()) ofA.add(await backendOf(a));
    await b.query('rollback');
  }
  return isShared();
}

async function backendOf(connection: Connection): Promise<string> {
  const { rows } = await connection.query<{ backend: string }>(BACKEND);
  return rows[0]?.backend ?? '';
}
