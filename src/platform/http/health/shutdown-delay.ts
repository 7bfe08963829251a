import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';

/** Longer than the interval of most health checks. */
const MAX_INTERVAL_MS = 60_000;

/** Longer than three health checks of HAProxy with its default interval, after which it uses other instances. */
const POLLED_DELAY_SECONDS = 7;

/** How long an instance that stops still accepts connections (docs/guides/operator.md#load-balancers). */
@Injectable()
export class ShutdownDelay {
  /** The times of the last two readiness checks, on the clock of `performance.now()`. */
  private checkedAt: readonly number[] = [];

  constructor(private readonly settings: Settings) {}

  /** Records that something asked whether the instance is ready. */
  recordCheck(): void {
    this.checkedAt = [...this.checkedAt.slice(-1), performance.now()];
  }

  /** The setting. By default, there is a delay while something polls `/health/ready`. */
  get seconds(): number {
    return this.settings.shutdownDelaySeconds ?? (this.isPolled ? POLLED_DELAY_SECONDS : 0);
  }

  private get isPolled(): boolean {
    const since = performance.now() - MAX_INTERVAL_MS;
    return this.checkedAt.filter((time) => time > since).length > 1;
  }
}
