import { type Declaration, declareField } from '../field.js';
import { rule } from './rules.js';
import { trimText } from './text.js';

export const TIME_ZONE_PROBLEM = 'must be the name of a time zone, such as Europe/Berlin or UTC';

/** The longest name of a time zone is half as long. */
const MAX_LENGTH = 64;

/** Whether Node.js knows a time zone by this name, in any case. */
export function isTimeZone(name: unknown): name is string {
  if (typeof name !== 'string' || !/^[a-z]/i.test(name) || name.length > MAX_LENGTH) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Zones whose names PostgreSQL reads as abbreviations of an offset without summer time, and zones with the same clocks. */
const SAME_CLOCKS: ReadonlyMap<string, string> = new Map([
  ['CET', 'Europe/Brussels'],
  ['EET', 'Europe/Athens'],
  ['MET', 'Europe/Brussels'],
  ['WET', 'Europe/Lisbon'],
]);

/** The name of a time zone for `at time zone` of PostgreSQL. */
export function timeZoneForSql(name: string): string {
  return SAME_CLOCKS.get(name.toUpperCase()) ?? name;
}

/** The name of a time zone of the IANA database, in any case. PostgreSQL must know it as well. */
export function TimeZone(declaration: Declaration<string>) {
  return declareField(declaration, {
    schema: { type: 'string', minLength: 1, maxLength: MAX_LENGTH },
    rules: [rule('isTimeZone', isTimeZone, TIME_ZONE_PROBLEM)],
    normalize: (value) => (typeof value === 'string' ? trimText(value) : value),
  });
}
