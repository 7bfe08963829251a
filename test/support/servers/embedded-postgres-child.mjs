/**
 * Opens the embedded PostgreSQL in a separate process, for tests that kill that process. Usage:
 * embedded-postgres-child.mjs <dataDir> <role>; the end of its standard input stops it.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
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
  const lockFile = await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8');
  tell({ pid: Number.parseInt(lockFile), connection: postgres.connection });
  process.stdin.resume();
  await once(process.stdin, 'end');
  await postgres.stop();
} catch (error) {
  tell({ name: error.name, message: error.message });
  process.exitCode = 1;
}
