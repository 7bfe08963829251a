import { EARLIEST, LATEST } from '../../../platform/fields/kinds/date-time.js';
import {
  type HoursException,
  minutesOf,
  type OpenInterval,
  WEEKDAYS,
  type WeeklyHours,
} from './hours.js';
import { localTimesOf } from './local-time.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** How far back an interval can have begun that reaches into a window, because touching intervals are one. */
const LOOK_BACK_DAYS = 8;

/** The longest time that is compared with hours. */
const LONGEST_WITHIN_HOURS = 62 * DAY;

/** What free time depends on. */
export interface Availability {
  readonly time_zone: string;
  readonly hours: WeeklyHours | null;
  readonly exceptions: readonly HoursException[];
  readonly buffer_before_minutes: number;
  readonly buffer_after_minutes: number;
}

/** A half-open interval of time, in milliseconds since 1970 in UTC. */
export interface Interval {
  readonly start: number;
  readonly end: number;
}

/** The shortest interval that contains several. */
export function spanOf(intervals: readonly Interval[]): Interval {
  return {
    start: Math.min(...intervals.map(({ start }) => start)),
    end: Math.max(...intervals.map(({ end }) => end)),
  };
}

/** The intervals of the hours of a resource that overlap a window, in their order. Touching ones are one. */
export function openIntervals(resource: Availability, window: Interval): Interval[] {
  const times = localTimesOf(resource.time_zone);
  const exceptions = new Map(resource.exceptions.map(({ date, hours }) => [date, hours]));
  const firstDay = Math.floor(times.at(window.start) / DAY) * DAY - LOOK_BACK_DAYS * DAY;
  const lastDay = times.at(window.end);
  const found: Interval[] = [];
  for (let day = firstDay; day <= lastDay; day += DAY) {
    for (const interval of hoursOn(resource.hours, exceptions, day)) {
      const minutes = minutesOf(interval);
      const start = times.toUtc(day + minutes.start * MINUTE);
      const end = times.toUtc(day + minutes.end * MINUTE);
      if (end > start) found.push({ start, end });
    }
  }
  return united(found).filter(({ start, end }) => start < window.end && end > window.start);
}

/** The intervals that begin on a local day. */
function hoursOn(
  hours: WeeklyHours | null,
  exceptions: ReadonlyMap<string, readonly OpenInterval[]>,
  day: number,
): readonly OpenInterval[] {
  const date = new Date(day);
  const weekday = WEEKDAYS[date.getUTCDay()] ?? 'sunday';
  return exceptions.get(date.toISOString().slice(0, 10)) ?? hours?.[weekday] ?? [];
}

function united(intervals: readonly Interval[]): Interval[] {
  const result: Interval[] = [];
  for (const interval of intervals.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (!last || last.end < interval.start) result.push(interval);
    else if (last.end < interval.end) result[result.length - 1] = { ...last, end: interval.end };
  }
  return result;
}

/**
 * Whether a time lies within the hours of a resource. Its buffers may lie outside. A time of more than 62 days does not, so
 * that no request compares the days of centuries.
 */
export function isWithinHours(resource: Availability, slot: Interval): boolean {
  if (slot.end - slot.start > LONGEST_WITHIN_HOURS) return false;
  return openIntervals(resource, slot).some(
    ({ start, end }) => start <= slot.start && end >= slot.end,
  );
}

/** The time that an appointment takes: with the buffers of the resource. */
export function withBuffers(resource: Availability, { start, end }: Interval): Interval {
  return {
    start: start - resource.buffer_before_minutes * MINUTE,
    end: end + resource.buffer_after_minutes * MINUTE,
  };
}

/** Which of its times an appointment must move, so that it takes no time before the year 1 or after the year 9999. */
export function boundExceeded(resource: Availability, slot: Interval) {
  const { start, end } = withBuffers(resource, slot);
  if (start < EARLIEST) return 'start_time';
  return end > LATEST ? 'end_time' : undefined;
}

/**
 * The free times of one length in a window: they begin in steps from each opening of the hours, lie within them, and do not
 * overlap what is busy. None takes time beyond the year 9999.
 * @param busy intervals that do not overlap each other, in their order
 */
export function* freeTimes(
  resource: Availability,
  busy: readonly Interval[],
  window: Interval,
  { duration, step }: { readonly duration: number; readonly step: number },
): Generator<Interval, void> {
  let next = 0;
  const last = withBuffers(resource, { start: 0, end: 0 }).end;
  const end = Math.min(window.end, LATEST - last, localTimesOf(resource.time_zone).toUtc(LATEST));
  for (const open of openIntervals(resource, { start: window.start, end })) {
    const skipped = Math.max(0, Math.ceil((window.start - open.start) / step));
    const latest = Math.min(open.end, end) - duration;
    for (let start = open.start + skipped * step; start <= latest; start += step) {
      const slot = { start, end: start + duration };
      const taken = withBuffers(resource, slot);
      while ((busy[next]?.end ?? Infinity) <= taken.start) next++;
      if ((busy[next]?.start ?? Infinity) >= taken.end) yield slot;
    }
  }
}

/** The local day of a moment, as an interval. */
export function dayOf({ time_zone }: Availability, utc: number): Interval {
  const times = localTimesOf(time_zone);
  const day = Math.floor(times.at(utc) / DAY) * DAY;
  return { start: times.toUtc(day), end: times.toUtc(day + DAY) };
}
