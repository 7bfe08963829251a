import { dateTimeProblem } from './date-time.js';

const GENERAL = 'must be an ISO 8601 date-time such as 2026-01-31T09:30:00Z';

describe('dateTimeProblem', () => {
  it.each([
    ['2023-02-29', 'must have a day that exists; 2023 is not a leap year'],
    ['1900-02-29T09:30:00Z', 'must have a day that exists; 1900 is not a leap year'],
    ['0001-02-29', 'must have a day that exists; 0001 is not a leap year'],
    ['2024-02-30', 'must have a day that exists; 2024-02 has 29 days'],
    ['2026-02-30T00:00:00Z', 'must have a day that exists; 2026-02 has 28 days'],
    ['2026-04-31', 'must have a day that exists; 2026-04 has 30 days'],
    ['2026-01-32', 'must have a day that exists; 2026-01 has 31 days'],
    ['2026-01-00', 'must have a day that exists; 2026-01 has 31 days'],
    ['2026-13-01', 'must have a month from 01 to 12'],
    ['2026-00-01T09:30:00Z', 'must have a month from 01 to 12'],
    ['2026-1-5', 'must have two digits for the month and the day, such as 2026-01-31T09:30:00Z'],
    ['0000-01-01', 'must have a year from 0001 to 9999 with four digits'],
    ['26-01-31', 'must have a year from 0001 to 9999 with four digits'],
    ['+010000-01-01T00:00:00Z', 'must have a year from 0001 to 9999 with four digits'],
    ['2026-01-31T24:00', 'must have an hour from 00 to 23; 24:00 is 00:00 of the next day'],
    ['2026-01-31T24:00:00Z', 'must have an hour from 00 to 23; 24:00 is 00:00 of the next day'],
    ['2026-01-31T25:00:00Z', 'must have an hour from 00 to 23'],
    ['2026-01-31T9:30:00Z', 'must have an hour from 00 to 23'],
    ['2026-01-31T09', 'must have hours and minutes, such as T09:30'],
    ['2026-01-31T0930Z', 'must have hours and minutes, such as T09:30'],
    ['2026-01-31T09:60:00Z', 'must have minutes from 00 to 59'],
    ['2016-12-31T23:59:60Z', 'must have seconds from 00 to 59'],
    ['2026-01-31t09:30:00.1234567891z', 'must have at most 9 fractional digits'],
    ['2026-01-31T09:30:00,5Z', 'must have a point before the fraction of a second'],
    ['2026-01-31T09:30:00.Z', 'must have digits after the point'],
    [
      '2026-01-31 09:30:00Z',
      `must have a T between the date and the time, such as 2026-01-31T09:30:00Z`,
    ],
    [
      '2026-01-31T09:30:00+24:00',
      'must end with Z or an offset from -23:59 to +23:59, such as +02:00',
    ],
    [
      '2026-01-31T09:30:00 GMT',
      'must end with Z or an offset from -23:59 to +23:59, such as +02:00',
    ],
    [
      '2026-01-31T09:30:00Z[Europe/Vienna]',
      'must end with Z or an offset from -23:59 to +23:59, such as +02:00',
    ],
    ['2026-01-31T09:30:00 05:30', `${GENERAL}; in a query, write + as %2B`],
    ['9999-12-31T23:59:59-00:01', 'must be from the year 0001 to 9999 in UTC'],
    ['01/02/2026', `${GENERAL}; a date is written as year-month-day`],
    ['2026/01/31', `${GENERAL}; a date is written as year-month-day`],
    ['31.01.2026 09:30', `${GENERAL}; a date is written as year-month-day`],
    ['31-01-2026', `${GENERAL}; a date is written as year-month-day`],
    ['1769851800', `${GENERAL}; a number is not a time`],
    [1769851800, `${GENERAL}; a number is not a time`],
    [
      '20260131T093000Z',
      `${GENERAL}; compact forms, week dates and ordinal dates are not accepted`,
    ],
    ['2026-W05-6', `${GENERAL}; compact forms, week dates and ordinal dates are not accepted`],
    ['2026-031', `${GENERAL}; compact forms, week dates and ordinal dates are not accepted`],
    ['Sat, 31 Jan 2026 09:30:00 GMT', `${GENERAL}; names of months and days are not accepted`],
    ['January 31, 2026', `${GENERAL}; names of months and days are not accepted`],
    ['tomorrow', `${GENERAL}; relative times are not accepted`],
    ['next Monday', `${GENERAL}; relative times are not accepted`],
    ['09:30:00', `${GENERAL}; the date is missing`],
    ['2026-01', `${GENERAL}; the day is missing`],
    ['2026-01-31Z', 'must have a time before the offset, such as 2026-01-31T09:30:00Z'],
    ['2026-01-31+01:00', 'must have a time before the offset, such as 2026-01-31T09:30:00Z'],
    ['nonsense', GENERAL],
    ['', GENERAL],
    [true, GENERAL],
    [{}, GENERAL],
  ])('says what is wrong with %j: %s', (value, problem) => {
    expect(dateTimeProblem(value)).toBe(problem);
  });

  it('is fast for long strings', () => {
    for (const part of ['9', '9-', 'T', '2026-01-31T', ' ', 'a', '.']) {
      expect(dateTimeProblem(part.repeat(100_000))).toMatch(/^must/);
    }
  });
});
