import { types } from 'node:util';
import pg from 'pg';

/** What the driver calls to send the parameters of a statement, whatever kind of query it is. */
interface BindingConnection {
  bind(message: { values?: readonly unknown[] }): void;
}

/**
 * Makes a client send each Date as UTC text. The driver itself writes the time zone of the process
 * with an offset in whole minutes, which is wrong where the zone once had an offset with seconds.
 */
export function sendTimesAsUtc(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection: BindingConnection };
  const bind = connection.bind.bind(connection);
  connection.bind = (message) => {
    const { values } = message;
    bind(values?.some(holdsTime) ? { ...message, values: values.map(withUtcText) } : message);
  };
}

/** The driver's own parser; its declarations know only some of the types that it reads. */
const parserOf = pg.types.getTypeParser as (
  type: number,
  format?: 'text' | 'binary',
) => (text: string) => unknown;
const readTextArray = parserOf(1009) as (text: string) => (string | null)[];

/** How the types are read that the driver would read in the time zone of the process. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.DATE]: String,
  [pg.types.builtins.TIMESTAMP]: readAsUtc,
  // Arrays of them.
  1182: readTextArray,
  1115: (text) => readTextArray(text).map((time) => time && readAsUtc(time)),
};

/**
 * Reads `timestamp` columns as UTC, because they are written so, and dates as the text that they
 * are: a Date of either would depend on the time zone of the process.
 */
export const UTC_TYPES: pg.CustomTypesConfig = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    (format === 'binary' ? undefined : PARSERS[type]) ?? parserOf(type, format),
};

function readAsUtc(text: string): unknown {
  // `infinity` has no time of day; BC stands behind the offset.
  return parserOf(pg.types.builtins.TIMESTAMPTZ)(text.replace(/:[:.\d]+/, '$&+00'));
}

function holdsTime(value: unknown): boolean {
  return types.isDate(value) || (Array.isArray(value) && value.some(holdsTime));
}

function withUtcText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withUtcText);
  return types.isDate(value) ? utcText(value) : value;
}

/** A time as PostgreSQL reads it, which knows years before 1 as BC and no sign before a year. */
function utcText(time: Date): string {
  const year = time.getUTCFullYear();
  const rest = time.toISOString().replace(/^[+-]?\d+/, '');
  const era = year < 1 ? ' BC' : '';
  return `${String(year < 1 ? 1 - year : year).padStart(4, '0')}${rest}${era}`;
}
