import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { logger } from '../../config/logger.js';
import { Settings } from '../../config/settings.js';
import { TimeoutError, withTimeout } from '../../config/timeout.js';
import { Readiness } from '../../data/readiness.js';
import { ReadReplicas } from '../../data/gateway/replicas/read-replicas.js';
import type { HttpAdapter } from '../lifecycle/http-adapter.js';
import { RateLimits } from '../../access/limits/rate-limits.js';
import { HealthIndicator, type HealthResult } from './health-indicator.js';

/** The results of all checks by the names of their indicators. */
type HealthResults = Readonly<Record<string, HealthResult>>;

/** Whether an instance is ready, and the reason if it is not. */
export interface ReadinessReport {
  readonly status: 'ok' | 'unavailable';
  /** `draining`, `database` or the name of a health indicator. */
  readonly reason?: string;
  /** A message for operators, without records, keys and addresses. */
  readonly detail?: string;
  /** Present if extensions add health indicators. */
  readonly checks?: HealthResults;
  /** Messages for operators about problems that do not make the instance unready. */
  readonly warnings?: readonly string[];
}

/** How long a report is reused. */
const FRESH_MS = 1_000;

/** Longer than the interval of most health checks. */
const MAX_INTERVAL_MS = 60_000;

/** Longer than three health checks of HAProxy with its default interval, after which it uses other instances. */
const POLLED_DELAY_SECONDS = 7;

const NAME = /^[a-z][a-z0-9_]*$/;
/** Reasons of `/health/ready` that are not names of indicators. */
const RESERVED: ReadonlySet<string> = new Set(['draining', 'database']);

/** Whether the instance is ready, with the checks of extensions. */
@Injectable()
export class HealthService implements OnModuleInit {
  private latest: { startedAt: number; report: Promise<ReadinessReport> } | undefined;
  private readonly down = new Set<string>();
  /** The times of the last two readiness checks, on the clock of `performance.now()`. */
  private checkedAt: readonly number[] = [];

  constructor(
    @Inject(HealthIndicator) private readonly indicators: readonly HealthIndicator[],
    private readonly database: Readiness,
    private readonly limits: RateLimits,
    private readonly replicas: ReadReplicas,
    private readonly host: HttpAdapterHost<HttpAdapter>,
    private readonly settings: Settings,
  ) {}

  /** @throws Error that names an indicator whose name is not valid or not unique */
  onModuleInit(): void {
    const names = this.indicators.map(({ name }) => name);
    const wrong = names.find(
      (name, index) => !NAME.test(name) || RESERVED.has(name) || names.indexOf(name) !== index,
    );
    if (wrong === undefined) return;
    throw new Error(
      `The health indicator ${wrong} needs a name in snake_case that is unique and not one of ${[...RESERVED].join(', ')}.`,
    );
  }

  /**
   * How long an instance that stops still accepts connections (docs/operating/load-balancers.md): the setting. By
   * default, there is a delay while something polls `/health/ready`.
   */
  get shutdownDelaySeconds(): number {
    const since = performance.now() - MAX_INTERVAL_MS;
    const isPolled = this.checkedAt.filter((time) => time > since).length > 1;
    return this.settings.shutdownDelaySeconds ?? (isPolled ? POLLED_DELAY_SECONDS : 0);
  }

  /** Returns a report that is at most a second old, to a load balancer or supervisor. */
  checkReadiness(): Promise<ReadinessReport> {
    this.checkedAt = [...this.checkedAt.slice(-1), performance.now()];
    return this.readReadiness();
  }

  /** Returns a report that is at most a second old. */
  async readReadiness(): Promise<ReadinessReport> {
    const now = performance.now();
    if (this.host.httpAdapter.isDraining) return { status: 'unavailable', reason: 'draining' };
    if (!this.latest || now - this.latest.startedAt > FRESH_MS) {
      this.latest = { startedAt: now, report: this.report() };
    }
    return this.latest.report;
  }

  private async report(): Promise<ReadinessReport> {
    const [reason, results] = await Promise.all([this.database.check(), this.runChecks()]);
    const checks = Object.keys(results).length > 0 ? { checks: results } : {};
    const failure = this.indicators.find(
      ({ name, critical }) => critical && results[name]?.status === 'down',
    );
    if (reason !== undefined) {
      return { status: 'unavailable', reason: 'database', detail: reason, ...checks };
    }
    if (failure) {
      const { name } = failure;
      const detail = results[name]?.detail;
      return { status: 'unavailable', reason: name, ...(detail && { detail }), ...checks };
    }
    const limits = await this.limits.unsharedWarning();
    const warnings = [...(limits ? [limits] : []), ...this.replicas.warnings];
    return { status: 'ok', ...checks, ...(warnings.length > 0 && { warnings }) };
  }

  private async runChecks(): Promise<HealthResults> {
    const results = await Promise.all(
      this.indicators.map(async (indicator) => [indicator.name, await this.check(indicator)]),
    );
    return Object.fromEntries(results) as HealthResults;
  }

  private async check(indicator: HealthIndicator): Promise<HealthResult> {
    const { name, timeoutMs } = indicator;
    const timeout = new AbortController();
    let result: HealthResult;
    let cause: unknown;
    try {
      result = await withTimeout(indicator.check(timeout.signal), timeoutMs);
    } catch (error) {
      const isLate = error instanceof TimeoutError;
      if (isLate) timeout.abort();
      else cause = error;
      const detail = isLate ? `The check did not end in ${timeoutMs} ms.` : 'The check failed.';
      result = { status: 'down', detail };
    }
    const wasDown = this.down.has(name);
    if (result.status === 'up') this.down.delete(name);
    else this.down.add(name);
    if (wasDown !== this.down.has(name)) {
      const { status, detail } = result;
      logger.warn({ indicator: name, status, detail, timeoutMs, err: cause }, 'health indicator');
    }
    return result;
  }
}
