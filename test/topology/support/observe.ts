import type { RunningServer } from '../../support/servers/product.js';

/** Sums the samples of a metric. */
export async function counted(server: RunningServer, metric: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const samples = text.split('\n').filter((line) => line.startsWith(metric));
  return samples.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** Numbers of the reads that replicas and the primary have run. */
export async function readsOf(server: RunningServer) {
  const of = (name: string) => counted(server, `latitude_replica_reads_total{server="${name}"}`);
  return { replica: await of('replica'), primary: await of('primary') };
}

/** Whether a replica is in use, by its number in the setting. */
export async function replicasUsed(server: RunningServer, number = 1): Promise<boolean> {
  return (await counted(server, `latitude_replica_used{replica="${number}"}`)) === 1;
}

/** The response of `/health/ready`. */
export async function readiness(server: RunningServer) {
  const response = await fetch(`${server.url}/health/ready`);
  return (await response.json()) as { status: string; warnings?: string[] };
}

/** The number of log lines with a message. */
export function logLines(server: RunningServer, message: string): number {
  return server.stdout.split('\n').filter((line) => line.includes(message)).length;
}
