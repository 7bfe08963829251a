import { types } from 'node:util';
import pg from 'pg';

/** The parsers of the driver. Their declarations omit some types. */
const parserOf = pg.types.getTypeParser as (
  type: number,
  format?: 'text' | 'binary',
) => (text: string) => unknown;
const readTextArray = parserOf(1009) as (text: string) => (string | null)[];

/** Parsers of the types that the driver reads in the time zone of the process. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.DATE]: String,
  [pg.types.builtins.TIMESTAMP]: readAsUtc,
  // Arrays of dates and timestamps.
  1182: readTextArray,
  1115: (text) => readTextArray(text).map((time) => time && readAsUtc(time)),
};

/**
 * Reads `timestamp` values as UTC and `date` values as text, so that they do not depend on the time zone of
 * the process.
 */
export const UTC_TYPES: pg.CustomTypesConfig = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    (format === 'binary' ? undefined : PARSERS[type]) ?? parserOf(type, format),
};

function readAsUtc(text: string): unknown {
  // `infinity` has no time of day. `BC` follows the offset.
  return parserOf(pg.types.builtins.TIMESTAMPTZ)(text.replace(/:[:.\d]+/, '$&+00'));
}

/**
 * Writes each Date as UTC text. The driver would use the time zone of the process with an offset in whole
 * minutes, which is wrong for historical offsets with seconds.
 */
export function withUtcTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withUtcTimes);
  return types.isDate(value) ? utcText(value) : value;
}

/** Formats a time for PostgreSQL. Years before 1 have the suffix BC and no sign. */
export function utcText(time: Date): string {
  const year = time.getUTCFullYear();
  const rest = time.toISOString().replace(/^[+-]?\d+/, '');
  const era = year < 1 ? ' BC' : '';
  return `${String(year < 1 ? 1 - year : year).padStart(4, '0')}${rest}${era}`;
}
