import { withClient } from '../../src/testing/cluster.mjs';
import tearDownCluster from '../../src/testing/global-teardown.mjs';

export default async function tearDown(options) {
  await globalThis.sharedInstances.stop();
  const { template, ...cluster } = JSON.parse(process.env.LATITUDE_TEST_CLUSTER);
  await withClient(cluster, (client) =>
    client.query(`drop database ${template}_shared with (force)`),
  );
  await tearDownCluster(options);
}
