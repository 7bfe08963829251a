import { AggregatorRegistry } from 'prom-client';
import type { MetricReport } from './messages.js';
import type { WorkerProcess } from './worker-process.js';

/**
 * How long a page waits for the metrics of a worker. After that, it uses the last ones that the worker sent.
 */
const REPORT_TIMEOUT_MS = 1_000;

/** Aggregates the metrics of all workers, including the counts of workers that have ended. */
export class WorkerMetrics {
  private readonly latest = new Map<WorkerProcess, MetricReport>();
  private ofEnded: Promise<MetricReport> = Promise.resolve([]);

  receive(worker: WorkerProcess, report: MetricReport): void {
    this.latest.set(worker, report);
  }

  /** Keeps the counts of a worker that has ended, because counters must not decrease. */
  keep(worker: WorkerProcess): void {
    const report = this.latest.get(worker);
    this.latest.delete(worker);
    if (!report) return;
    const counts = report.filter(({ type }) => COUNTS.has(String(type)));
    this.ofEnded = this.ofEnded.then((kept) => join([kept, counts]).getMetricsAsJSON());
  }

  /** Returns all metrics in the text format of Prometheus. */
  async page(others: readonly WorkerProcess[]): Promise<string> {
    await Promise.allSettled(others.map((worker) => worker.requestReport(REPORT_TIMEOUT_MS)));
    return join([...this.latest.values(), await this.ofEnded]).metrics();
  }
}

const COUNTS: ReadonlySet<string> = new Set(['counter', 'histogram']);

function join(reports: readonly MetricReport[]) {
  return AggregatorRegistry.aggregate([...reports]);
}
