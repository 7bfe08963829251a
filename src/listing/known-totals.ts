/** A total that took a scan, and the version of the records that it counts. */
export interface KnownTotal {
  readonly total: number;
  readonly version: string;
}

/** Some 200 bytes each. */
const MOST_TOTALS = 5_000;

/**
 * Totals that need not be counted again while nothing has changed. Whether something has is asked of
 * the database in the statement that uses one: what is remembered is never answered on its own.
 */
export class KnownTotals {
  private readonly totals = new Map<string, KnownTotal>();

  get(key: string): KnownTotal | undefined {
    return this.totals.get(key);
  }

  set(key: string, total: KnownTotal): void {
    // The one that was used longest ago stands first.
    this.totals.delete(key);
    this.totals.set(key, total);
    if (this.totals.size <= MOST_TOTALS) return;
    const [oldest] = this.totals.keys();
    if (oldest !== undefined) this.totals.delete(oldest);
  }

  delete(key: string): void {
    this.totals.delete(key);
  }
}
