import { type Load, MOST_UNDER_WAY } from '../database/load.js';

/** In this time, those who wait have become less than this part of their most, unless more come. */
const PATIENCE_MS = 500;
const FALLING = 0.8;
const LOOK_EVERY_MS = 10;

/** Callers who come back at once must not take the time of those who are served. */
const SHORTEST_HOLD_MS = 100;
const LONGEST_HOLD_MS = 400;

/** A further one takes the place of who waits longest. */
const MOST_WAITING = 1_024;

/** A request at the door. */
export interface Visitor {
  enter(): void;
  refuse(): void;
  /** @param listener is told when whoever sent the request waits for it no longer */
  onLeave(listener: () => void): void;
}

/**
 * Lets requests in while there is room for them. The others wait, and the latest of them enters first,
 * so that who is served is served soon. Where someone has had to wait at every moment for longer than a
 * burst lasts, they are too many: they are refused until they are no crowd any more.
 */
export class Door {
  /** The latest is the last. */
  private readonly waiting: Visitor[] = [];
  /** Who is refused and has not been told so yet, and when that will be. */
  private readonly refused = new Map<Visitor, NodeJS.Timeout>();
  /** The most that have waited since they were looked at. */
  private most = 0;
  /** Looks after those who wait, while there are any. */
  private watch: NodeJS.Timeout | undefined;
  private isCalling = false;
  private isOverloaded = false;

  constructor(private readonly load: Load) {
    load.onEnd(() => {
      if (this.isOverloaded) this.look();
      else if (this.waiting.length > 0) this.call();
    });
  }

  /** Lets a visitor enter, or refuses it: now or later. */
  receive(visitor: Visitor): void {
    if (this.load.room() > 0) {
      visitor.enter();
      return;
    }
    visitor.onLeave(() => {
      this.forget(visitor);
    });
    if (this.isOverloaded) this.refuse(visitor);
    else this.keepWaiting(visitor);
  }

  private keepWaiting(visitor: Visitor): void {
    this.waiting.push(visitor);
    const longest = this.waiting.length > MOST_WAITING ? this.waiting.shift() : undefined;
    if (longest) this.refuse(longest);
    this.most = Math.max(this.most, this.waiting.length);
    if (this.watch) return;
    let since = performance.now();
    this.watch = setInterval(() => {
      if (performance.now() - since > PATIENCE_MS) {
        if (this.waiting.length > FALLING * this.most) this.giveUp();
        since = performance.now();
        this.most = this.waiting.length;
      }
      // Who entered may have asked for nothing, so that nothing has ended since.
      this.call();
    }, LOOK_EVERY_MS);
  }

  /** Has as many enter as there is room for, once those who come in this moment stand in line. */
  private call(): void {
    if (this.isCalling) return;
    this.isCalling = true;
    setImmediate(() => {
      this.isCalling = false;
      for (let room = this.load.room(); room > 0; room--) this.waiting.pop()?.enter();
      this.look();
    });
  }

  /** Looks whether those who ask have become no crowd. */
  private look(): void {
    const asking = this.load.underWay + this.refused.size;
    if (this.isOverloaded ? asking < MOST_UNDER_WAY : this.waiting.length === 0) this.relax();
  }

  private giveUp(): void {
    this.isOverloaded = true;
    this.stopWatching();
    for (const visitor of this.waiting.splice(0)) this.refuse(visitor);
  }

  private relax(): void {
    this.isOverloaded = false;
    this.stopWatching();
    this.load.relax();
  }

  private stopWatching(): void {
    clearInterval(this.watch);
    this.watch = undefined;
    this.most = 0;
  }

  private refuse(visitor: Visitor): void {
    const [longest] = this.refused.size < MOST_WAITING ? [] : this.refused.keys();
    if (longest) this.tell(longest);
    const ms = SHORTEST_HOLD_MS + (LONGEST_HOLD_MS - SHORTEST_HOLD_MS) * Math.random();
    const telling = setTimeout(() => {
      this.tell(visitor);
    }, ms);
    this.refused.set(visitor, telling);
  }

  private tell(visitor: Visitor): void {
    this.forget(visitor);
    visitor.refuse();
  }

  private forget(visitor: Visitor): void {
    clearTimeout(this.refused.get(visitor));
    this.refused.delete(visitor);
    const place = this.waiting.indexOf(visitor);
    if (place >= 0) this.waiting.splice(place, 1);
    this.look();
  }
}
