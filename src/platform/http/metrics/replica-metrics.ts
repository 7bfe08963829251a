import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { Replicas } from '../../data/replicas/replicas.js';
import type { Replica } from '../../data/replicas/replica.js';
import { MetricsRegistry } from '../../metrics-registry.js';

/** The metrics of read replicas. Their label is the place of the replica in the setting, from 1. */
@Injectable()
export class ReplicaMetrics {
  constructor(
    private readonly registry: MetricsRegistry,
    private readonly replicas: Replicas,
  ) {
    if (replicas.all.length === 0) return;
    const reads = new Counter({
      name: 'latitude_replica_reads_total',
      help: 'Reads that may use a replica, by the server that ran them: replica or primary.',
      labelNames: ['server'],
      registers: [registry],
      collect: () => {
        reads.reset();
        for (const [server, count] of Object.entries(replicas.reads)) reads.inc({ server }, count);
      },
    });
    const used = 'latitude_replica_used';
    this.addGauge(used, '1 if reads use the replica, 0 if it is left out.', (replica) =>
      Number(replica.availability.isUsed),
    );
    const lag = 'latitude_replica_lag_bytes';
    this.addGauge(lag, 'How far it was behind the primary at its last check.', (replica) => {
      return replica.lagBytes;
    });
  }

  /** @param read undefined removes the sample of the replica */
  private addGauge(
    name: string,
    help: string,
    read: (replica: Replica) => number | undefined,
  ): void {
    const gauge = new Gauge({
      name,
      help,
      labelNames: ['replica'],
      registers: [this.registry],
      collect: () => {
        gauge.reset();
        for (const [index, each] of this.replicas.all.entries()) {
          const value = read(each);
          if (value !== undefined) gauge.set({ replica: String(index + 1) }, value);
        }
      },
    });
  }
}
