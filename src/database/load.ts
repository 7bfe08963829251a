import { Injectable } from '@nestjs/common';

/** A look at what was done: after this time, and so many statements at least. */
const WINDOW_MS = 25;
const LEAST_STATEMENTS = 10;

/** A statement is late that takes so many times what it takes alone, and so much longer. */
const LATE_FACTOR = 4;
const LATE_MS = 2;

/** So many windows in a row in which most statements are late are no burst. */
const LATE_WINDOWS = 6;

/** A burst is over soon: what is under way has become less than this part of its most. */
const FALLING = 0.8;

/** More than so many operations are a crowd, and so many that ask are none any more. */
const CROWD = 96;
const CALM = 48;

/** So many operations may be under way however long they take, and however short. */
const FEWEST = 4;
const MOST = 256;

/** Nothing has been told for so long: what is under way hangs, for which no one else is to blame. */
const STALE_MS = 2_000;

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
  /** Requests that were refused and have not been told so yet. */
  private refused = 0;
  /** Operations that may be under way at a time; infinite while there is no crowd. */
  private limit = Infinity;
  private lateWindows = 0;
  /** The most that was under way since statements are late. */
  private peak = 0;
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

  /** Notes how long something takes from now on, unless it fails. */
  async time<T>(what: string, done: Promise<T>): Promise<T> {
    const asked = performance.now();
    const result = await done;
    this.observe(what, performance.now() - asked);
    return result;
  }

  /** Notes how long a statement took from when it was asked for, with its wait for others. */
  observe(text: string, ms: number): void {
    const now = performance.now();
    const alone = this.alone.tell(text, ms, now);
    if (alone !== undefined) this.window.add(ms, alone);
    if (now - this.window.start < WINDOW_MS || this.window.statements < LEAST_STATEMENTS) return;
    this.judge();
    this.window = new Window(now, this.underWay);
  }

  /**
   * Whether a request that arrives now has to be refused, so that the others are served. One that is
   * counts as one who asks until `dismiss`.
   */
  refuses(): boolean {
    if (this.underWay < this.limit && this.underWay < MOST) return false;
    const isCalm = this.underWay + this.refused < CALM;
    const isStale = performance.now() - this.window.start > STALE_MS;
    if (isCalm || isStale) this.limit = Infinity;
    const isFull = this.underWay >= Math.min(this.limit, MOST);
    if (isFull) this.refused++;
    return isFull;
  }

  /** Notes that one who was refused has been told so. */
  dismiss(): void {
    this.refused--;
  }

  private judge(): void {
    const { isLate, most } = this.window;
    this.lateWindows = isLate ? this.lateWindows + 1 : 0;
    this.peak = isLate ? Math.max(this.peak, most) : 0;
    if (this.limit === Infinity) {
      const isCrowd = most > CROWD && most >= FALLING * this.peak;
      if (this.lateWindows >= LATE_WINDOWS && isCrowd) this.limit = CROWD / 3;
    } else {
      const limit = isLate ? 0.8 * this.limit : 1.05 * this.limit;
      this.limit = Math.min(CROWD, Math.max(FEWEST, limit));
    }
  }
}

/** What was observed for a moment. */
class Window {
  statements = 0;
  private late = 0;

  /** @param most operations that were under way at a time */
  constructor(
    readonly start: number,
    public most: number,
  ) {}

  add(ms: number, alone: number): void {
    this.statements++;
    if (ms > Math.max(LATE_FACTOR * alone, alone + LATE_MS)) this.late++;
  }

  get isLate(): boolean {
    return this.late > this.statements / 2;
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
