import type { Call } from '../../../platform/data/call.js';
import { ApiError, validationError } from '../../../platform/errors/api-error.js';
import { OUT_OF_YEARS } from '../../../platform/fields/kinds/date-time.js';
import { boundExceeded, freeTimes, type Interval, withBuffers } from '../hours/free-time.js';
import { MAX_BUFFER_MINUTES, type ResourceDto } from '../resource.dto.js';
import type { BusyInterval, BusyTimes } from './busy-times.repository.js';
import { compactTime, localTime } from './local-times.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** The proposals of a conflict: how many, how far ahead, and in which steps from each opening. */
export const PROPOSALS = { count: 3, within: 62 * DAY, step: 30 * MINUTE };

/** The time that an appointment or a hold is to take. */
export interface WantedTime {
  readonly start_time: Date;
  readonly end_time: Date;
  /** Whether it must lie within the hours of the resource. */
  readonly within_hours?: boolean;
}

export function intervalOf({ start_time, end_time }: WantedTime): Interval {
  return { start: start_time.getTime(), end: end_time.getTime() };
}

/** @throws ApiError `validation_error` if a time, with the buffers of one of the resources, is not within the years 1 to 9999 */
export function assertWithinYears(resources: readonly ResourceDto[], wanted: WantedTime): void {
  for (const resource of resources) {
    const field = boundExceeded(resource, intervalOf(wanted));
    if (!field) continue;
    throw validationError([
      { field, message: `${OUT_OF_YEARS}, with the buffer of the resource ${resource.id}` },
    ]);
  }
}

/** What is in the way of a time. */
export function conflictOf(busy: BusyTimes, resource: ResourceDto, slot: Interval) {
  const { start, end } = withBuffers(resource, slot);
  return busy.get(resource.id)?.find((one) => one.start < end && one.end > start);
}

/** The window of the times that are proposed in place of another one. */
export function proposalWindow(slot: Interval): Interval {
  const start = Math.max(slot.start, Date.now());
  return { start, end: start + PROPOSALS.within };
}

/**
 * The error of a time that is not free. It proposes the next free times.
 * @param busy what takes time of the resources: `now` what is in the way of one, `coming` in the window of the proposals
 */
export function slotTaken(
  call: Call,
  resources: readonly ResourceDto[],
  wanted: WantedTime,
  { now, coming }: { readonly now: BusyTimes; readonly coming: BusyTimes },
): ApiError {
  const slot = intervalOf(wanted);
  const [only, ...others] = resources;
  const conflict = only && others.length === 0 ? conflictOf(now, only, slot) : undefined;
  const active = resources.filter((resource) => resource.active);
  const detail = {
    field: 'start_time',
    message: others.length === 0 ? 'is not free' : 'is not free for any of the resources',
    ...existingId(call, conflict),
    free: proposalsOf(call, active, coming, proposalWindow(slot), slot.end - slot.start),
  };
  return new ApiError('slot_taken', { details: [detail] });
}

function existingId({ actor, replay }: Call, conflict: BusyInterval | undefined) {
  if (!conflict?.appointment_id || !actor.scopes.has('appointments:read')) return {};
  replay?.needFor('existing_id', 'appointments:read');
  return { existing_id: conflict.appointment_id };
}

/** The next free times of any of the resources, which do not overlap each other. Agents get them with the offset of the zone. */
function proposalsOf(
  { actor }: Call,
  resources: readonly ResourceDto[],
  busy: BusyTimes,
  window: Interval,
  duration: number,
) {
  const found = resources.flatMap((resource) => {
    const times = freeTimes(resource, busy.get(resource.id) ?? [], window, {
      duration,
      step: PROPOSALS.step,
    });
    return firstApart(times).map((slot) => ({ ...slot, resource }));
  });
  const isAgent = actor.channel === 'ai';
  const timeOf = ({ time_zone }: ResourceDto, time: number) =>
    isAgent ? compactTime(localTime(time_zone, time)) : new Date(time).toISOString();
  const sorted = found.toSorted((a, b) => a.start - b.start);
  return firstApart(sorted).map(({ start, end, resource }) => ({
    start_time: timeOf(resource, start),
    end_time: timeOf(resource, end),
    resource_id: resource.id,
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

/** @param resources how many resources the request names */
export function resourceInactive(resources = 1): ApiError {
  const message = 'None of the resources can be booked, because they are not active.';
  return new ApiError('resource_inactive', resources > 1 ? { message } : {});
}

/** @param resources how many resources the request names */
export function outsideHours(resources = 1): ApiError {
  const hours = `outside of the hours of ${resources > 1 ? 'all of the resources' : 'the resource'}`;
  const details = [{ field: 'start_time', message: `is ${hours}` }];
  return new ApiError('outside_hours', { message: `The time is ${hours}.`, details });
}

/** A window with the buffers that a resource has at most. */
export function withMaxBuffers({ start, end }: Interval): Interval {
  return { start: start - MAX_BUFFER_MINUTES * MINUTE, end: end + MAX_BUFFER_MINUTES * MINUTE };
}
