// The PostgreSQL of the test kit, and a server that suites share.
import { asTarget, withClient } from '../../src/testing/cluster.mjs';
import setUpCluster from '../../src/testing/global-setup.mjs';
import { temporaryFolder } from '../../src/testing/temporary-folder.mjs';
import { startInstances } from './servers/shared-instances.mjs';

export default async function setUp() {
  // For data directories of products too.
  process.env.TMPDIR = temporaryFolder();
  globalThis.sharedInstances = await startInstances(createSharedDatabase());
  const { description } = globalThis.sharedInstances;
  process.env.LATITUDE_TEST_SERVER = JSON.stringify(description);
}

async function createSharedDatabase() {
  await setUpCluster();
  const { template, ...cluster } = JSON.parse(process.env.LATITUDE_TEST_CLUSTER);
  const shared = `${template}_shared`;
  await withClient(cluster, (client) =>
    client.query(`create database ${shared} template ${template}`),
  );
  return asTarget(cluster, shared);
}
