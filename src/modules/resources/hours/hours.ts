import type { FieldProblem } from '../../../platform/errors/field-problem.js';
import { isObject } from '../../../platform/fields/kinds/json-object.js';

/** The keys of `hours`, in the order of `Date.getUTCDay()`. */
export const WEEKDAYS = [
  'sunday',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
] as const;

/** An interval of local times. An end that is not after the start is on the next day. */
export interface OpenInterval {
  readonly start: string;
  readonly end: string;
}

/** The intervals that begin on each weekday. */
export type WeeklyHours = Readonly<Partial<Record<(typeof WEEKDAYS)[number], OpenInterval[]>>>;

/** The intervals that begin on a date, in place of those of its weekday. */
export interface HoursException {
  readonly date: string;
  readonly hours: readonly OpenInterval[];
}

export const MAX_INTERVALS = 24;
export const MAX_EXCEPTIONS = 400;

export const START_PATTERN = '^([01][0-9]|2[0-3]):[0-5][0-9]$';
export const END_PATTERN = '^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$';
export const DATE_PATTERN = '^[0-9]{4}-[0-9]{2}-[0-9]{2}$';

const START = new RegExp(START_PATTERN);
const END = new RegExp(END_PATTERN);
const DATE = new RegExp(DATE_PATTERN);

const MINUTES_OF_DAY = 24 * 60;
const MINUTES_OF_WEEK = 7 * MINUTES_OF_DAY;

/** An interval in minutes after the midnight at which its day begins. */
export function minutesOf(interval: OpenInterval): { start: number; end: number } {
  const [start, end] = [minutesOfTime(interval.start), minutesOfTime(interval.end)];
  return { start, end: end > start ? end : end + MINUTES_OF_DAY };
}

function minutesOfTime(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

/** The problems of weekly hours, each with its path, such as `hours.monday[1].end`. */
export function hoursProblems(value: unknown, path: string): FieldProblem[] {
  if (!isObject(value)) return [{ field: path, message: 'must be an object' }];
  const problems = Object.entries(value).flatMap(([day, intervals]) =>
    (WEEKDAYS as readonly string[]).includes(day)
      ? intervalsProblems(intervals, `${path}.${day}`)
      : [{ field: `${path}.${day}`, message: `is unknown; the days are ${WEEKDAYS.join(', ')}` }],
  );
  return problems.length > 0 ? problems : weeklyOverlaps(value, path);
}

/** The problems of exceptions, each with its path, such as `exceptions[2].date`. */
export function exceptionsProblems(value: unknown, path: string): FieldProblem[] {
  if (!Array.isArray(value)) return [{ field: path, message: 'must be an array of objects' }];
  if (value.length > MAX_EXCEPTIONS) {
    return [{ field: path, message: `must have at most ${MAX_EXCEPTIONS} items` }];
  }
  const first = new Map<unknown, number>();
  return value.flatMap((item: unknown, index) => {
    const at = `${path}[${index}]`;
    const problems = membersProblems(item, ['date', 'hours'], at);
    if (problems.length > 0) return problems;
    const { date, hours } = item as HoursException;
    if (!isDate(date)) return [{ field: `${at}.date`, message: 'must be a date: YYYY-MM-DD' }];
    const earlier = first.get(date);
    if (earlier !== undefined) {
      return [{ field: `${at}.date`, message: `is also the date of ${path}[${earlier}]` }];
    }
    first.set(date, index);
    const ofHours = intervalsProblems(hours, `${at}.hours`);
    return ofHours.length > 0 ? ofHours : overlaps(placedOn(0, hours, `${at}.hours`));
  });
}

function isDate(value: unknown): boolean {
  if (typeof value !== 'string' || !DATE.test(value) || value.startsWith('0000')) return false;
  const time = new Date(value);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(value);
}

function intervalsProblems(value: unknown, path: string): FieldProblem[] {
  if (!Array.isArray(value)) return [{ field: path, message: 'must be an array of intervals' }];
  if (value.length > MAX_INTERVALS) {
    return [{ field: path, message: `must have at most ${MAX_INTERVALS} intervals` }];
  }
  return value.flatMap((item, index) => intervalProblems(item, `${path}[${index}]`));
}

function intervalProblems(value: unknown, path: string): FieldProblem[] {
  const problems = membersProblems(value, ['start', 'end'], path);
  if (problems.length > 0) return problems;
  const { start, end } = value as OpenInterval;
  if (typeof start !== 'string' || !START.test(start)) {
    problems.push({ field: `${path}.start`, message: 'must be a time from 00:00 to 23:59' });
  }
  if (typeof end !== 'string' || !END.test(end)) {
    problems.push({ field: `${path}.end`, message: 'must be a time from 00:00 to 24:00' });
  }
  if (problems.length === 0 && start === end) {
    problems.push({ field: `${path}.end`, message: 'must differ from start' });
  }
  return problems;
}

/** The problems of an object that must have exactly these members. */
function membersProblems(value: unknown, names: readonly string[], path: string): FieldProblem[] {
  if (!isObject(value)) return [{ field: path, message: 'must be an object' }];
  const missing = names.filter((name) => value[name] === undefined || value[name] === null);
  const unknown = Object.keys(value).filter((name) => !names.includes(name));
  return [
    ...missing.map((name) => ({ field: `${path}.${name}`, message: 'is required' })),
    ...unknown.map((name) => ({
      field: `${path}.${name}`,
      message: `is unknown; the fields are ${names.join(', ')}`,
    })),
  ];
}

/** An interval in minutes after the beginning of the week, with its path. */
interface PlacedInterval {
  readonly start: number;
  readonly end: number;
  readonly path: string;
}

function placedOn(day: number, hours: readonly OpenInterval[], path: string): PlacedInterval[] {
  return hours.map((interval, index) => {
    const { start, end } = minutesOf(interval);
    const midnight = day * MINUTES_OF_DAY;
    return { start: midnight + start, end: midnight + end, path: `${path}[${index}]` };
  });
}

/** The overlaps of weekly hours, also of a night with the next day, and of Saturday with Sunday. */
function weeklyOverlaps(hours: WeeklyHours, path: string): FieldProblem[] {
  const week = WEEKDAYS.flatMap((day, index) =>
    placedOn(index, hours[day] ?? [], `${path}.${day}`),
  );
  const ofLastWeek = week.flatMap(({ start, end, path: at }) =>
    end > MINUTES_OF_WEEK
      ? [{ start: start - MINUTES_OF_WEEK, end: end - MINUTES_OF_WEEK, path: at }]
      : [],
  );
  return overlaps([...ofLastWeek, ...week]);
}

function overlaps(intervals: readonly PlacedInterval[]): FieldProblem[] {
  const sorted = intervals.toSorted((a, b) => a.start - b.start);
  return sorted.flatMap(({ start, path }, index) => {
    const other = sorted.slice(0, index).findLast(({ end }) => end > start);
    return other ? [{ field: `${path}.start`, message: `is within ${other.path}` }] : [];
  });
}
