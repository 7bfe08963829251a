import fc, { type Arbitrary } from 'fast-check';
import type { SentValue } from './values.js';

const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');
const MS_PER_MINUTE = 60_000;

const YEARS = { min: new Date(EARLIEST), max: new Date(LATEST), noInvalidDate: true };

/** Offset signs, hours and minutes, or none, as ISO 8601 writes them. */
const OFFSETS = fc.oneof(
  fc.constantFrom('', 'Z', 'z', '+00:00', '-00'),
  fc
    .tuple(fc.constantFrom('+', '-'), fc.nat(23), fc.nat(59), fc.constantFrom(':', '', undefined))
    .map(([sign, hours, minutes, colon]) => {
      const end = colon === undefined ? '' : `${colon}${twoDigits(minutes)}`;
      return `${sign}${twoDigits(hours)}${end}`;
    }),
);

/** The fraction of a time of day: undefined omits the seconds too, '' omits only the fraction. */
const FRACTIONS = fc.oneof(
  fc.constantFrom(undefined, ''),
  fc.stringMatching(/^[0-9]{1,9}$/).map((digits) => `.${digits}`),
);

/** Dates and date-times of the years 0001 to 9999, which come back in UTC to the millisecond. */
export function dateTimes(): Arbitrary<SentValue> {
  const dates = fc.date(YEARS).map((date) => {
    const day = date.toISOString().slice(0, 10);
    return { sent: day, instant: Date.parse(`${day}T00:00:00.000Z`) };
  });
  const separators = fc.constantFrom('T', 't');
  const given = fc.tuple(fc.date(YEARS), FRACTIONS, OFFSETS, separators);
  const times = given.map(([date, fraction, offset, separator]) => {
    const minutes = date.toISOString().slice(0, 16);
    const seconds = fraction === undefined ? '' : date.toISOString().slice(16, 19);
    const ms = (fraction ?? '').slice(1, 4).padEnd(3, '0');
    const local = Date.parse(`${minutes}${seconds || ':00'}.${ms}Z`);
    const sent = `${minutes.replace('T', separator)}${seconds}${fraction ?? ''}${offset}`;
    return { sent, instant: local - minutesOf(offset) * MS_PER_MINUTE };
  });
  return fc
    .oneof({ weight: 1, arbitrary: dates }, { weight: 4, arbitrary: times })
    .filter(({ instant }) => instant >= EARLIEST && instant <= LATEST)
    .map(({ sent, instant }) => ({ sent, stored: new Date(instant).toISOString() }));
}

/**
 * Strings that resemble a date-time and are not accepted
 * (docs/contract/resources.md#dates-and-times).
 */
export function invalidDateTimes(): Arbitrary<string> {
  const parts = fc.record({
    year: fc.constantFrom('2026', '2024', '0001', '9999'),
    month: fc.constantFrom('01', '04', '12'),
    day: fc.constantFrom('01', '28', '30'),
    hour: fc.constantFrom('00', '09', '23'),
    minute: fc.constantFrom('00', '59'),
    second: fc.constantFrom('00', '59'),
    offset: fc.constantFrom('', 'Z', '+05:30'),
  });
  const faults = fc.constantFrom(
    { year: '0000' },
    { year: '10000' },
    { year: '+275760' },
    { year: '26' },
    { month: '00' },
    { month: '13' },
    { month: '02', day: '30' },
    { month: '04', day: '31' },
    { day: '00' },
    { day: '32' },
    { hour: '24' },
    { hour: '9' },
    { minute: '60' },
    { second: '60' },
    { second: '00.' },
    { second: '00,5' },
    { second: `00.${'0'.repeat(40)}` },
    { offset: 'zz' },
    { offset: '+24:00' },
    { offset: '+05:60' },
    { offset: ' Z' },
    { offset: 'Z[UTC]' },
    { year: '0001', month: '01', day: '01', hour: '00', minute: '00', offset: '+00:01' },
    { year: '9999', month: '12', day: '31', hour: '23', minute: '59', offset: '-00:01' },
    {
      ...{ year: '0001', month: '01', day: '01', hour: '00', minute: '00' },
      ...{ second: '59.9999', offset: '+00:01' },
    },
  );
  const broken = fc.tuple(parts, faults).map(([good, fault]) => {
    const { year, month, day, hour, minute, second, offset } = { ...good, ...fault };
    return `${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`;
  });
  const words = fc.constantFrom('infinity', 'now', '2026-W10-1', '2026-061', '20260302T093000Z');
  return fc.oneof(broken, words, fc.nat().map(String));
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

function minutesOf(offset: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)?$/.exec(offset) ?? [];
  const size = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  return sign === '-' ? -size : size;
}
