import { Injectable } from '@nestjs/common';

/** The limit is reviewed after this time, and after at least so many statements. */
const WINDOW_MS = 25;
const LEAST_STATEMENTS = 10;

/** A statement is late if it takes this many times its shortest time, and this much longer. */
const LATE_FACTOR = 2.5;
const LATE_MS = 0.2;

/** Upper and lower bound of the limit. */
export const MOST_UNDER_WAY = 64;
const FEWEST_UNDER_WAY = 2;

/** The first limit below the upper bound. */
const FIRST_TRY = 8;

/** If nothing completes for this long, the running operations hang. Others are then not limited. */
const STALE_MS = 2_000;

/** How long the shortest time of a statement is remembered, at least. */
const MEMORY_MS = 10_000;

/**
 * Adaptive limit of concurrent database operations. When operations have to wait, it lowers the limit
 * until statements take hardly longer than alone: a higher limit adds latency and no throughput.
 */
@Injectable()
export class Load {
  /** Number of running operations. */
  underWay = 0;
  /** Number of completed statements since the start. */
  completed = 0;
  private limit = MOST_UNDER_WAY;
  /** When a statement last completed. */
  private heard = 0;
  private window = new Window(0);
  private readonly alone = new ShortestTimes();
  private ended: () => void = () => undefined;

  /** Records the start of an operation. */
  begin(): void {
    if (this.underWay++ === 0) this.heard = performance.now();
  }

  /** Records the end of an operation, successful or not. */
  end(): void {
    this.underWay--;
    this.ended();
  }

  /** @param listener called when an operation ends */
  onEnd(listener: () => void): void {
    this.ended = listener;
  }

  /** How many more operations may start. At zero or less, the caller must wait. */
  room(): number {
    const room = Math.floor(this.limit) - this.underWay;
    if (room > 0) return room;
    this.window.isFull = true;
    if (performance.now() - this.heard <= STALE_MS) return room;
    this.relax();
    return MOST_UNDER_WAY - this.underWay;
  }

  /** Resets the limit, when no operation has to wait any more. */
  relax(): void {
    this.limit = MOST_UNDER_WAY;
    this.window = new Window(performance.now());
  }

  /** Measures how long something takes from now on, unless it fails. */
  async time<T>(what: string, done: Promise<T>): Promise<T> {
    const asked = performance.now();
    const result = await done;
    this.observe(what, performance.now() - asked);
    return result;
  }

  /** Records the time of a statement, including its wait for others. */
  observe(text: string, ms: number): void {
    const now = performance.now();
    this.heard = now;
    this.completed++;
    const alone = this.alone.add(text, ms, now);
    if (alone !== undefined) this.window.add(ms, alone);
    if (now - this.window.start < WINDOW_MS || this.window.statements < LEAST_STATEMENTS) return;
    // Without waiting operations, the times say nothing about the limit.
    if (this.window.isFull) this.judge(this.window.isLate);
    this.window = new Window(now);
  }

  private judge(isLate: boolean): void {
    let limit = this.limit * (isLate ? 0.8 : 1.05);
    if (isLate && this.limit === MOST_UNDER_WAY) limit = FIRST_TRY;
    this.limit = Math.min(MOST_UNDER_WAY, Math.max(FEWEST_UNDER_WAY, limit));
  }
}

/** Statements observed since the last review. */
class Window {
  statements = 0;
  private late = 0;
  /** Whether an operation had to wait. */
  isFull = false;

  constructor(readonly start: number) {}

  add(ms: number, alone: number): void {
    this.statements++;
    if (ms > Math.max(LATE_FACTOR * alone, alone + LATE_MS)) this.late++;
  }

  get isLate(): boolean {
    return this.late > this.statements / 2;
  }
}

/** The shortest recent time of each statement, which is about the time it takes alone. */
class ShortestTimes {
  private lately = new Map<string, Shortest>();
  private before = new Map<string, Shortest>();
  private since = 0;

  /**
   * Adds a time.
   * @returns the shortest time of the statement in milliseconds; undefined if too few are known
   */
  add(text: string, ms: number, now: number): number | undefined {
    if (now - this.since > MEMORY_MS) {
      this.before = this.lately;
      this.lately = new Map();
      this.since = now;
    }
    const before = this.before.get(text);
    let lately = this.lately.get(text);
    if (!lately) this.lately.set(text, (lately = { ms, of: before?.of ?? 0 }));
    lately.ms = Math.min(lately.ms, ms);
    lately.of++;
    return lately.of < LEAST_STATEMENTS ? undefined : Math.min(lately.ms, before?.ms ?? Infinity);
  }
}

interface Shortest {
  ms: number;
  /** Number of times that were measured. */
  of: number;
}
