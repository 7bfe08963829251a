import { Injectable } from '@nestjs/common';
import type { Call } from '../../../platform/data/call.js';
import { type Interval, spanOf } from '../hours/free-time.js';
import { type BusyInterval, type BusyTimes, BusyTimesRepository } from './busy-times.repository.js';
import { PROPOSALS } from './conflicts.js';

/** The longest window of a resource that is kept. */
const MAX_KEPT = 4 * PROPOSALS.within;

/** What takes time of a resource in a window. */
interface Known {
  readonly window: Interval;
  readonly busy: readonly BusyInterval[];
}

/**
 * What takes time of resources in the windows in which conflicts look for free times. A batch can have a hundred conflicts and
 * name twenty resources with thousands of appointments. Its transaction has locked the resources, so that only it takes their
 * time: it reads what is taken once, and again when it has taken more. What it frees is not proposed.
 */
@Injectable()
export class ProposalTimes {
  /** What each transaction has read. */
  private readonly known = new WeakMap<object, Map<string, Known>>();

  constructor(private readonly busyTimes: BusyTimesRepository) {}

  /** @throws ApiError `query_failed` */
  async within(call: Call, ids: readonly string[], window: Interval): Promise<BusyTimes> {
    if (!call.transaction) return this.busyTimes.within(call, ids, window);
    const known = this.known.get(call.transaction.identity) ?? new Map<string, Known>();
    this.known.set(call.transaction.identity, known);
    const missing = ids.filter((id) => !covers(known.get(id)?.window, window));
    if (missing.length > 0) {
      const extended = spanOf(missing.map((id) => extend(known.get(id)?.window, window)));
      const read = await this.busyTimes.within(call, missing, extended);
      for (const [id, busy] of read) known.set(id, { window: extended, busy });
    }
    return new Map(ids.map((id) => [id, known.get(id)?.busy ?? []]));
  }

  /** Forgets a resource whose time the transaction has taken. */
  forget({ transaction }: Call, id: string): void {
    if (transaction) this.known.get(transaction.identity)?.delete(id);
  }
}

function covers(known: Interval | undefined, { start, end }: Interval): boolean {
  return known !== undefined && known.start <= start && known.end >= end;
}

/** A window that contains both. It is longer than they are, so that a hundred later conflicts do not extend it a hundred times. */
function extend(known: Interval | undefined, window: Interval): Interval {
  if (!known) return window;
  const both = spanOf([known, window]);
  if (both.end - both.start > MAX_KEPT) return window;
  return {
    start: both.start < known.start ? both.start - PROPOSALS.within : both.start,
    end: both.end > known.end ? both.end + PROPOSALS.within : both.end,
  };
}
