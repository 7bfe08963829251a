import type { BookableResource } from 'latitude/client';
import { type Conversion, InvalidInput } from '../../forms/kinds.js';
import { texts } from '../../texts.js';

const { closed, hints, weekdays } = texts.resources;

type Hours = NonNullable<BookableResource['hours']>;
type Weekday = keyof Hours;
type Exceptions = BookableResource['exceptions'];
type Interval = Exceptions[number]['hours'][number];

const WEEKDAYS = Object.entries(weekdays) as [Weekday, string][];

const INTERVAL = /^(\d{1,2})(?::(\d{2}))?\s*[-–]\s*(\d{1,2})(?::(\d{2}))?$/;

/** A line for each weekday. */
export const HOURS: Conversion = {
  toRaw: (value) => {
    const hours = (value ?? {}) as Hours;
    return WEEKDAYS.map(([day, label]) => `${label}: ${textOf(hours[day])}`).join('\n');
  },
  toValue: (raw) => {
    const days = linesOf(raw as string).map(([label, text]) => {
      const day = WEEKDAYS.find(([, each]) => each.toLowerCase() === label.toLowerCase());
      if (!day) throw new InvalidInput(hints.hours);
      return [day[0], intervalsOf(text, hints.hours)] as const;
    });
    const open = days.filter(([, intervals]) => intervals.length > 0);
    return open.length === 0 ? null : Object.fromEntries(open);
  },
};

/** A line for each date. */
export const EXCEPTIONS: Conversion = {
  toRaw: (value) =>
    ((value ?? []) as Exceptions).map(({ date, hours }) => `${date}: ${textOf(hours)}`).join('\n'),
  toValue: (raw) =>
    linesOf(raw as string).map(([date, text]) => ({
      date,
      hours: intervalsOf(text, hints.exceptions),
    })),
};

/** What stands before and after the first colon of each line. */
function linesOf(text: string): (readonly [string, string])[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const at = `${line}:`.indexOf(':');
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()] as const;
  });
}

/** Such as `09:00–12:00, 13:00–17:30`. */
function textOf(intervals: readonly Interval[] = []): string {
  return intervals.map(({ start, end }) => `${start}–${end}`).join(', ') || closed;
}

/** @throws InvalidInput; the service checks the times */
function intervalsOf(text: string, problem: string): Interval[] {
  if (text.toLowerCase() === closed) return [];
  return text.split(',').map((part) => {
    const match = INTERVAL.exec(part.trim());
    if (!match) throw new InvalidInput(problem);
    const [, fromHour = '', fromMinute, toHour = '', toMinute] = match;
    return { start: clock(fromHour, fromMinute), end: clock(toHour, toMinute) };
  });
}

const clock = (hour: string, minute = '00') => `${hour.padStart(2, '0')}:${minute}`;
