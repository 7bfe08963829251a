import { type Load, MOST_UNDER_WAY } from '../../database/gateway/load.js';

/** The queue of a burst that is being served shrinks to this part of its maximum within this time. */
const FALLING = 0.9;
const PATIENCE_MS = 350;

/** Requests younger than this are admitted first. Every eighth admission is for the oldest request. */
const JUST_NOW_MS = 3;
const PLACES = 8;

/** Time without new requests after which no place is reserved for them. */
const LULL_MS = 20;

/** Time without an excess of requests after which the overload has ended. */
const CALM_MS = 100;

const LOOK_EVERY_MS = 10;

/** Refusals are delayed, because clients that retry at once take CPU time from admitted requests. */
const SHORTEST_HOLD_MS = 100;
const LONGEST_HOLD_MS = 400;

/** Maximum length of the queue. One more request makes the oldest one be refused. */
const MOST_WAITING = 1_024;

/** A request that is not admitted yet. */
export interface Visitor {
  enter(): void;
  refuse(): void;
  /** The client has closed the connection before the request was admitted or refused. */
  leave(): void;
  /** @param listener called when the response or its connection is closed */
  onClose(listener: () => void): void;
}

interface Waiting {
  readonly visitor: Visitor;
  readonly since: number;
}

/**
 * Admits requests up to the concurrency limit. The others wait in a queue, and the newest is admitted
 * first, so that latencies stay short. If the queue does not shrink, the server is overloaded: it refuses
 * all waiting requests, and new ones until their number is normal again.
 */
export class Door {
  private state: 'calm' | 'crowded' | 'overloaded' = 'calm';
  /** Time of the latest excess of requests. Unused while the state is `calm`. */
  private crowdLast = 0;
  /** The queue, oldest first. */
  private readonly waiting: Waiting[] = [];
  /** Time of the latest queued request, and the number of admissions from the queue. */
  private cameLast = 0;
  private entered = 0;
  /** Time of the latest count of the queue, and its maximum length since then. */
  private counted = 0;
  private most = 0;
  /** Checks the queue while it is not empty. */
  private watch: NodeJS.Timeout | undefined;
  /** Refused requests whose response is delayed, with their timers. */
  private readonly refused = new Map<Visitor, NodeJS.Timeout>();
  private isCalling = false;

  constructor(private readonly load: Load) {
    load.onEnd(() => {
      if (this.state !== 'calm') this.look();
    });
  }

  /** Admits or refuses a request, immediately or later. */
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
      // Admitted requests do not always use the database, so `onEnd` alone is not sufficient.
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

  /** Updates the state and admits queued requests. */
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

  /** Admits queued requests up to the concurrency limit, on the next tick. */
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
    // The last place is reserved for new requests.
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

  /** @returns whether the request was queued or its refusal was delayed */
  private forget(visitor: Visitor): boolean {
    const place = this.waiting.findIndex((each) => each.visitor === visitor);
    if (place >= 0) this.waiting.splice(place, 1);
    clearTimeout(this.refused.get(visitor));
    const wasRefused = this.refused.delete(visitor);
    this.look();
    return place >= 0 || wasRefused;
  }
}
