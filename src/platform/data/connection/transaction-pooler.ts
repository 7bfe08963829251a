import pg from 'pg';

/** Rounds in which a pooler may switch to another server connection. */
const ROUNDS = 4;

/** Identifies the server process. The process id alone is not unique across servers. */
const BACKEND = `
  select pid || ' ' || extract(epoch from backend_start) as backend
  from pg_stat_activity where pid = pg_backend_pid()`;

/** The methods of a connection that the checks use. */
export interface Connection {
  query<Row extends object>(
    query: string | { name: string; text: string },
  ): Promise<{ rows: Row[] }>;
}

/** How a pooler shares the connections of the server. */
export interface Pooling {
  /** Whether a transaction keeps its connection. */
  readonly hasTransactions: boolean;
  /** Whether each client has the settings of its session. */
  readonly keepsSettings: boolean;
  /** Whether each client has its prepared statements. */
  readonly keepsStatements: boolean;
}

/**
 * Tries what a pooler in transaction or statement mode supports.
 * @param a one of two connections that stay open during the check
 * @param b the other one
 */
export async function inspectPooling(a: Connection, b: Connection): Promise<Pooling> {
  const hasTransactions = await succeeds(() =>
    Promise.all([a.query('begin'), a.query('rollback')]),
  );
  return {
    hasTransactions,
    keepsSettings: hasTransactions && (await keepsSettings(a, b)),
    keepsStatements: hasTransactions && (await keepsStatements(a, b)),
  };
}

async function keepsSettings(a: Connection, b: Connection): Promise<boolean> {
  const zones = ['Asia/Tokyo', 'America/Lima'];
  await a.query(`set timezone = '${zones[0]}'`);
  await b.query(`set timezone = '${zones[1]}'`);
  const found: unknown[] = [];
  for (const connection of [a, b]) {
    const { rows } = await connection.query<{ zone: string }>(
      `select current_setting('timezone') as zone`,
    );
    found.push(rows[0]?.zone);
  }
  return found.join() === zones.join();
}

/** Whether a pooler supports prepared statements. Otherwise a statement exists already or is missing. */
async function keepsStatements(a: Connection, b: Connection): Promise<boolean> {
  return succeeds(async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await a.query({ name: 'latitude_check', text: 'select 1' });
      await b.query({ name: 'latitude_check', text: 'select 2' });
      await b.query('begin');
      await b.query({ name: 'latitude_check', text: 'select 2' });
      await b.query('rollback');
    }
  });
}

async function succeeds(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof pg.DatabaseError) return false;
    throw error;
  }
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
    // The open transaction keeps its server connection, so a pooler must use another one.
    if (!isShared()) ofA.add(await backendOf(a));
    await b.query('rollback');
  }
  return isShared();
}

async function backendOf(connection: Connection): Promise<string> {
  const { rows } = await connection.query<{ backend: string }>(BACKEND);
  return rows[0]?.backend ?? '';
}
