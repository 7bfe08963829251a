// Resources with unusual hours in unusual zones, and windows of time near changes of clocks, that are the same in each run.

import { WEEKDAYS } from '../../../src/modules/resources/hours/hours.js';
import type { Random } from '../../support/random.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Zones of half and quarter hours, and with changes of clocks at midnight, of half an hour and of two. */
const ZONES = [
  ...['UTC', 'Europe/Berlin', 'Europe/Dublin', 'America/New_York', 'America/Santiago'],
  ...['America/St_Johns', 'America/Nuuk', 'Africa/Casablanca', 'Africa/Cairo', 'Asia/Beirut'],
  ...['Asia/Kolkata', 'Asia/Kathmandu', 'Australia/Adelaide', 'Australia/Lord_Howe'],
  ...['Pacific/Chatham', 'Pacific/Apia', 'Pacific/Kiritimati', 'Antarctica/Troll', 'Etc/GMT+12'],
];

/** Changes of clocks in the past: skipped and repeated days, half hours, two changes within a month. */
const PAST = [
  ['Pacific/Apia', '2011-12-30'],
  ['Pacific/Apia', '2010-09-26'],
  ['Pacific/Kwajalein', '1993-08-21'],
  ['Africa/Casablanca', '2026-02-15'],
  ['Africa/Casablanca', '2026-03-22'],
  ['America/Caracas', '2016-05-01'],
  ['Asia/Pyongyang', '2018-05-05'],
  ['Australia/Lord_Howe', '2025-04-06'],
  ['Australia/Lord_Howe', '2025-10-05'],
  ['America/Sao_Paulo', '2018-11-04'],
  ['Antarctica/Casey', '2020-10-04'],
  ['Europe/Dublin', '1971-10-31'],
] as const;

interface Interval {
  start: string;
  end: string;
}

export interface RandomResource {
  time_zone: string;
  hours: Partial<Record<(typeof WEEKDAYS)[number], Interval[]>>;
  exceptions: { date: string; hours: Interval[] }[];
  buffer_before_minutes: number;
  buffer_after_minutes: number;
}

/** A resource and a question for its free times. */
export interface RandomQuestion {
  resource: RandomResource;
  from: string;
  to: string;
  duration_minutes: number;
  step_minutes: number;
}

/** A question about the future. */
export function randomQuestion(random: Random): RandomQuestion {
  const zone = random.of(ZONES);
  const day = Date.UTC(2030, 0, 1) + random.below(6 * 365) * DAY;
  return questionAt(random, zone, random.below(3) > 0 ? changeAfter(zone, day) : day);
}

/** A question about the past, of which the API answers no free times. */
export function randomPastQuestion(random: Random): RandomQuestion {
  const [zone, date] = random.of(PAST);
  return questionAt(random, zone, Date.parse(date));
}

function questionAt(random: Random, zone: string, near: number): RandomQuestion {
  const from = near - random.below(7 * 24 * 4) * 15 * MINUTE - random.below(2) * random.below(DAY);
  const days = random.of([1, 2, 3, 7, 7, 14, 62]);
  // Without a closing there is no opening from which steps count, but midnights, which changes of clocks move.
  const isAlwaysOpen = random.below(10) === 0;
  return {
    resource: randomResource(random, { zone, near, isAlwaysOpen }),
    from: new Date(from).toISOString(),
    to: new Date(from + days * DAY - random.below(2) * random.below(DAY / 2)).toISOString(),
    duration_minutes: random.of([1, 15, 30, 45, 60, 61, 90, 240, 1440]),
    step_minutes: random.of(isAlwaysOpen ? [15, 30] : [15, 20, 30, 45, 50, 60, 90, 1440]),
  };
}

/** The first day on which the clocks of a zone change, within a year, or the given one. */
function changeAfter(zone: string, day: number): number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  const offsetOn = (n: number) => format.format(day + n * DAY).split('GMT')[1];
  const days = Array.from({ length: 366 }, (_, n) => n);
  const change = days.find((n) => offsetOn(n) !== offsetOn(n + 1)) ?? 0;
  return day + change * DAY;
}

function randomResource(
  random: Random,
  { zone, near, isAlwaysOpen }: { zone: string; near: number; isAlwaysOpen: boolean },
): RandomResource {
  const dates = [-3, -2, -1, 0, 1, 2, 5, 8].filter(() => random.below(5) === 0);
  return {
    time_zone: zone,
    hours: isAlwaysOpen
      ? Object.fromEntries(WEEKDAYS.map((day) => [day, [{ start: '00:00', end: '24:00' }]]))
      : randomHours(random),
    exceptions: dates.map((n) => ({
      date: new Date(near + n * DAY).toISOString().slice(0, 10),
      hours: random.below(2) === 0 ? [] : withNight(random, randomDay(random)),
    })),
    buffer_before_minutes: random.of([0, 0, 10, 60]),
    buffer_after_minutes: random.of([0, 0, 15, 90]),
  };
}

function randomHours(random: Random): RandomResource['hours'] {
  const days = WEEKDAYS.map(() => (random.below(5) === 0 ? undefined : randomDay(random)));
  const nights = days.map((day, n) => day && withNight(random, day, days[(n + 1) % 7]?.[0]?.start));
  return Object.fromEntries(WEEKDAYS.flatMap((name, n) => (nights[n] ? [[name, nights[n]]] : [])));
}

/** Intervals within one day, of which some touch. */
function randomDay(random: Random): Interval[] {
  const minutes = Array.from({ length: 2 * (1 + random.below(3)) }, () => {
    return random.below(4) === 0 ? random.below(1_440) : 15 * random.below(96);
  });
  const times = [...new Set(minutes)].sort((a, b) => a - b).map(textOf);
  const isTouching = random.below(4) === 0;
  const starts = times.slice(0, -1).filter((_, n) => isTouching || n % 2 === 0);
  return starts.map((start) => ({ start, end: times[times.indexOf(start) + 1]! }));
}

/** The same intervals, of which the last one may end at midnight or on the next day, before its first one. */
function withNight(random: Random, day: Interval[], nextStart = '24:00'): Interval[] {
  const last = day.at(-1);
  const ends = ['24:00', '00:00', '01:00', '02:30', '03:00', '05:59'];
  const end = random.of(ends);
  if (!last || random.below(2) === 0) return day;
  const isFree = end === '24:00' || (end < last.start && end <= nextStart);
  return isFree ? [...day.slice(0, -1), { ...last, end }] : day;
}

function textOf(minutes: number): string {
  return [Math.floor(minutes / 60), minutes % 60].map((n) => String(n).padStart(2, '0')).join(':');
}

/** Times in and around the window of a question, some of which overlap. */
export function randomTimes(random: Random, { from, to }: RandomQuestion): [Date, Date][] {
  const [start, end] = [Date.parse(from) - DAY, Date.parse(to) + DAY];
  const most = Math.min(12, 1 + Math.floor((end - start) / DAY));
  return Array.from({ length: random.below(most) }, () => {
    const begin = start + random.below((end - start) / MINUTE) * MINUTE + random.below(2) * 30_000;
    const length = random.of([15, 30, 60, 61, 240, 1500]) * MINUTE;
    return [new Date(begin), new Date(begin + length)];
  });
}
