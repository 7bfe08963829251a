import type { BookableResource } from 'latitude/client';
import { type Conversion, InvalidInput } from '../../forms/kinds.js';
import type { Raw } from '../../state/drafts.js';
import { texts } from '../../texts.js';

const { closed, line, problems, weekdays } = texts.resources;

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
    const days = new Map<Weekday, Interval[]>();
    eachLine(raw, ({ label, text }) => {
      const [day, name] = weekdayOf(label) ?? [];
      if (!day || !name) throw new InvalidInput(problems.weekday(label));
      if (days.has(day)) throw new InvalidInput(problems.again(name));
      days.set(day, intervalsOf(text));
    });
    const open = [...days].filter(([, intervals]) => intervals.length > 0);
    return open.length === 0 ? null : Object.fromEntries(open);
  },
  partAt: (path, raw) => {
    const day = /^\.(\w+)/.exec(path)?.[1];
    return partOf(
      path,
      linesOf(raw).find(({ label }) => weekdayOf(label)?.[0] === day),
    );
  },
};

/** A line for each date. */
export const EXCEPTIONS: Conversion = {
  toRaw: (value) =>
    ((value ?? []) as Exceptions).map(({ date, hours }) => `${date}: ${textOf(hours)}`).join('\n'),
  toValue: (raw) => {
    const exceptions: Exceptions = [];
    eachLine(raw, ({ label, text }) => {
      exceptions.push({ date: label, hours: intervalsOf(text) });
    });
    return exceptions;
  },
  partAt: (path, raw) => partOf(path, linesOf(raw)[Number(/^\[(\d+)/.exec(path)?.[1])]),
};

const weekdayOf = (label: string) =>
  WEEKDAYS.find(([, name]) => name.toLowerCase() === label.toLowerCase());

/** Such as `Line 2: end` for the path `.monday[0].end`. */
function partOf(path: string, holder: Line | undefined): string {
  const [name = ''] = /\w*$/.exec(path) ?? [];
  return holder ? `${line(holder.number)} ${name}` : name;
}

interface Line {
  readonly number: number;
  /** What stands before the first colon. */
  readonly label: string;
  /** What stands after it. */
  readonly text: string;
}

function linesOf(raw: Raw): Line[] {
  const lines = (raw as string).split('\n').map((whole, index) => {
    const at = `${whole}:`.indexOf(':');
    const [label, text] = [whole.slice(0, at).trim(), whole.slice(at + 1).trim()];
    return { number: index + 1, label, text };
  });
  return lines.filter(({ label, text }) => label !== '' || text !== '');
}

/** @throws InvalidInput with the problems of all lines */
function eachLine(raw: Raw, read: (each: Line) => void): void {
  const found: string[] = [];
  for (const each of linesOf(raw)) {
    try {
      read(each);
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      found.push(`${line(each.number)} ${error.message}`);
    }
  }
  if (found.length > 0) throw new InvalidInput(found.join('\n'));
}

/** Such as `09:00–12:00, 13:00–17:30`. */
function textOf(intervals: readonly Interval[] = []): string {
  return intervals.map(({ start, end }) => `${start}–${end}`).join(', ') || closed;
}

/** @throws InvalidInput; the service checks the times */
function intervalsOf(text: string): Interval[] {
  if (text.toLowerCase() === closed) return [];
  return text.split(',').map((part) => {
    const match = INTERVAL.exec(part.trim());
    if (!match) throw new InvalidInput(problems.times(text));
    const [, fromHour = '', fromMinute, toHour = '', toMinute] = match;
    return { start: clock(fromHour, fromMinute), end: clock(toHour, toMinute) };
  });
}

const clock = (hour: string, minute = '00') => `${hour.padStart(2, '0')}:${minute}`;
