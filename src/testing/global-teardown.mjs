import { rmSync } from 'node:fs';
import { setTimeout } from 'node:timers';
import { withClient } from './cluster.mjs';

/** How long the process waits for resources that tests left open, such as a listening server. */
const GRACE_MS = 3_000;

export default async function tearDown({ watch = false, watchAll = false } = {}) {
  // Jest sets the exit code when the process exits.
  if (!watch && !watchAll) setTimeout(() => process.exit(), GRACE_MS).unref();
  const { template, ...cluster } = JSON.parse(process.env.LATITUDE_TEST_CLUSTER);
  if (!globalThis.embeddedPostgres) {
    await withClient(cluster, (client) => client.query(`drop database ${template} with (force)`));
    return;
  }
  await globalThis.embeddedPostgres.stop();
  rmSync(globalThis.embeddedDataDir, { recursive: true, force: true });
}
