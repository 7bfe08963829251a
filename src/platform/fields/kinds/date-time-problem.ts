import { daysOf, MAX_FRACTION_DIGITS } from './date-time.js';

const EXAMPLE = '2026-01-31T09:30:00Z';
const GENERAL = `must be an ISO 8601 date-time such as ${EXAMPLE}`;

/** A date and what follows it, with any numbers. */
const DATE = /^(?<year>[+-]?\d+)-(?<month>\d{1,2})-(?<day>\d{1,2})(?<rest>\D.*)?$/s;
const TIME =
  /^[Tt](?<hour>\d+)(?::(?<minute>\d+)(?::(?<second>\d+)(?:(?<point>[.,])(?<fraction>\d*))?)?)?(?<offset>\D.*)?$/s;
const OFFSET = /^(?:[Zz]|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)$/;

/** An offset whose `+` was decoded as a space in a query string. */
const LOST_PLUS = /^ \d\d(?::?\d\d)?$/;

/** Other forms of dates, with what is wrong with them. */
const OTHER_FORMS: readonly (readonly [RegExp, string])[] = [
  [/^[+-]?\d+(?:\.\d+)?$/, 'a number is not a time'],
  [
    /^\d{8}[Tt]|^\d{4}-?[Ww]\d|^\d{4}-\d{3}(?!\d)/,
    'compact forms, week dates and ordinal dates are not accepted',
  ],
  [/^\d{1,4}[/.]\d{1,2}[/.]\d{1,4}|^\d{1,2}-\d{1,2}-\d{4}/, 'a date is written as year-month-day'],
  [
    /\b(?:now|to(?:day|morrow|night)|yesterday|next|last|ago)\b/i,
    'relative times are not accepted',
  ],
  [
    /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)/i,
    'names of months and days are not accepted',
  ],
  [/^\d{1,2}:\d\d/, 'the date is missing'],
  [/^\d{4}-\d\d$/, 'the day is missing'],
];

type Groups = Partial<Record<string, string>>;

/** What is wrong with a value that `parseDateTime` does not accept. */
export function dateTimeProblem(value: unknown): string {
  if (typeof value === 'number') return `${GENERAL}; a number is not a time`;
  if (typeof value !== 'string') return GENERAL;
  const date: Groups | undefined = DATE.exec(value)?.groups;
  return date ? problemOfDate(date) : otherForm(value);
}

function otherForm(text: string): string {
  const [, problem] = OTHER_FORMS.find(([form]) => form.test(text)) ?? [];
  return problem === undefined ? GENERAL : `${GENERAL}; ${problem}`;
}

function problemOfDate({ year = '', month = '', day = '', rest = '' }: Groups): string {
  if (!/^\d{4}$/.test(year) || year === '0000') {
    return 'must have a year from 0001 to 9999 with four digits';
  }
  if (month.length < 2 || day.length < 2) {
    return `must have two digits for the month and the day, such as ${EXAMPLE}`;
  }
  if (month < '01' || month > '12') return 'must have a month from 01 to 12';
  const days = daysOf(Number(year), Number(month));
  if (day < '01' || Number(day) > days) {
    const isLeapDay = month === '02' && day === '29';
    const reason = isLeapDay ? `${year} is not a leap year` : `${year}-${month} has ${days} days`;
    return `must have a day that exists; ${reason}`;
  }
  return problemOfTime(rest);
}

function problemOfTime(rest: string): string {
  if (/^(?:[Zz]|[+-])/.test(rest)) return `must have a time before the offset, such as ${EXAMPLE}`;
  if (/^ +\d/.test(rest)) return `must have a T between the date and the time, such as ${EXAMPLE}`;
  const time: Groups | undefined = TIME.exec(rest)?.groups;
  if (!time) return GENERAL;
  const { hour = '', minute, second, point, fraction = '', offset = '' } = time;
  if (minute === undefined) return 'must have hours and minutes, such as T09:30';
  if (hour === '24') return 'must have an hour from 00 to 23; 24:00 is 00:00 of the next day';
  if (!isInRange(hour, 23)) return 'must have an hour from 00 to 23';
  if (!isInRange(minute, 59)) return 'must have minutes from 00 to 59';
  if (second !== undefined && !isInRange(second, 59)) return 'must have seconds from 00 to 59';
  if (point === ',') return 'must have a point before the fraction of a second';
  if (fraction.length > MAX_FRACTION_DIGITS) {
    return `must have at most ${MAX_FRACTION_DIGITS} fractional digits`;
  }
  if (point !== undefined && fraction === '') return 'must have digits after the point';
  if (LOST_PLUS.test(offset)) return `${GENERAL}; in a query, write + as %2B`;
  if (offset !== '' && !OFFSET.test(offset)) {
    return 'must end with Z or an offset from -23:59 to +23:59, such as +02:00';
  }
  // Every part is valid, so that only the offset can have moved the time out of these years.
  return 'must be from the year 0001 to 9999 in UTC';
}

function isInRange(digits: string, max: number): boolean {
  return digits.length === 2 && Number(digits) <= max;
}
