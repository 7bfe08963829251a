import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { Latitude } from './latitude.mjs';

const ABOUT_POSTGRES = `select current_setting('server_version') as version,
  pg_read_file('postmaster.pid') as pid`;

/**
 * Starts Latitude with an empty database in a folder of its own.
 * @param undo gets the steps that end and remove all of it, the first one last
 */
export async function startLatitude(undo) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'latitude-bench-'));
  undo.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const latitude = new Latitude(path.join(folder, 'data'), path.join(folder, 'latitude.log'));
  undo.push(() => latitude.stop());
  await latitude.untilListening();
  const connection = await latitude.connection();
  const connect = connector(undo);
  const client = await connect(connection);
  const { rows } = await client.query(ABOUT_POSTGRES);
  const [{ version: postgresVersion, pid }] = rows;
  const postmaster = parseInt(pid, 10);
  return { folder, latitude, connection, connect, client, postgresVersion, postmaster };
}

function connector(undo) {
  return async (connection) => {
    const client = new pg.Client(connection);
    // A lost connection fails the statement that asks for it, and not the process.
    client.on('error', () => undefined);
    await client.connect();
    undo.push(() => client.end());
    return client;
  };
}
