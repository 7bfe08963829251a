import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { logger } from '../../config/logger.js';
import { TimeoutError, withTimeout } from '../../config/timeout.js';
import { HealthIndicator, type HealthResult } from './health-indicator.js';

/** The results of all checks by the names of their indicators. */
export type HealthResults = Readonly<Record<string, HealthResult>>;

/** How long results are reused. */
const FRESH_MS = 1_000;

const NAME = /^[a-z][a-z0-9_]*$/;
/** Reasons of `/health/ready` that are not names of indicators. */
const RESERVED: ReadonlySet<string> = new Set(['draining', 'database']);

/** Runs the checks of extensions. */
@Injectable()
export class HealthChecks implements OnModuleInit {
  private latest: { startedAt: number; results: Promise<HealthResults> } | undefined;
  private readonly down = new Set<string>();

  constructor(@Inject(HealthIndicator) private readonly indicators: readonly HealthIndicator[]) {}

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

  /** Returns results that are at most a second old. */
  run(): Promise<HealthResults> {
    const now = performance.now();
    if (!this.latest || now - this.latest.startedAt > FRESH_MS) {
      this.latest = { startedAt: now, results: this.runAll() };
    }
    return this.latest.results;
  }

  /** Returns the name of the first critical indicator that is down. */
  findFailure(results: HealthResults): string | undefined {
    return this.indicators.find(
      ({ name, critical }) => critical && results[name]?.status === 'down',
    )?.name;
  }

  private async runAll(): Promise<HealthResults> {
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
