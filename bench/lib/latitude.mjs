import { readFileSync } from 'node:fs';
import path from 'node:path';
import { dataSourceOptions } from '../../dist/src/platform/data/connection/data-source-options.js';
import { openEmbeddedPostgres } from '../../dist/src/ops/embedded-postgres/embedded-postgres.js';
import { Server } from './server.mjs';

const ENTRIES = path.resolve(import.meta.dirname, '../../dist/src');
/** The arguments of node in `npm start`, which is `exec node ...`. */
const START = JSON.parse(readFileSync(path.resolve(ENTRIES, '../../package.json')))
  .scripts.start.split(' ')
  .slice(2)
  .map((part) => (part.endsWith('.js') ? path.resolve(ENTRIES, '../..', part) : part));
const NO_LIMIT = '1000000000';

/** The environment without settings of Latitude. */
const ENVIRONMENT = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR };

/** Latitude as `npm start` runs it, with its embedded PostgreSQL and log. */
export class Latitude extends Server {
  #env;

  constructor(dataDir, log, nodeOptions = []) {
    const env = {
      ...ENVIRONMENT,
      PORT: '0',
      DATA_DIR: dataDir,
      RATE_LIMIT_READS_PER_MINUTE: NO_LIMIT,
      RATE_LIMIT_WRITES_PER_MINUTE: NO_LIMIT,
    };
    super('Latitude', { args: [...nodeOptions, ...START], env, log });
    this.#env = env;
  }

  /** @returns the connection to its PostgreSQL, over the socket and as the superuser */
  async connection() {
    const { connection } = await openEmbeddedPostgres({
      dataDir: this.#env.DATA_DIR,
      role: 'command',
    });
    return connection;
  }

  static poolSize(connection) {
    return dataSourceOptions(connection).poolSize;
  }
}
