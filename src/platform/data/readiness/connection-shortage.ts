/** How long an instance may have no free connection and no progress before it is unready. */
const MAX_STANDSTILL_MS = 5_000;

/**
 * Distinguishes overload from a standstill. Under overload, every connection is in use but statements
 * complete. An instance that became unready then would shift its load to the others.
 */
export class ConnectionShortage {
  private since: number | undefined;
  private completed = 0;

  /**
   * Records that no connection is free.
   * @param completed how many statements have completed since the start of the process
   * @param now milliseconds of a monotonic clock
   * @returns whether no statement has completed for too long
   */
  record(completed: number, now: number): boolean {
    if (this.since === undefined || completed !== this.completed) this.since = now;
    this.completed = completed;
    return now - this.since >= MAX_STANDSTILL_MS;
  }

  /** Records that a connection was free. */
  end(): void {
    this.since = undefined;
  }
}
