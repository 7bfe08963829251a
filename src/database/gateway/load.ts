import { Injectable } from '@nestjs/common';

/** A look at what was done: after this time, and so many statements at least. */
const WINDOW_MS = 25;
const LEAST_STATEMENTS = 10;

/** A statement is late that takes so many times what it takes alone, and so much longer. */
const LATE_FACTOR = 2.5;
const LATE_MS = 0.2;

/** So many operations may be under way at a time, however short or long they take. */
export const MOST_UNDER_WAY = 64;
const FEWEST_UNDER_WAY = 2;

/** Where the most that may be under way are too many, so few are tried next. */
const FIRST_TRY = 8;

/** Nothing was heard for so long: what is under way hangs, for which no one else is to blame. */
const STALE_MS = 2_000;

/** For how long it is remembered what a statement takes alone, at least. */
const MEMORY_MS = 10_000;

/**
 * How much the database may be asked for at a time. Where some have to wait for others, it finds out
 * with how many operations at a time each takes hardly longer than alone: hardly more are served with
 * more of them, but each of them later.
 */
@Injectable()
export class Load {
  /** Operations that have begun and are not over. */
  underWay = 0;
  /** Statements that have completed since the start. */
  completed = 0;
  private limit = MOST_UNDER_WAY;
  /** When something was last known not to hang. */
  private heard = 0;
  private window = new Window(0);
  private readonly alone = new ShortestTimes();
  private ended: () => void = () => undefined;

  /** Notes that an operation has begun. */
  begin(): void {
    if (this.underWay++ === 0) this.heard = performance.now();
  }

  /** Notes that it is over, however it went. */
  end(): void {
    this.underWay--;
    this.ended();
  }

  /** @param listener is told whenever an operation is over */
  onEnd(listener: () => void): void {
    this.ended = listener;
  }

  /** How many more operations may begin; where it is none or less, whoever asks has to wait. */
  room(): number {
    const room = Math.floor(this.limit) - this.underWay;
    if (room > 0) return room;
    this.window.isFull = true;
    if (performance.now() - this.heard <= STALE_MS) return room;
    this.relax();
    return MOST_UNDER_WAY - this.underWay;
  }

  /** Notes that no one has to wait any more: what was observed until now is no reason for a limit. */
  relax(): void {
    this.limit = MOST_UNDER_WAY;
    this.window = new Window(performance.now());
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
    this.heard = now;
    this.completed++;
    const alone = this.alone.tell(text, ms, now);
    if (alone !== undefined) this.window.add(ms, alone);
    if (now - this.window.start < WINDOW_MS || this.window.statements < LEAST_STATEMENTS) return;
    // Where no one had to wait, it says nothing about the limit.
    if (this.window.isFull) this.judge(this.window.isLate);
    this.window = new Window(now);
  }

  private judge(isLate: boolean): void {
    let limit = this.limit * (isLate ? 0.8 : 1.05);
    if (isLate && this.limit === MOST_UNDER_WAY) limit = FIRST_TRY;
    this.limit = Math.min(MOST_UNDER_WAY, Math.max(FEWEST_UNDER_WAY, limit));
  }
}

/** What was observed for a moment. */
class Window {
  statements = 0;
  private late = 0;
  /** Whether someone found no room. */
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
