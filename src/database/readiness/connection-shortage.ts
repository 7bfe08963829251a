/** How long an instance may lack connections without progress before it is unready. */
const LONGEST_STANDSTILL_MS = 5_000;

/**
 * Tells an overload from a standstill. Under overload every connection is in use but statements
 * complete; an instance that reported itself unready then would pass its load on to the others.
 */
export class ConnectionShortage {
  private since: number | undefined;
  private completed = 0;

  /**
   * Notes that no connection is free.
   * @param completed how many statements have completed since the start of the process
   * @param now milliseconds of a clock that is never set back
   * @returns whether nothing has completed for too long
   */
  note(completed: number, now: number): boolean {
    if (this.since === undefined || completed !== this.completed) this.since = now;
    this.completed = completed;
    return now - this.since >= LONGEST_STANDSTILL_MS;
  }

  /** Notes that a connection was free. */
  end(): void {
    this.since = undefined;
  }
}
