import { Injectable } from '@nestjs/common';
import type { Call, InTransaction } from '../../../platform/data/call.js';
import { ExclusionViolation } from '../../../platform/data/connection/driver-error.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import { ApiError } from '../../../platform/errors/api-error.js';
import { notFound } from '../../../platform/errors/or-not-found.js';
import { dayOf, type Interval, isWithinHours, spanOf, withBuffers } from '../hours/free-time.js';
import type { ResourceDto } from '../resource.dto.js';
import { ResourcesRepository } from '../resources.repository.js';
import { type BusyInterval, type BusyTimes, BusyTimesRepository } from './busy-times.repository.js';
import {
  conflictOf,
  intervalOf,
  outsideHours,
  PROPOSALS,
  proposalsOf,
  type WantedTime,
} from './conflicts.js';
import { ProposalTimes } from './proposal-times.js';

/** The resources that a request names: one, or several of which it takes one. */
interface NamedResources {
  readonly resource_id?: string | null;
  readonly any_of?: readonly string[];
}

/** How a request takes time. */
interface BookingSteps<T> {
  /** Whether a time that is not free is its first problem. */
  readonly mayConflict: (call: Call) => Promise<boolean>;
  readonly work: (call: InTransaction<Call>) => Promise<T>;
}

/** Takes time of resources, whose rows no two transactions write at once (docs/contract/booking.md#conflicts). */
@Injectable()
export class BookingsService {
  constructor(
    private readonly database: TenantDatabase,
    private readonly resources: ResourcesRepository,
    private readonly busyTimes: BusyTimesRepository,
    private readonly proposalTimes: ProposalTimes,
  ) {}

  /**
   * Takes time in a transaction, after those of this instance that began earlier and take time of the same resources. While it
   * waits it has no connection. If it had to wait, it is refused without a transaction when others have taken the time, so
   * that many callers of one time get their answers soon.
   * @param wanted with the resources; without them, `work` waits for its turn
   * @throws ApiError `overloaded`, and as `take` and `work`
   */
  transaction<T>(
    call: Call,
    wanted: WantedTime & NamedResources,
    { mayConflict, work }: BookingSteps<T>,
  ): Promise<T> {
    const ids = namedOf(wanted);
    const mustWait = this.resources.isBusy(call, ids);
    return this.resources.inTurn(call, ids, async (turn) => {
      if (mustWait && !turn.transaction && (await mayConflict(turn))) {
        await this.refuseTaken(turn, ids, wanted);
      }
      return this.database.transaction(turn, work);
    });
  }

  /**
   * Throws the error of a time that none of the resources has free, if they can be booked. What is free now may be taken by
   * the time that a transaction takes it.
   * @throws ApiError `slot_taken`, `query_failed`
   */
  private async refuseTaken(
    call: Call,
    ids: readonly string[],
    wanted: WantedTime & NamedResources,
  ): Promise<void> {
    const found = await this.resources.findMany(call, ids);
    const resources = ids.flatMap((id) => found.find((one) => one.id === id) ?? []);
    const slot = intervalOf(wanted);
    const needsHours = wanted.any_of ?? wanted.within_hours;
    const open = resources.filter(
      (resource) => resource.active && (!needsHours || isWithinHours(resource, slot)),
    );
    if (open.length === 0 || resources.length < ids.length) return;
    const windows = open.map((resource) => withBuffers(resource, slot));
    const busy = await this.busyOf(call, open, windows);
    const isTaken = open.every((resource) => conflictOf(busy, resource, slot));
    if (isTaken) throw await this.slotTaken(call, resources, wanted);
  }

  /**
   * Locks resources until the transaction ends, in the order of their ids. Call it before the records that take their time
   * are locked.
   * @returns those that exist, by their ids
   */
  async lock(
    call: InTransaction<Call>,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, ResourceDto>> {
    const locked = await this.resources.lockMany(call, [...new Set(ids)]);
    return new Map(locked.map((resource) => [resource.id, resource]));
  }

  /**
   * The resources of holds, also of expired ones.
   * @throws ApiError `create_failed`
   */
  resourcesOfHolds(call: InTransaction<Call>, ids: readonly string[]): Promise<string[]> {
    return this.busyTimes.resourcesOfHolds(call, ids);
  }

  /**
   * Locks resources that must exist.
   * @param named ids, of which undefined and null ones are ignored
   * @returns them in the order of the ids
   * @throws ApiError `not_found`
   */
  async lockExisting(
    call: InTransaction<Call>,
    named: readonly (string | null | undefined)[],
  ): Promise<ResourceDto[]> {
    const ids = named.flatMap((id) => id ?? []);
    const locked = await this.lock(call, ids);
    return ids.map((id) => locked.get(id) ?? notFound('resource'));
  }

  /**
   * Like `take` for one resource, and like `takeAny` for several of a request with `any_of`.
   * @throws ApiError as `take`
   */
  takeFirst<T>(
    call: InTransaction<Call>,
    resources: readonly ResourceDto[],
    wanted: WantedTime & { readonly any_of?: readonly string[] },
    write: (resource: ResourceDto) => Promise<T>,
  ): Promise<T> {
    if (wanted.any_of) return this.takeAny(call, resources, wanted, write);
    const [resource] = resources as [ResourceDto];
    return this.take(call, resource, wanted, () => write(resource));
  }

  /**
   * Writes what takes time of one resource.
   * @param resource that the transaction has locked
   * @param write runs in a savepoint
   * @throws ApiError `outside_hours`, `resource_inactive`, `slot_taken`, and any error of `write`
   */
  async take<T>(
    call: InTransaction<Call>,
    resource: ResourceDto,
    wanted: WantedTime,
    write: () => Promise<T>,
  ): Promise<T> {
    if (wanted.within_hours && !isWithinHours(resource, intervalOf(wanted))) throw outsideHours();
    if (!resource.active) throw new ApiError('resource_inactive');
    try {
      const written = await write();
      this.proposalTimes.forget(call, resource.id);
      return written;
    } catch (error) {
      if (error instanceof ExclusionViolation) throw await this.slotTaken(call, [resource], wanted);
      throw error;
    }
  }

  /**
   * Writes what takes time of the first of several resources that is free within its hours: the one with the fewest
   * appointments that day, in its zone.
   * @param resources that the transaction has locked, in their order of preference
   * @throws ApiError as `take`
   */
  private async takeAny<T>(
    call: InTransaction<Call>,
    resources: readonly ResourceDto[],
    wanted: WantedTime,
    write: (resource: ResourceDto) => Promise<T>,
  ): Promise<T> {
    const slot = intervalOf(wanted);
    const open = resources.filter((resource) => isWithinHours(resource, slot));
    if (wanted.within_hours && open.length === 0) throw outsideHours(resources.length);
    if (resources.every(({ active }) => !active)) throw new ApiError('resource_inactive');
    const active = open.filter((resource) => resource.active);
    const days = new Map(active.map((resource) => [resource.id, dayOf(resource, slot.start)]));
    const windows = active.map((resource) => withBuffers(resource, slot));
    const busy = await this.busyOf(call, active, [...days.values(), ...windows]);
    const free = active.filter((resource) => !conflictOf(busy, resource, slot));
    const appointmentsOf = ({ id }: ResourceDto) => {
      const day = days.get(id) ?? slot;
      const own = busy.get(id) ?? [];
      return own.filter(
        ({ appointment_id, begins }) =>
          appointment_id !== null && begins >= day.start && begins < day.end,
      ).length;
    };
    const [first] = free.toSorted((a, b) => appointmentsOf(a) - appointmentsOf(b));
    if (!first) throw await this.slotTaken(call, resources, wanted);
    return this.take(call, first, wanted, () => write(first));
  }

  private busyOf(
    call: Call,
    resources: readonly ResourceDto[],
    windows: readonly Interval[],
  ): Promise<BusyTimes> {
    const ids = resources.map(({ id }) => id);
    return this.busyTimes.within(call, ids, spanOf(windows));
  }

  /** The error of a time that is not free. It proposes the next free times. */
  private async slotTaken(
    call: Call,
    resources: readonly ResourceDto[],
    wanted: WantedTime,
  ): Promise<ApiError> {
    const slot = intervalOf(wanted);
    const start = Math.max(slot.start, Date.now());
    const window = { start, end: start + PROPOSALS.within };
    const active = resources.filter((resource) => resource.active);
    const taken = spanOf(active.map((resource) => withBuffers(resource, window)));
    const ids = active.map(({ id }) => id);
    const busy = await this.proposalTimes.within(call, ids, taken);
    const [only, ...others] = resources;
    const conflict =
      only && others.length === 0 ? await this.conflictOf(call, only, slot) : undefined;
    const detail = {
      field: 'start_time',
      message: others.length === 0 ? 'is not free' : 'is not free for any of the resources',
      ...this.existingId(call, conflict),
      free: proposalsOf(call, active, busy, window, slot.end - slot.start),
    };
    return new ApiError('slot_taken', { details: [detail] });
  }

  private async conflictOf(call: Call, resource: ResourceDto, slot: Interval) {
    const busy = await this.busyOf(call, [resource], [withBuffers(resource, slot)]);
    return conflictOf(busy, resource, slot);
  }

  private existingId({ actor, replay }: Call, conflict: BusyInterval | undefined) {
    if (!conflict?.appointment_id || !actor.scopes.has('appointments:read')) return {};
    replay?.needFor('existing_id', 'appointments:read');
    return { existing_id: conflict.appointment_id };
  }
}

function namedOf({ resource_id, any_of }: NamedResources): readonly string[] {
  return any_of ?? (resource_id ? [resource_id] : []);
}
