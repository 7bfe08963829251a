import { logger } from '../../../config/logger.js';

/** Bounds of the time for which a replica is left out. It doubles while the replica keeps failing. */
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

/** Whether a replica is used. Each change is logged once. */
export class Availability {
  /** Why the replica is left out; undefined while it is used. */
  problem: string | undefined = 'it has not been checked yet';
  private pauseMs = 0;
  /** When the replica was last included or left out, by the monotonic clock. */
  private since = 0;

  /** @param replica host and port of the replica, for the log */
  constructor(private readonly replica: string) {}

  get isUsed(): boolean {
    return this.problem === undefined;
  }

  /** Records that a check has succeeded. The replica is used when its pause is over. */
  succeed(): void {
    const now = performance.now();
    if (this.isUsed || now - this.since < this.pauseMs) return;
    this.problem = undefined;
    this.since = now;
    logger.info({ replica: this.replica }, 'reads use a read replica');
  }

  /**
   * Leaves the replica out.
   * @param err the cause, for the log
   */
  fail(problem: string, err?: unknown): void {
    if (this.isUsed) this.pause();
    if (this.problem === problem) return;
    this.problem = problem;
    logger.warn({ replica: this.replica, reason: problem, err }, 'a read replica is left out');
  }

  private pause(): void {
    const now = performance.now();
    const wasLong = now - this.since > MAX_PAUSE_MS;
    const doubled = Math.max(MIN_PAUSE_MS, 2 * this.pauseMs);
    this.pauseMs = wasLong ? MIN_PAUSE_MS : Math.min(MAX_PAUSE_MS, doubled);
    this.since = now;
  }
}
