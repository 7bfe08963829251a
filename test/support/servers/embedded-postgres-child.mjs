/**
 * Opens the embedded PostgreSQL in a separate process, for tests that kill that process. Usage:
 * embedded-postgres-child.mjs <dataDir> <role>; the end of its standard input stops it.
 */
import { once } from 'node:events';
import { openEmbeddedPostgres } from '../../../dist/src/ops/embedded-postgres/embedded-postgres.js';

const [dataDir = '', role] = process.argv.slice(2);

function tell(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

try {
  const postgres = await openEmbeddedPostgres({
    dataDir,
    role: role === 'command' ? 'command' : 'server',
    log: (log) => {
      tell({ log });
    },
  });
  tell({ pid: postgres.pid, connection: postgres.connection });
  process.stdin.resume();
  await once(process.stdin, 'end');
  await postgres.stop();
} catch (error) {
  tell({ name: error.name, message: error.message });
  process.exitCode = 1;
}
