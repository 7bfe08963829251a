import { readFileSync } from 'node:fs';
import path from 'node:path';
import { dataSourceOptions } from '../../dist/src/platform/data/connection/data-source-options.js';
import { openEmbeddedPostgres } from '../../dist/src/ops/embedded-postgres/embedded-postgres.js';
import { Server } from './server.mjs';

/** The folder of this build. */
export const THIS_BUILD = path.resolve(import.meta.dirname, '../..');
const NO_LIMIT = '1000000000';

/** The environment without settings of Latitude. */
const ENVIRONMENT = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR };

/** Latitude as `npm start` runs it, with its embedded PostgreSQL and log. */
export class Latitude extends Server {
  #env;

  /**
   * @param options.node the file of Node.js, by default the running one
   * @param options.nodeOptions additional options of node
   * @param options.settings additional environment variables
   * @param options.build the folder of a built Latitude
   */
  constructor(dataDir, log, { node, nodeOptions = [], settings, build = THIS_BUILD } = {}) {
    const env = {
      ...ENVIRONMENT,
      PORT: '0',
      DATA_DIR: dataDir,
      RATE_LIMIT_READS_PER_MINUTE: NO_LIMIT,
      RATE_LIMIT_WRITES_PER_MINUTE: NO_LIMIT,
      ...settings,
    };
    super('Latitude', { node, args: [...nodeOptions, ...startOf(build)], env, log });
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

/** Returns the arguments of node in `npm start`, which is `node ...` or `exec node ...`. */
function startOf(build) {
  const { scripts } = JSON.parse(readFileSync(path.join(build, 'package.json')));
  const parts = scripts.start.split(' ');
  return parts
    .slice(parts.indexOf('node') + 1)
    .map((part) => (part.endsWith('.js') ? path.resolve(build, part) : part));
}
