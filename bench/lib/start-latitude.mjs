import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { Latitude } from './latitude.mjs';

const ABOUT_POSTGRES = `select current_setting('server_version') as version,
  pg_read_file('postmaster.pid') as pid`;

/**
 * Starts Latitude with an empty database in a temporary folder.
 * @param cleanups receives the steps that stop Latitude and remove the folder
 * @param options of `Latitude`
 */
export async function startLatitude(cleanups, options) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'latitude-bench-'));
  cleanups.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return startLatitudeIn(folder, cleanups, options);
}

/** Starts Latitude with the database of a folder. */
export async function startLatitudeIn(folder, cleanups, options) {
  const latitude = new Latitude(
    path.join(folder, 'data'),
    path.join(folder, 'latitude.log'),
    options,
  );
  cleanups.push(() => latitude.stop());
  await latitude.waitUntilListening();
  const connection = await latitude.connection();
  const connect = connector(cleanups);
  const client = await connect(connection);
  const { rows } = await client.query(ABOUT_POSTGRES);
  const [{ version: postgresVersion, pid }] = rows;
  const postmaster = parseInt(pid, 10);
  return { folder, latitude, connection, connect, client, postgresVersion, postmaster };
}

function connector(cleanups) {
  return async (connection) => {
    const client = new pg.Client(connection);
    // A lost connection fails the statement that uses it, and not the process.
    client.on('error', () => undefined);
    await client.connect();
    cleanups.push(() => client.end());
    return client;
  };
}
