import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Readiness } from '../../data/readiness/readiness.js';
import { Replicas } from '../../data/replicas/replicas.js';
import type { HttpAdapter } from '../lifecycle/http-adapter.js';
import { UnsharedLimitsWarning } from '../../access/limits/unshared-limits-warning.js';
import { HealthChecks, type HealthResults } from './health-checks.js';

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

@Injectable()
export class HealthService {
  constructor(
    private readonly database: Readiness,
    private readonly checks: HealthChecks,
    private readonly unsharedLimits: UnsharedLimitsWarning,
    private readonly replicas: Replicas,
    private readonly host: HttpAdapterHost<HttpAdapter>,
  ) {}

  async checkReadiness(): Promise<ReadinessReport> {
    if (this.host.httpAdapter.isDraining) return { status: 'unavailable', reason: 'draining' };
    const [reason, results] = await Promise.all([this.database.unreadyReason(), this.checks.run()]);
    const checks = Object.keys(results).length > 0 ? { checks: results } : {};
    const failure = this.checks.findFailure(results);
    if (reason !== undefined) {
      return { status: 'unavailable', reason: 'database', detail: reason, ...checks };
    }
    if (failure !== undefined) {
      const detail = results[failure]?.detail;
      return { status: 'unavailable', reason: failure, ...(detail && { detail }), ...checks };
    }
    const limits = await this.unsharedLimits.message();
    const warnings = [...(limits ? [limits] : []), ...this.replicas.warnings];
    return { status: 'ok', ...checks, ...(warnings.length > 0 && { warnings }) };
  }
}
