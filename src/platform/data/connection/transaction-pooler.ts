import pg from 'pg';

/** How often the checks repeat, because a pooler may switch to another server connection at any time. */
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

const NO_TRANSACTIONS =
  'leads to a connection pooler in statement mode, which Latitude does not support: use its ' +
  'transaction or session mode, or the address of PostgreSQL itself';
const NO_SETTINGS =
  'leads to a connection pooler in transaction mode that mixes up the settings of its clients: use its ' +
  'session mode, or the address of PostgreSQL itself';
const NO_STATEMENTS =
  'leads to a connection pooler in transaction mode that does not support prepared statements: set ' +
  'DATABASE_PREPARED_STATEMENTS=off, use its session mode, or the address of PostgreSQL itself';

/**
 * Tries whether a pooler in transaction or statement mode supports what Latitude needs.
 * @param a one of two connections that stay open during the check
 * @param b the other one
 * @returns the problem, to follow the name of the setting
 */
export async function poolerProblem(
  a: Connection,
  b: Connection,
  preparesStatements: boolean,
): Promise<string | undefined> {
  const hasTransactions = await succeeds(() =>
    Promise.all([a.query('begin'), a.query('rollback')]),
  );
  if (!hasTransactions) return NO_TRANSACTIONS;
  if (!(await keepsSettings(a, b))) return NO_SETTINGS;
  if (preparesStatements && !(await keepsStatements(a, b))) return NO_STATEMENTS;
  return undefined;
}

/** Whether each client has the settings of its session. */
async function keepsSettings(a: Connection, b: Connection): Promise<boolean> {
  await a.query(`set timezone = 'Asia/Tokyo'`);
  await b.query(`set timezone = 'America/Lima'`);
  const zoneOf = async (connection: Connection) =>
    (await connection.query<{ TimeZone: string }>('show timezone')).rows[0]?.TimeZone;
  return (await zoneOf(a)) === 'Asia/Tokyo' && (await zoneOf(b)) === 'America/Lima';
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
  for (let round = 0; round < ROUNDS; round++) {
    // A pooler that uses its server connections in turn switches between the first two statements. One that uses the
    // last one again gives it to both clients.
    ofA.add(await backendOf(a));
    ofA.add(await backendOf(a));
    ofB.add(await backendOf(b));
  }
  return ofA.size > 1 || ofB.size > 1 || [...ofA].some((backend) => ofB.has(backend));
}

async function backendOf(connection: Connection): Promise<string> {
  const { rows } = await connection.query<{ backend: string }>(BACKEND);
  return rows[0]?.backend ?? '';
}
