import { Injectable } from '@nestjs/common';
import { TimeBudget } from '../../platform/data/gateway/policies.js';
import { ServerLoad } from '../../platform/jobs/server-load.js';

/** The minimum time between two runs of a handler, so that it receives more events together. */
const PAUSE_MS = 1_000;

/** Lets handlers that are not urgent wait while the server has much to do. */
@Injectable()
export class Deferral {
  /** When each handler began to wait. */
  private readonly waitsSince = new Map<string, number>();
  /** The handlers that do not wait before they have reached a position. */
  private readonly goals = new Map<string, number>();

  constructor(
    private readonly load: ServerLoad,
    private readonly timeBudget: TimeBudget,
  ) {}

  /** How long a handler pauses after it has received all events. */
  get pauseMs(): number {
    return Math.min(PAUSE_MS, this.timeBudget.deferralMs);
  }

  /** Whether a handler has to wait. */
  mustWait(name: string): boolean {
    if (this.goals.has(name)) return false;
    if (!this.load.isHigh()) {
      this.waitsSince.delete(name);
      return false;
    }
    const now = performance.now();
    const since = this.waitsSince.get(name) ?? now;
    this.waitsSince.set(name, since);
    return now - since < this.timeBudget.deferralMs;
  }

  /**
   * Called when a handler runs. It does not wait again before it has received the events that existed when it began, so that
   * it catches up, and then waits also if there are always new ones.
   * @param position of the last event that this run receives
   * @param head position of the last event that exists
   */
  runs(name: string, position: number, head: number): void {
    const goal = this.goals.get(name) ?? head;
    this.waitsSince.delete(name);
    if (position < goal) this.goals.set(name, goal);
    else this.goals.delete(name);
  }
}
