import { URL } from 'node:url';
import pg from 'pg';

/** The connection data of a database of the test cluster. */
export function asTarget(cluster, database) {
  if (!cluster.url) return { ...cluster, database };
  const url = new URL(cluster.url);
  url.pathname = `/${database}`;
  return { url: url.href };
}

/** Runs `work` on a connection to the cluster's own database, or to the one that is named. */
export async function withClient(cluster, work, database) {
  const target = database ? asTarget(cluster, database) : cluster;
  const client = new pg.Client(target.url ? { connectionString: target.url } : target);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
