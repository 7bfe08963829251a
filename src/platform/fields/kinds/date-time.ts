/** How fractions of a millisecond are rounded. */
export type Rounding = 'down' | 'up';

/** The maximum number of digits after the second. */
export const MAX_FRACTION_DIGITS = 9;

const HOUR = '(?:[01][0-9]|2[0-3])';
const SIXTY = '[0-5][0-9]';
const DATE = '(?<year>[0-9]{4})-(?<month>[0-9]{2})-(?<day>[0-9]{2})';
const FRACTION = `\\.(?<fraction>[0-9]{1,${MAX_FRACTION_DIGITS}})`;
const TIME = `(?<minutes>${HOUR}:${SIXTY})(?::(?<seconds>${SIXTY})(?:${FRACTION})?)?`;
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
  const { year = '', month = '', day = '', minutes = '00:00', seconds = '00' } = groups;
  const { fraction = '', sign, offsetHours, offsetMinutes = '00' } = groups;
  if (year === '0000') return undefined;
  // Date.parse would read a day that the calendar does not have as one of the next month.
  if (day > '28' && Number(day) > daysOf(Number(year), Number(month))) return undefined;
  const milliseconds = fraction.slice(0, MILLISECOND_DIGITS).padEnd(MILLISECOND_DIGITS, '0');
  const offset = sign === undefined ? 'Z' : `${sign}${offsetHours}:${offsetMinutes}`;
  const time = `${minutes}:${seconds}.${milliseconds}${offset}`;
  const begun = Date.parse(`${year}-${month}-${day}T${time}`);
  if (!(begun >= EARLIEST && begun <= LATEST)) return undefined;
  // After the last millisecond this is the year 10000, which is beyond every record.
  const isRounded = rounding === 'up' && Number(fraction.slice(MILLISECOND_DIGITS)) > 0;
  return new Date(isRounded ? begun + 1 : begun);
}

/** The number of days of a month, from 1. */
export function daysOf(year: number, month: number): number {
  // The year is one of the next cycle of 400 years, because Date.UTC reads 0 to 99 as 1900 to 1999.
  return new Date(Date.UTC(year + 400, month, 0)).getUTCDate();
}
