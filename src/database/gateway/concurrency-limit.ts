import { Injectable } from '@nestjs/common';

/** The limit is adjusted after this time, and after at least so many statements. */
const WINDOW_MS = 25;
const MIN_STATEMENTS = 10;

/** A statement is slow if it takes this many times its baseline, and this much longer than it. */
const SLOW_FACTOR = 2.5;
const SLOW_MS = 0.2;

/** Bounds of the limit. The first window with slow statements reduces it to the lower one. */
export const MAX_LIMIT = 64;
const MIN_LIMIT = 4;

/** If no statement completes for this long, new operations are not limited, because the running ones hang. */
const STALE_MS = 2_000;

/** The shortest time of a statement is its baseline for at least this long. */
const BASELINE_MS = 10_000;

/**
 * Adaptive limit of concurrent database operations. While operations have to wait, it lowers the limit until
 * a statement takes hardly longer than without concurrent ones. A higher limit would add latency and no
 * throughput.
 */
@Injectable()
export class ConcurrencyLimit {
  /** Number of running operations. */
  inFlight = 0;
  /** Number of completed statements since startup. */
  completed = 0;
  private limit = MAX_LIMIT;
  /** When a statement last completed. */
  private lastCompleted = 0;
  private window = new Window(0);
  private readonly baselines = new Baselines();
  private released: () => void = () => undefined;

  /** Records the start of an operation. */
  acquire(): void {
    if (this.inFlight++ === 0) this.lastCompleted = performance.now();
  }

  /** Records the end of an operation, successful or not. */
  release(): void {
    this.inFlight--;
    this.released();
  }

  /** @param listener called when an operation ends */
  onRelease(listener: () => void): void {
    this.released = listener;
  }

  /** Whether another operation would have to wait. */
  get isReached(): boolean {
    return this.free <= 0;
  }

  /** How many more operations may start. At zero or less, the caller must wait. */
  available(): number {
    if (!this.isReached) return this.free;
    this.window.wasExhausted = true;
    if (performance.now() - this.lastCompleted <= STALE_MS) return this.free;
    this.reset();
    return MAX_LIMIT - this.inFlight;
  }

  /** Resets the limit. Call it when no operation waits. */
  reset(): void {
    this.limit = MAX_LIMIT;
    this.window = new Window(performance.now());
  }

  /** Records the time from this call until a promise is fulfilled. A rejection is not recorded. */
  async time<T>(name: string, running: Promise<T>): Promise<T> {
    const start = performance.now();
    const result = await running;
    this.record(name, performance.now() - start);
    return result;
  }

  /** Records the time of a statement, including its wait for a connection. */
  record(text: string, ms: number): void {
    const now = performance.now();
    this.lastCompleted = now;
    this.completed++;
    const baseline = this.baselines.add(text, ms, now);
    if (baseline !== undefined) this.window.add(ms, baseline);
    if (now - this.window.start < WINDOW_MS || this.window.statements < MIN_STATEMENTS) return;
    // Without waiting operations, the times say nothing about the limit.
    if (this.window.wasExhausted) this.adjust(this.window.isSlow);
    this.window = new Window(now);
  }

  private get free(): number {
    return Math.floor(this.limit) - this.inFlight;
  }

  private adjust(isSlow: boolean): void {
    let limit = this.limit * (isSlow ? 0.8 : 1.05);
    if (isSlow && this.limit === MAX_LIMIT) limit = MIN_LIMIT;
    this.limit = Math.min(MAX_LIMIT, Math.max(MIN_LIMIT, limit));
  }
}

/** The statements since the last adjustment. */
class Window {
  statements = 0;
  private slow = 0;
  /** Whether an operation had to wait. */
  wasExhausted = false;

  constructor(readonly start: number) {}

  add(ms: number, baseline: number): void {
    this.statements++;
    if (ms > Math.max(SLOW_FACTOR * baseline, baseline + SLOW_MS)) this.slow++;
  }

  get isSlow(): boolean {
    return this.slow > this.statements / 2;
  }
}

/** The shortest recent time of each statement: about the time that it takes without concurrent ones. */
class Baselines {
  private current = new Map<string, Baseline>();
  private previous = new Map<string, Baseline>();
  private since = 0;

  /**
   * Adds a time.
   * @returns the shortest time of the statement in milliseconds; undefined if too few are known
   */
  add(text: string, ms: number, now: number): number | undefined {
    if (now - this.since > BASELINE_MS) {
      this.previous = this.current;
      this.current = new Map();
      this.since = now;
    }
    const previous = this.previous.get(text);
    let current = this.current.get(text);
    if (!current) this.current.set(text, (current = { ms, count: previous?.count ?? 0 }));
    current.ms = Math.min(current.ms, ms);
    current.count++;
    return current.count < MIN_STATEMENTS
      ? undefined
      : Math.min(current.ms, previous?.ms ?? Infinity);
  }
}

interface Baseline {
  ms: number;
  /** Number of measured times. */
  count: number;
}
