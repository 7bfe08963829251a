/** The result of a check, as in @nestjs/terminus. */
export interface HealthResult {
  readonly status: 'up' | 'down';
  /** A message for operators. Everyone can read it: it must contain no records, keys or addresses. */
  readonly detail?: string;
}

/** Time limit of a check in milliseconds. Many load balancers wait for one second only. */
const DEFAULT_TIMEOUT_MS = 900;

/** A check of `/health/ready`. Extensions add them (docs/guides/replace-and-add.md#health-indicators). */
export abstract class HealthIndicator {
  /** Unique, in snake_case, such as `sms_provider`. */
  abstract readonly name: string;
  /** Whether the instance is not ready while the check fails. Otherwise the failure is only reported. */
  readonly critical: boolean = true;
  readonly timeoutMs: number = DEFAULT_TIMEOUT_MS;

  /**
   * Runs at most once a second. An exception counts as `down`; its message is not sent.
   * @param signal aborted after the time limit
   */
  abstract check(signal: AbortSignal): Promise<HealthResult>;
}
