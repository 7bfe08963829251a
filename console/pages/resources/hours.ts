import type { BookableResource } from 'latitude/client';

export const WEEKDAYS = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const;
export type Weekday = (typeof WEEKDAYS)[number];

export type WeeklyHours = NonNullable<BookableResource['hours']>;
export type Exceptions = BookableResource['exceptions'];
type Interval = NonNullable<WeeklyHours[Weekday]>[number];

const INTERVAL = /^(\d{1,2}):?(\d{2})?\s*[-–]\s*(\d{1,2}):?(\d{2})?$/;

/** Such as `09:00–12:00, 13:00–17:30`. */
export function intervalsAsText(intervals: readonly Interval[] = []): string {
  return intervals.map(({ start, end }) => `${start}–${end}`).join(', ');
}

/** Reads such a text, also `9-12, 13-17:30`. Undefined if it is none; the service checks the times. */
export function intervalsOf(text: string): Interval[] | undefined {
  const parts = text.split(/[,;]/).map((part) => part.trim());
  const matches = parts.filter((part) => part !== '').map((part) => INTERVAL.exec(part));
  if (matches.some((match) => match === null)) return undefined;
  return matches.map((match) => {
    const [, fromHour = '', fromMinute, toHour = '', toMinute] = match ?? [];
    return { start: clock(fromHour, fromMinute), end: clock(toHour, toMinute) };
  });
}

const clock = (hour: string, minute = '00') => `${hour.padStart(2, '0')}:${minute}`;

/** A line for each date, such as `2026-12-24: 09:00–12:00` or `2026-12-25: closed`. */
export function exceptionsAsText(exceptions: Exceptions, closed: string): string {
  return exceptions
    .map(({ date, hours }) => `${date}: ${intervalsAsText(hours) || closed}`)
    .join('\n');
}

/** Reads such lines. Undefined if a line is none; the service checks dates and times. */
export function exceptionsOf(text: string, closed: string): Exceptions | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const read = lines
    .filter((line) => line !== '')
    .map((line) => {
      const [, date = '', rest = ''] = /^(\d{4}-\d{2}-\d{2})\s*:?\s*(.*)$/.exec(line) ?? [];
      const hours = rest === closed ? [] : intervalsOf(rest);
      return date !== '' && hours && (rest === closed || hours.length > 0)
        ? { date, hours }
        : undefined;
    });
  return read.every((exception) => exception !== undefined) ? read : undefined;
}
