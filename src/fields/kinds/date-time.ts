/** How fractions of a millisecond are rounded. */
export type Rounding = 'down' | 'up';

/** The maximum number of digits after the second. */
export const MAX_FRACTION_DIGITS = 9;

const HOUR = '(?:[01][0-9]|2[0-3])';
const SIXTY = '[0-5][0-9]';
const DATE = '(?<year>[0-9]{4})-(?<month>[0-9]{2})-(?<day>[0-9]{2})';
const TIME = `(?<hour>${HOUR}):(?<minute>${SIXTY})(?::(?<second>${SIXTY})(?:\\.(?<fraction>[0-9]{1,${MAX_FRACTION_DIGITS}}))?)?`;
const OFFSET = `[Zz]|(?<sign>[+-])(?<offsetHours>${HOUR})(?::?(?<offsetMinutes>${SIXTY}))?`;
const DATE_TIME = new RegExp(`^${DATE}(?:[Tt]${TIME}(?:${OFFSET})?)?$`);

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

const MILLISECOND_DIGITS = 3;
const MS_PER_MINUTE = 60_000;
/** 0001-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z. */
const EARLIEST = -62_135_596_800_000;
const LATEST = 253_402_300_799_999;

type Groups = Partial<Record<string, string>>;

/**
 * Parses an ISO 8601 date or date-time as the API accepts it: `YYYY-MM-DD` (midnight UTC) or
 * `YYYY-MM-DDTHH:mm[:ss[.f]]` with `Z`, an offset, or neither (UTC), from year 0001 to 9999. `t` and `z` may
 * be in lower case.
 * @param text the input without surrounding white space
 * @param rounding `up` keeps half-open ranges exact if a filter has fractions of a millisecond
 * @returns undefined if the string is invalid
 */
export function parseDateTime(text: string, rounding: Rounding): Date | undefined {
  const groups: Groups | undefined = DATE_TIME.exec(text)?.groups;
  if (!groups) return undefined;
  const midnight = calendarDay(groups);
  if (midnight === undefined) return undefined;
  const begun = midnight + timeOfDay(groups) - offset(groups);
  if (begun < EARLIEST || begun > LATEST) return undefined;
  // After the last millisecond this is the year 10000, which is beyond every record.
  return new Date(rounding === 'up' && isWithinMillisecond(groups) ? begun + 1 : begun);
}

/** Midnight UTC of a day in milliseconds; undefined if the calendar does not have the day. */
function calendarDay(groups: Groups): number | undefined {
  const year = toNumber(groups.year);
  const month = toNumber(groups.month) - 1;
  const day = toNumber(groups.day);
  // Date.UTC would read the years 0 to 99 as 1900 to 1999.
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  const exists = year > 0 && date.getUTCMonth() === month && date.getUTCDate() === day;
  return exists ? date.getTime() : undefined;
}

/** The time of day in milliseconds, rounded down. */
function timeOfDay({ hour, minute, second, fraction = '' }: Groups): number {
  const minutes = toNumber(hour) * 60 + toNumber(minute);
  const ms = fraction.slice(0, MILLISECOND_DIGITS).padEnd(MILLISECOND_DIGITS, '0');
  return minutes * MS_PER_MINUTE + toNumber(second) * 1000 + toNumber(ms);
}

/** Whether the time has a fraction of a millisecond. */
function isWithinMillisecond({ fraction = '' }: Groups): boolean {
  return toNumber(fraction.slice(MILLISECOND_DIGITS)) > 0;
}

function offset(groups: Groups): number {
  const minutes = toNumber(groups.offsetHours) * 60 + toNumber(groups.offsetMinutes);
  return (groups.sign === '-' ? -minutes : minutes) * MS_PER_MINUTE;
}

/** Converts digits; undefined is 0. */
function toNumber(digits: string | undefined): number {
  return Number(digits ?? 0);
}
