// PostgreSQL of Debian, set up as the image of docker/compose.yaml sets it up.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, run } from '../server.mjs';

const BIN = '/usr/lib/postgresql/15/bin';

/** PostgreSQL refuses to run as root. */
const AS_OWNER =
  process.getuid() === 0
    ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups']
    : [];

/** Creates the files of a cluster, whose superuser logs in over the socket only. */
export async function createCluster(directory, passwordFile, initdbArguments) {
  execFileSync('mkdir', [directory]);
  if (AS_OWNER.length > 0) execFileSync('chown', ['postgres', directory]);
  const authentication = ['--auth-local=trust', '--auth-host=scram-sha-256'];
  const options = ['-D', `${directory}/data`, '-U', 'postgres', `--pwfile=${passwordFile}`];
  const command = [`${BIN}/initdb`, '--no-sync', ...options, ...authentication, initdbArguments];
  const [program, ...args] = [...AS_OWNER, ...command];
  await run(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Returns the command of a server that is a child of this process. */
export function serverCommand([name, ...options], directory, port) {
  const place = ['-D', `${directory}/data`, '-k', directory, '-p', String(port)];
  return [...AS_OWNER, `${BIN}/${name}`, ...options, ...place];
}

/** Creates the database and runs the file that the image runs. */
export async function initializeDatabase(directory, port, database, passwordFile) {
  const POSTGRES_PASSWORD = readFileSync(passwordFile, 'utf8').trimEnd();
  const env = { ...process.env, POSTGRES_PASSWORD };
  const connection = ['-h', directory, '-p', String(port), '-U', 'postgres'];
  const psql = (...args) =>
    run('psql', ['-qX', '-v', 'ON_ERROR_STOP=1', ...connection, ...args], { env });
  await psql('-c', `create database ${database}`);
  await psql('-d', database, '-f', path.join(ROOT, 'docker/postgres-init.sql'));
}
