import type pg from 'pg';
import type { DatabaseTarget } from '../../platform/data/connection/data-source-options.js';
import { withConnection } from '../connection.js';

/**
 * Settings that make the text format of values independent of the database and the role, and switch
 * timeouts off.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  extra_float_digits: '3',
  bytea_output: 'hex',
  row_security: 'on',
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  // PostgreSQL 17 and later.
  transaction_timeout: '0',
};

/**
 * Runs work in one transaction on a new connection, as the user of the target. An error closes the
 * connection, which rolls the transaction back.
 */
export async function inTransaction<T>(
  target: DatabaseTarget,
  mode: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  return withConnection(target, async (client) => {
    await client.query(`begin transaction ${mode}`);
    await client.query(
      `select set_config(name, value, true) from json_each_text($1) as wanted (name, value)
       join pg_settings using (name)`,
      [JSON.stringify(SETTINGS)],
    );
    const result = await work(client);
    await client.query('commit');
    return result;
  });
}
