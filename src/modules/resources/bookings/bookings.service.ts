import { Injectable } from '@nestjs/common';
import type { Call, InTransaction } from '../../../platform/data/call.js';
import { ExclusionViolation } from '../../../platform/data/connection/driver-error.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import { TransactionInTurn } from '../../../platform/data/records/transaction-in-turn.js';
import { notFound } from '../../../platform/errors/or-not-found.js';
import { dayOf, type Interval, isWithinHours, spanOf, withBuffers } from '../hours/free-time.js';
import type { ResourceDto } from '../resource.dto.js';
import { ResourcesRepository } from '../resources.repository.js';
import { type BusyTimes, BusyTimesRepository } from './busy-times.repository.js';
import {
  assertWithinYears,
  resourceInactive,
  conflictOf,
  intervalOf,
  outsideHours,
  proposalWindow,
  slotTaken,
  type WantedTime,
  withMaxBuffers,
} from './conflicts.js';
import { ProposalTimes } from './proposal-times.js';

/** The resources that a request names: one, or several of which it takes one. */
interface NamedResources {
  readonly resource_id?: string | null;
  readonly any_of?: readonly string[];
}

/** How a request takes time. */
interface BookingSteps<T> {
  /** Whether a time that is not free is its first problem. Without it, the time is never compared before `work`. */
  readonly mayConflict?: (call: Call) => Promise<boolean>;
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
   * Takes time in a transaction, when it has its turn. The transaction of an idempotent request calls this again.
   * @param wanted with the resources; without them, `work` waits for its turn
   * @throws ApiError `overloaded`, and as `take` and `work`
   * @throws TransactionInTurn if the call inserts once
   */
  async transaction<T>(
    { once, ...call }: Call,
    wanted: WantedTime & NamedResources,
    { mayConflict, work }: BookingSteps<T>,
  ): Promise<T> {
    const inTurn = <R>(run: (turn: Call) => Promise<R>) =>
      this.inTurn(call, wanted, mayConflict, run);
    if (once) throw new TransactionInTurn(inTurn);
    return inTurn((turn) => this.database.transaction(turn, work));
  }

  /**
   * Runs work after that of this instance which began earlier and takes time of the same resources. It waits without a
   * connection. If others have taken the time meanwhile, it is refused without a transaction, because many may wait.
   */
  private inTurn<T>(
    call: Call,
    wanted: WantedTime & NamedResources,
    mayConflict: BookingSteps<T>['mayConflict'],
    run: (turn: Call) => Promise<T>,
  ): Promise<T> {
    const ids = namedOf(wanted);
    if (ids.length === 0) return run(call);
    const mustWait = this.resources.isBusy(call, ids);
    return this.resources.inTurn(call, ids, async (turn) => {
      if (mustWait && mayConflict && !turn.transaction) {
        await this.refuseTaken(turn, ids, wanted, mayConflict);
      }
      return run(turn);
    });
  }

  /**
   * Throws the error of a time that none of the resources has free, if they can be booked. What is free now may be taken by
   * the time that a transaction takes it. All is read at once, because others wait for it.
   * @throws ApiError `slot_taken`, `query_failed`
   */
  private async refuseTaken(
    call: Call,
    ids: readonly string[],
    wanted: WantedTime & NamedResources,
    mayConflict: (call: Call) => Promise<boolean>,
  ): Promise<void> {
    const [isFirst, found, busy] = await Promise.all([
      mayConflict(call),
      this.resources.findMany(call, ids),
      this.busyAround(call, ids, wanted),
    ]);
    const resources = ids.flatMap((id) => found.find((one) => one.id === id) ?? []);
    if (!isFirst || resources.length < ids.length) return;
    const slot = intervalOf(wanted);
    const needsHours = wanted.any_of ?? wanted.within_hours;
    const open = resources.filter(
      (resource) => resource.active && (!needsHours || isWithinHours(resource, slot)),
    );
    const isTaken = open.every((resource) => conflictOf(busy, resource, slot));
    if (open.length > 0 && isTaken)
      throw slotTaken(call, resources, wanted, { now: busy, coming: busy });
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
   * @throws ApiError `validation_error`, `outside_hours`, `resource_inactive`, `slot_taken`, and any error of `write`
   */
  async take<T>(
    call: InTransaction<Call>,
    resource: ResourceDto,
    wanted: WantedTime,
    write: () => Promise<T>,
  ): Promise<T> {
    assertWithinYears([resource], wanted);
    if (wanted.within_hours && !isWithinHours(resource, intervalOf(wanted))) throw outsideHours();
    if (!resource.active) throw resourceInactive();
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
    assertWithinYears(resources, wanted);
    const slot = intervalOf(wanted);
    const open = resources.filter((resource) => isWithinHours(resource, slot));
    if (wanted.within_hours && open.length === 0) throw outsideHours(resources.length);
    if (resources.every(({ active }) => !active)) throw resourceInactive(resources.length);
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

  /** What takes time of resources when the wanted time, and what is proposed in its place, would. */
  private busyAround(call: Call, ids: readonly string[], wanted: WantedTime): Promise<BusyTimes> {
    const slot = intervalOf(wanted);
    const end = Math.max(slot.end, proposalWindow(slot).end);
    return this.busyTimes.within(call, ids, withMaxBuffers({ start: slot.start, end }));
  }

  private async slotTaken(call: Call, resources: readonly ResourceDto[], wanted: WantedTime) {
    const ids = resources.map(({ id }) => id);
    const slot = intervalOf(wanted);
    const isOne = ids.length === 1;
    const now = await this.busyTimes.within(call, isOne ? ids : [], withMaxBuffers(slot));
    const window = withMaxBuffers(proposalWindow(slot));
    const coming = await this.proposalTimes.within(call, ids, window);
    return slotTaken(call, resources, wanted, { now, coming });
  }
}

function namedOf({ resource_id, any_of }: NamedResources): readonly string[] {
  return any_of ?? (resource_id ? [resource_id] : []);
}
