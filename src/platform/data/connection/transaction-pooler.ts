import pg from 'pg';

/** Rounds in which a pooler may switch to another server connection. */
const ROUNDS = 4;

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
 * Tries whether a connection pooler, if there is one, supports what Latitude needs.
 * @param a one of two connections that stay open during the check
 * @param b the other one
 * @returns the problem, to follow the name of the setting
 */
export async function poolerProblem(
  a: pg.ClientBase,
  b: pg.ClientBase,
  preparesStatements: boolean,
): Promise<string | undefined> {
  const hasTransactions = await succeeds(async () => {
    await a.query('begin');
    await a.query('rollback');
  });
  if (!hasTransactions) return NO_TRANSACTIONS;
  if (!(await keepsSettings(a, b))) return NO_SETTINGS;
  if (preparesStatements && !(await keepsStatements(a, b))) return NO_STATEMENTS;
  return undefined;
}

/** Whether each client has the settings of its session. */
async function keepsSettings(a: pg.ClientBase, b: pg.ClientBase): Promise<boolean> {
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
async function keepsStatements(a: pg.ClientBase, b: pg.ClientBase): Promise<boolean> {
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
