// The PostgreSQL of the test kit, and a server that suites share.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { asTarget, withClient } from '../../src/testing/cluster.mjs';
import setUpCluster from '../../src/testing/global-setup.mjs';
import { temporaryFolder } from '../../src/testing/temporary-folder.mjs';

export default async function setUp() {
  // For data directories of products too.
  process.env.TMPDIR = temporaryFolder();
  await setUpCluster();
  const { template, ...cluster } = JSON.parse(process.env.LATITUDE_TEST_CLUSTER);
  const shared = `${template}_shared`;
  await withClient(cluster, (client) =>
    client.query(`create database ${shared} template ${template}`),
  );
  const server = fork(path.join(import.meta.dirname, 'shared-server.mjs'), [
    JSON.stringify(asTarget(cluster, shared)),
  ]);
  const [description] = await once(server, 'message');
  globalThis.sharedServer = server;
  process.env.LATITUDE_TEST_SERVER = JSON.stringify(description);
}
