import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { Authenticator } from '../access/authenticator.js';
import { VERSION } from '../config/version.js';
import { BatchConnections } from '../data/gateway/batch-connections.js';
import type { Replica } from '../data/gateway/replicas/replica.js';
import { ReadReplicas } from '../data/gateway/replicas/read-replicas.js';
import { ERROR_CATALOGUE } from '../errors/error-catalogue.js';
import { RateLimits } from '../access/limits/rate-limits.js';
import type { RequestObserver } from './request/request-context.js';
import { CATCH_ALL_PATH } from './routes/access.js';
import { HealthService } from './health/health.service.js';
import { MetricsRegistry } from '../metrics-registry.js';

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** The headers of `/metrics`. */
export const METRICS_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE,
};

/** Gauges of prom-client that break Prometheus' rules for names, and are the sums of others: `nodejs_active_handles`. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Methods with their own label. Node parses about thirty more, which count as `other`. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** A number or, with a label, one for each of its values. Undefined numbers are left out. */
type Numbers = number | Readonly<Record<string, number | undefined>>;

/**
 * The metrics of one application. Labels have a bounded set of values: patterns of routes, but no
 * paths, organizations or keys.
 */
@Injectable()
export class Metrics {
  private readonly registers = [this.registry];
  private readonly durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Duration of requests from their headers to the end of the response, by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS_SECONDS,
    registers: this.registers,
  });
  private readonly errors = new Counter({
    name: 'latitude_errors_total',
    help: 'Error responses by error code.',
    labelNames: ['code'],
    registers: this.registers,
  });

  constructor(
    private readonly registry: MetricsRegistry,
    { pools }: BatchConnections,
    limits: RateLimits,
    authenticator: Authenticator,
    replicas: ReadReplicas,
    health: HealthService,
  ) {
    for (const code of Object.keys(ERROR_CATALOGUE)) this.errors.inc({ code }, 0);
    const sum = (count: 'totalCount' | 'idleCount' | 'waitingCount') => () =>
      pools.reduce((total, pool) => total + pool[count], 0);
    this.add(Gauge, 'latitude_database_connections', 'Open connections.', sum('totalCount'));
    this.add(Gauge, 'latitude_database_connections_idle', 'Idle connections.', sum('idleCount'));
    this.add(Gauge, 'latitude_database_waiting', 'Waiting statements.', sum('waitingCount'));
    const refusals = 'latitude_rate_limit_refusals_total';
    this.add(Counter, refusals, 'Requests over a limit.', () => limits.refusals, 'limit');
    const shared = 'latitude_rate_limits_shared';
    const isShared = () => Number(limits.areShared);
    this.add(Gauge, shared, '1 if Redis keeps the rate limits, otherwise 0.', isShared);
    const lookups = 'latitude_key_lookups_total';
    this.add(Counter, lookups, 'Key look-ups by source.', () => authenticator.lookups, 'source');
    const refused = 'latitude_refused_keys_total';
    this.add(Counter, refused, 'Refused keys.', () => authenticator.refusals, 'reason');
    this.addBuildInfo();
    const isReady = async () => Number((await health.readReadiness()).status === 'ok');
    this.add(Gauge, 'latitude_ready', '1 if the instance can take requests, otherwise 0.', isReady);
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    if (replicas.all.length > 0) this.addReplicas(replicas);
  }

  /** Counts a finished request. */
  readonly observe: RequestObserver = ({ method, route, status, ms, errorCode }) => {
    const labels = {
      method: METHODS.has(method) ? method : 'other',
      route: route === null || route.endsWith(CATCH_ALL_PATH) ? 'unknown' : route,
      status: status ?? 'aborted',
    };
    this.durations.observe(labels, ms / 1000);
    if (errorCode) this.errors.inc({ code: errorCode });
  };

  /** Returns all metrics in Prometheus' text format. */
  scrape(): Promise<string> {
    return this.registry.metrics();
  }

  /** Exports what another class keeps. */
  private add(
    type: typeof Counter | typeof Gauge,
    name: string,
    help: string,
    read: () => Numbers | Promise<Numbers>,
    label?: string,
  ): void {
    const metric = new type({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: this.registers,
      collect: async () => {
        const found = await read();
        metric.reset();
        if (typeof found === 'number') metric.inc(found);
        else
          for (const [value, number] of Object.entries(found)) {
            if (number !== undefined && label !== undefined) metric.inc({ [label]: value }, number);
          }
      },
    });
  }

  /** The label of a replica is its place in the setting, from 1. */
  private addReplicas({ all, reads }: ReadReplicas): void {
    const ofEach = (read: (replica: Replica) => number | undefined) => () =>
      Object.fromEntries(all.map((replica, index) => [index + 1, read(replica)]));
    this.add(
      Counter,
      'latitude_replica_reads_total',
      'Reads that may use a replica, by the server that ran them: replica or primary.',
      () => reads,
      'server',
    );
    this.add(
      Gauge,
      'latitude_replica_used',
      '1 if reads use the replica, 0 if it is left out.',
      ofEach(({ availability }) => Number(availability.isUsed)),
      'replica',
    );
    this.add(
      Gauge,
      'latitude_replica_lag_bytes',
      'How far it was behind the primary at its last check.',
      ofEach(({ lagBytes }) => lagBytes),
      'replica',
    );
  }

  private addBuildInfo(): void {
    new Gauge({
      name: 'latitude_build_info',
      help: 'Always 1, with the versions as labels.',
      labelNames: ['version', 'node'],
      registers: this.registers,
    }).set({ version: VERSION, node: process.versions.node }, 1);
  }
}
