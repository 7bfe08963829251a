import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { withClient } from './cluster.mjs';

export default async function tearDown() {
  const { template, ...cluster } = JSON.parse(process.env.LATITUDE_TEST_CLUSTER);
  globalThis.sharedServer.disconnect();
  await once(globalThis.sharedServer, 'exit');
  if (!globalThis.embeddedPostgres) {
    await withClient(cluster, async (client) => {
      await client.query(`drop database ${template}`);
      await client.query(`drop database ${template}_shared`);
    });
    return;
  }
  await globalThis.embeddedPostgres.stop();
  rmSync(globalThis.embeddedDataDir, { recursive: true, force: true });
}
