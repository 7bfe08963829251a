import { rmSync } from 'node:fs';
import { withClient } from './cluster.mjs';

export default async function tearDown() {
  const { template, ...cluster } = JSON.parse(process.env.LATITUDE_TEST_CLUSTER);
  if (!globalThis.embeddedPostgres) {
    await withClient(cluster, (client) => client.query(`drop database ${template}`));
    return;
  }
  await globalThis.embeddedPostgres.stop();
  rmSync(globalThis.embeddedDataDir, { recursive: true, force: true });
}
