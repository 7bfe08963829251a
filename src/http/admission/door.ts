import { type Load, MOST_UNDER_WAY } from '../../database/gateway/load.js';

/** A burst that is being served has become less than this part of its most, in this time. */
const FALLING = 0.9;
const PATIENCE_MS = 350;

/** Who came just now is served soon; of so many places, one is for who has waited longest. */
const JUST_NOW_MS = 3;
const PLACES = 8;

/** For so long no one has come: no place is kept for them. */
const LULL_MS = 20;

/** For so long there has been no crowd: it is over. */
const CALM_MS = 100;

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
  /** Whoever sent the request has left before it entered or was refused. */
  leave(): void;
  /** @param listener is told when the request is over, or was given up */
  onClose(listener: () => void): void;
}

interface Waiting {
  readonly visitor: Visitor;
  readonly since: number;
}

/**
 * Lets requests in while there is room for them. The others wait, and those who came last enter first,
 * so that who is served is served soon. Where those who wait do not become fewer, there are too many of
 * them: they are refused, and so is whoever comes until they are no crowd any more.
 */
export class Door {
  private state: 'calm' | 'crowded' | 'overloaded' = 'calm';
  /** When there was a crowd last, unless all is calm. */
  private crowdLast = 0;
  /** In the order in which they came. */
  private readonly waiting: Waiting[] = [];
  /** When the last of them came, and how many have entered. */
  private cameLast = 0;
  private entered = 0;
  /** When those who wait were counted, and the most that have waited since. */
  private counted = 0;
  private most = 0;
  /** Looks after those who wait, while there are any. */
  private watch: NodeJS.Timeout | undefined;
  /** Who is refused and has not been told so yet, and when that will be. */
  private readonly refused = new Map<Visitor, NodeJS.Timeout>();
  private isCalling = false;

  constructor(private readonly load: Load) {
    load.onEnd(() => {
      if (this.state !== 'calm') this.look();
    });
  }

  /** Lets a visitor enter, or refuses it: now or later. */
  receive(visitor: Visitor): void {
    if (this.state !== 'calm') this.look();
    if (this.waiting.length === 0 && this.load.room() > 0) {
      visitor.enter();
      return;
    }
    visitor.onClose(() => {
      if (this.forget(visitor)) visitor.leave();
    });
    if (this.state === 'overloaded' && this.areCrowd()) this.refuse(visitor);
    else this.keepWaiting(visitor);
  }

  private keepWaiting(visitor: Visitor): void {
    const now = performance.now();
    if (this.state === 'calm') {
      this.state = 'crowded';
      this.crowdLast = now;
    }
    this.cameLast = now;
    this.waiting.push({ visitor, since: now });
    const longest = this.waiting.length > MOST_WAITING ? this.waiting.shift() : undefined;
    if (longest) this.refuse(longest.visitor);
    this.most = Math.max(this.most, this.waiting.length);
    if (this.load.room() > 0) this.call();
    if (this.watch) return;
    this.count();
    this.watch = setInterval(() => {
      // Who entered may have asked for nothing, so that nothing has ended since.
      this.look();
      if (this.waiting.length > 0) return;
      clearInterval(this.watch);
      this.watch = undefined;
    }, LOOK_EVERY_MS);
  }

  private count(): void {
    this.counted = performance.now();
    this.most = this.waiting.length;
  }

  /** Looks whether those who ask are still a crowd, and whether there is room for who waits. */
  private look(): void {
    const now = performance.now();
    if (this.areCrowd()) this.crowdLast = now;
    else if (this.state !== 'calm' && now - this.crowdLast > CALM_MS) {
      this.state = 'calm';
      this.load.relax();
    }
    if (this.waiting.length > 0 && now - this.counted > PATIENCE_MS) {
      const areFewer = this.waiting.length <= FALLING * this.most;
      this.count();
      if (this.areCrowd() && !areFewer) this.giveUp();
    }
    if (this.waiting.length > 0 && this.load.room() > 0) this.call();
  }

  private areCrowd(): boolean {
    const asking = this.load.underWay + this.waiting.length + this.refused.size;
    return asking >= MOST_UNDER_WAY;
  }

  /** Has as many enter as there is room for, once those who come in this moment are there. */
  private call(): void {
    if (this.isCalling) return;
    this.isCalling = true;
    setImmediate(() => {
      this.isCalling = false;
      for (let room = this.load.room(); room > 0; room--) {
        const next = this.next(room);
        if (!next) return;
        this.entered++;
        next.visitor.enter();
      }
    });
  }

  private next(room: number): Waiting | undefined {
    if (this.entered % PLACES === 0) return this.waiting.shift();
    const latest = this.waiting.at(-1);
    const now = performance.now();
    const isNew = latest !== undefined && now - latest.since < JUST_NOW_MS;
    // The last place is kept for who comes next.
    const isKept = room <= 1 && this.state !== 'calm' && now - this.cameLast < LULL_MS;
    return isNew || !isKept ? this.waiting.pop() : undefined;
  }

  private giveUp(): void {
    this.state = 'overloaded';
    for (const { visitor } of this.waiting.splice(0)) this.refuse(visitor);
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

  /** @returns whether it still waited, or was to be told that it is refused */
  private forget(visitor: Visitor): boolean {
    const place = this.waiting.findIndex((each) => each.visitor === visitor);
    if (place >= 0) this.waiting.splice(place, 1);
    clearTimeout(this.refused.get(visitor));
    const wasRefused = this.refused.delete(visitor);
    this.look();
    return place >= 0 || wasRefused;
  }
}
