import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fillLeads } from './data.mjs';
import { LeadsTable } from './database.mjs';

const SCHEMA = path.resolve(import.meta.dirname, '../schema-0.4.0.sql');

const KEY_COLUMNS = 'id, organization_id, name, key_hash, key_start, scopes';

/**
 * Creates a database with the schema of release 0.4.0, and with the keys and leads of Latitude, for the reference servers. So
 * they stay the same while the schema of Latitude changes.
 * @returns its connection, and its table of leads
 */
export async function createReferenceDatabase({ client, connection, connect, organizations }) {
  await client.query('create database reference');
  const own = { ...connection, database: 'reference' };
  const reference = await connect(own);
  await reference.query(await readFile(SCHEMA, 'utf8'));
  const { rows } = await client.query(`select json_agg(k)::text as keys from api_keys k`);
  await reference.query(
    `insert into api_keys (${KEY_COLUMNS})
     select ${KEY_COLUMNS} from json_populate_recordset(null::api_keys, $1)`,
    [rows[0].keys],
  );
  // The leads of the same organizations are the same in each database.
  const leads = await fillLeads(reference, organizations);
  return { connection: own, table: new LeadsTable(reference, leads) };
}
