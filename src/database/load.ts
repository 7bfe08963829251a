import { Injectable } from '@nestjs/common';

/** A look at what was done: after this time, and so many statements at least. */
const WINDOW_MS = 25;
const LEAST_STATEMENTS = 10;

/** A statement is late that takes so many times what it takes alone, and so much longer. */
const LATE_FACTOR = 4;
const LATE_MS = 2;

/** So many windows in a row in which most statements are late are no burst. */
const LATE_WINDOWS = 4;

/** A crowd is as much as would take so long one by one, within these numbers of operations. */
const CROWD_MS = 1_000;
const LEAST_CROWD = 12;
const MOST_CROWD = 96;

/** So many operations may be under way however long they take, and however short. */
const FEWEST = 4;
const MOST = 256;

/** How long after the last refusal the limit still holds: those who were refused come back. */
const AFTERMATH_MS = 2_000;

/** For how long it is remembered what a statement takes alone, at least. */
const MEMORY_MS = 10_000;

/**
 * How much the database is asked for at a time. Where operations queue up, it says so, until their
 * number is one with which each takes hardly longer than alone: so much is served, and no less, as
 * without the others.
 */
@Injectable()
export class Load {
  private underWay = 0;
  /** Operations that may be under way at a time; infinite while there is no crowd. */
  private limit = Infinity;
  private refusedAt = -Infinity;
  private lateWindows = 0;
  private window = new Window(0, 0);
  private readonly alone = new ShortestTimes();

  /** Notes that an operation has begun. */
  begin(): void {
    this.underWay++;
    this.window.most = Math.max(this.window.most, this.underWay);
  }

  /** Notes that it is over, however it went. */
  end(): void {
    this.underWay--;
  }

  /** Notes how long a statement took from when it was asked for, with its wait for others. */
  observe(text: string, ms: number): void {
    const now = performance.now();
    const alone = this.alone.tell(text, ms, now);
    if (alone !== undefined) this.window.add(ms, alone);
    if (now - this.window.start < WINDOW_MS || this.window.statements < LEAST_STATEMENTS) return;
    this.judge(now);
    this.window = new Window(now, this.underWay);
  }

  /** Whether a request that arrives now has to be refused, so that the others are served. */
  refuses(): boolean {
    if (this.underWay < this.limit && this.underWay < MOST) return false;
    const now = performance.now();
    // Nothing that was under way then is telling any more.
    if (now - this.window.start > AFTERMATH_MS) this.limit = Infinity;
    this.refusedAt = now;
    return this.underWay >= Math.min(this.limit, MOST);
  }

  private judge(now: number): void {
    const { most, isLate, crowd } = this.window;
    this.lateWindows = isLate ? this.lateWindows + 1 : 0;
    if (this.limit === Infinity) {
      if (this.lateWindows >= LATE_WINDOWS && most > crowd) this.limit = crowd / 3;
    } else if (isLate) {
      this.limit = Math.max(FEWEST, 0.8 * this.limit);
    } else if (now - this.refusedAt > AFTERMATH_MS) {
      this.limit = Infinity;
    } else {
      this.limit = Math.min(crowd, 1.05 * this.limit);
    }
  }
}

/** What was observed for a moment. */
class Window {
  statements = 0;
  private late = 0;
  private aloneMs = 0;

  /** @param most operations that were under way at a time */
  constructor(
    readonly start: number,
    public most: number,
  ) {}

  add(ms: number, alone: number): void {
    this.statements++;
    this.aloneMs += alone;
    if (ms > Math.max(LATE_FACTOR * alone, alone + LATE_MS)) this.late++;
  }

  get isLate(): boolean {
    return this.late > this.statements / 2;
  }

  /** How many operations of this kind are a crowd. */
  get crowd(): number {
    const inTime = (CROWD_MS * this.statements) / this.aloneMs;
    return Math.min(MOST_CROWD, Math.max(LEAST_CROWD, inTime));
  }
}

/** The shortest time that each statement has taken lately, which is what it takes alone. */
class ShortestTimes {
  private lately = new Map<string, Shortest>();
  private before = new Map<string, Shortest>();
  private since = 0;

  /**
   * Notes a time.
   * @returns the shortest of this statement, in milliseconds; undefined where too few are known
   */
  tell(text: string, ms: number, now: number): number | undefined {
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
  /** How many times it is the shortest of. */
  of: number;
}
