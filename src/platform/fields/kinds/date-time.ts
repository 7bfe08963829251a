/** How fractions of a millisecond are rounded. */
export type Rounding = 'down' | 'up';

/** The maximum number of digits after the second. */
const MAX_FRACTION_DIGITS = 9;

const HOUR = '(?:[01][0-9]|2[0-3])';
const SIXTY = '[0-5][0-9]';
const ANY_OFFSET = `([Zz]|[+-]${HOUR}(:?${SIXTY})?)`;
const ANY_TIME = `${HOUR}:${SIXTY}(:${SIXTY}(\\.[0-9]{1,${MAX_FRACTION_DIGITS}})?)?`;
const DAY_OF_MONTH =
  '((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|[12][0-9]))';

/**
 * The JSON Schema of the input. The pattern works in every dialect of regular expressions and ignores
 * leap years, which `parseDateTime` checks. `format: date-time` would reject dates, and times without an
 * offset.
 */
export const DATE_TIME_INPUT_SCHEMA = {
  type: 'string',
  pattern: `^[0-9]{4}-${DAY_OF_MONTH}([Tt]${ANY_TIME}${ANY_OFFSET}?)?$`,
  description: 'ISO 8601 date-time or date.',
} as const;

const EXAMPLE = '2026-01-31T09:30:00Z';
const GENERAL = `must be an ISO 8601 date-time such as ${EXAMPLE}`;

/** A date and what follows it, with any numbers. */
const DATE = /^(?<year>[+-]?\d+)-(?<month>\d{1,2})-(?<day>\d{1,2})(?<rest>\D.*)?$/s;
const TIME =
  /^[Tt](?<hour>\d+)(?::(?<minute>\d+)(?::(?<second>\d+)(?:(?<point>[.,])(?<fraction>\d*))?)?)?(?<offset>\D.*)?$/s;
const OFFSET = /^(?:[Zz]|(?<hours>[+-](?:[01]\d|2[0-3]))(?::?(?<minutes>[0-5]\d))?)$/;

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

const MILLISECOND_DIGITS = 3;
/** 0001-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z, the bounds of all times. */
export const EARLIEST = -62_135_596_800_000;
export const LATEST = 253_402_300_799_999;

/** The problem of a time outside of these bounds. */
export const OUT_OF_YEARS = 'must be from the year 0001 to 9999 in UTC';

type Groups = Partial<Record<string, string>>;

const MIDNIGHT: Groups = { hour: '00', minute: '00' };

/**
 * Parses an ISO 8601 date or date-time as the API accepts it: `YYYY-MM-DD` (midnight UTC) or
 * `YYYY-MM-DDTHH:mm[:ss[.f]]` with `Z`, an offset, or neither (UTC), from year 0001 to 9999. `t` and `z` may
 * be in lower case.
 * @param text the input without surrounding white space
 * @param rounding `up` keeps half-open ranges exact if a filter has fractions of a millisecond
 * @returns undefined if the string is invalid
 */
export function parseDateTime(text: string, rounding: Rounding): Date | undefined {
  const read = readDateTime(text, rounding);
  return read instanceof Date ? read : undefined;
}

/** What is wrong with a value that `parseDateTime` does not accept. */
export function dateTimeProblem(value: unknown): string {
  if (typeof value === 'number') return `${GENERAL}; a number is not a time`;
  const read = typeof value === 'string' ? readDateTime(value, 'down') : GENERAL;
  return typeof read === 'string' ? read : GENERAL;
}

/** @returns the time, or what is wrong with the text */
function readDateTime(text: string, rounding: Rounding): Date | string {
  const date: Groups | undefined = DATE.exec(text)?.groups;
  if (!date) return otherForm(text);
  const { year, month, day, rest = '' } = date;
  const time: Groups | undefined = rest === '' ? MIDNIGHT : TIME.exec(rest)?.groups;
  const problem = problemOfDate(date) ?? problemOfTime(rest, time);
  if (problem !== undefined) return problem;
  const { hour, minute, second = '00', fraction = '', offset = '' } = time ?? {};
  const milliseconds = fraction.slice(0, MILLISECOND_DIGITS).padEnd(MILLISECOND_DIGITS, '0');
  const { hours, minutes = '00' }: Groups = OFFSET.exec(offset)?.groups ?? {};
  const zone = hours === undefined ? 'Z' : `${hours}:${minutes}`;
  const begun = Date.parse(
    `${year}-${month}-${day}T${hour}:${minute}:${second}.${milliseconds}${zone}`,
  );
  // Every part is valid, so that only the offset can have moved the time out of these years.
  if (!(begun >= EARLIEST && begun <= LATEST)) return OUT_OF_YEARS;
  // After the last millisecond this is the year 10000, which is beyond every record.
  const isRounded = rounding === 'up' && Number(fraction.slice(MILLISECOND_DIGITS)) > 0;
  return new Date(isRounded ? begun + 1 : begun);
}

function otherForm(text: string): string {
  const [, problem] = OTHER_FORMS.find(([form]) => form.test(text)) ?? [];
  return problem === undefined ? GENERAL : `${GENERAL}; ${problem}`;
}

function problemOfDate({ year = '', month = '', day = '' }: Groups): string | undefined {
  if (!/^\d{4}$/.test(year) || year === '0000') {
    return 'must have a year from 0001 to 9999 with four digits';
  }
  if (month.length < 2 || day.length < 2) {
    return `must have two digits for the month and the day, such as ${EXAMPLE}`;
  }
  if (month < '01' || month > '12') return 'must have a month from 01 to 12';
  const days = daysOf(Number(year), Number(month));
  if (day >= '01' && Number(day) <= days) return undefined;
  const isLeapDay = month === '02' && day === '29';
  const reason = isLeapDay ? `${year} is not a leap year` : `${year}-${month} has ${days} days`;
  return `must have a day that exists; ${reason}`;
}

function problemOfTime(rest: string, time: Groups | undefined): string | undefined {
  if (/^(?:[Zz]|[+-])/.test(rest)) return `must have a time before the offset, such as ${EXAMPLE}`;
  if (/^ +\d/.test(rest)) return `must have a T between the date and the time, such as ${EXAMPLE}`;
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
  if (offset === '' || OFFSET.test(offset)) return undefined;
  return 'must end with Z or an offset from -23:59 to +23:59, such as +02:00';
}

function isInRange(digits: string, max: number): boolean {
  return digits.length === 2 && Number(digits) <= max;
}

/** The number of days of a month, from 1. */
function daysOf(year: number, month: number): number {
  // The year is one of the next cycle of 400 years, because Date.UTC reads 0 to 99 as 1900 to 1999.
  return new Date(Date.UTC(year + 400, month, 0)).getUTCDate();
}
