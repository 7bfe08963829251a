import { Injectable } from '@nestjs/common';
import type { Call, InTransaction } from '../../../platform/data/call.js';
import { ExclusionViolation } from '../../../platform/data/connection/driver-error.js';
import { ApiError } from '../../../platform/errors/api-error.js';
import { notFound } from '../../../platform/errors/or-not-found.js';
import { dayOf, freeTimes, type Interval, isWithinHours, withBuffers } from '../hours/free-time.js';
import type { ResourceDto } from '../resource.dto.js';
import { ResourcesRepository } from '../resources.repository.js';
import { type BusyInterval, BusyTimesRepository } from './busy-times.repository.js';
import { compactTime, localTime } from './local-times.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** The proposals of a conflict: how many, how far ahead, and in which steps from each opening. */
const PROPOSALS = { count: 3, within: 62 * DAY, step: 30 * MINUTE };

/** The time that an appointment or a hold is to take. */
export interface WantedTime {
  readonly start_time: Date;
  readonly end_time: Date;
  /** Whether it must lie within the hours of the resource. */
  readonly within_hours?: boolean;
}

/** Takes time of resources, whose rows no two transactions write at once (docs/contract/booking.md#conflicts). */
@Injectable()
export class BookingsService {
  constructor(
    private readonly resources: ResourcesRepository,
    private readonly busyTimes: BusyTimesRepository,
  ) {}

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
      return await write();
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
      return busy.filter(
        ({ resource_id, appointment_id, begins }) =>
          resource_id === id && appointment_id !== null && begins >= day.start && begins < day.end,
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
  ): Promise<BusyInterval[]> {
    const start = Math.min(...windows.map((window) => window.start));
    const end = Math.max(...windows.map((window) => window.end));
    const ids = resources.map(({ id }) => id);
    return ids.length === 0
      ? Promise.resolve([])
      : this.busyTimes.within(call, ids, { start, end });
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
    const windows = [slot, window].flatMap((each) =>
      resources.map((resource) => withBuffers(resource, each)),
    );
    const busy = await this.busyOf(call, resources, windows);
    const [only, ...others] = resources;
    const conflict = only && others.length === 0 ? conflictOf(busy, only, slot) : undefined;
    const detail = {
      field: 'start_time',
      message: others.length === 0 ? 'is not free' : 'is not free for any of the resources',
      ...this.existingId(call, conflict),
      free: proposalsOf(active, busy, window, slot.end - slot.start, timeIn(call, active)),
    };
    return new ApiError('slot_taken', { details: [detail] });
  }

  private existingId({ actor, replay }: Call, conflict: BusyInterval | undefined) {
    if (!conflict?.appointment_id || !actor.scopes.has('appointments:read')) return {};
    replay?.needFor('existing_id', 'appointments:read');
    return { existing_id: conflict.appointment_id };
  }
}

function intervalOf({ start_time, end_time }: WantedTime): Interval {
  return { start: start_time.getTime(), end: end_time.getTime() };
}

/** What is in the way of a time. */
function conflictOf(busy: readonly BusyInterval[], resource: ResourceDto, slot: Interval) {
  const { start, end } = withBuffers(resource, slot);
  return busy.find((one) => one.resource_id === resource.id && one.start < end && one.end > start);
}

/** How an error writes a time of a resource: in UTC, and for agents with the offset of its zone. */
function timeIn({ actor }: Call, resources: readonly ResourceDto[]) {
  const isAgent = actor.channel === 'ai';
  const zones = new Map(resources.map(({ id, time_zone }) => [id, isAgent ? time_zone : 'UTC']));
  return (utc: number, resourceId: string) => {
    const zone = zones.get(resourceId) ?? 'UTC';
    return zone === 'UTC' ? new Date(utc).toISOString() : compactTime(localTime(zone, utc));
  };
}

/** The next free times of any of the resources, which do not overlap each other. */
function proposalsOf(
  resources: readonly ResourceDto[],
  busy: readonly BusyInterval[],
  window: Interval,
  duration: number,
  timeOf: (utc: number, resourceId: string) => string,
) {
  const found = resources.flatMap((resource) => {
    const own = busy.filter(({ resource_id }) => resource_id === resource.id);
    const times = freeTimes(resource, own, window, { duration, step: PROPOSALS.step });
    return firstApart(times).map((slot) => ({ ...slot, resource_id: resource.id }));
  });
  const sorted = found.toSorted((a, b) => a.start - b.start);
  return firstApart(sorted).map(({ start, end, resource_id }) => ({
    ...{ start_time: timeOf(start, resource_id), end_time: timeOf(end, resource_id) },
    resource_id,
  }));
}

/** The first of the times that do not overlap each other. */
function firstApart<T extends Interval>(times: Iterable<T>): T[] {
  const chosen: T[] = [];
  for (const time of times) {
    if (chosen.length === PROPOSALS.count) break;
    if ((chosen.at(-1)?.end ?? -Infinity) <= time.start) chosen.push(time);
  }
  return chosen;
}

/** @param resources how many resources were asked for */
function outsideHours(resources = 1): ApiError {
  const hours = `outside of the hours of ${resources > 1 ? 'all of the resources' : 'the resource'}`;
  const details = [{ field: 'start_time', message: `is ${hours}` }];
  return new ApiError('outside_hours', { message: `The time is ${hours}.`, details });
}
