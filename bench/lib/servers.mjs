import path from 'node:path';
import { BARE, IDIOMATIC, LIMIT } from './targets.mjs';
import { Latitude } from './latitude.mjs';
import { Server } from './server.mjs';

const BENCH = path.resolve(import.meta.dirname, '..');
const COMPILER = '@swc-node/register/esm-register';

/** Starts the reference servers of this folder on the reference database. */
export function startReferences(connection, organizations, folder) {
  const poolSize = Latitude.poolSize(connection);
  const keys = Object.fromEntries(organizations.map(({ id, key }) => [key, id]));
  const configuration = JSON.stringify({ connection, poolSize, organizations: keys });
  const start = (name, ...args) => {
    const log = path.join(folder, `${path.basename(args.at(-1))}.log`);
    const env = { PATH: process.env.PATH, NODE_ENV: 'production' };
    return new Server(name, { args: [...args, configuration], env, log, cwd: path.dirname(BENCH) });
  };
  return [
    start(BARE, path.join(BENCH, 'bare-server.mjs')),
    start(LIMIT, path.join(BENCH, 'limit-server.mjs')),
    start(IDIOMATIC, '--import', COMPILER, path.join(BENCH, 'idiomatic', 'main.ts')),
  ];
}
