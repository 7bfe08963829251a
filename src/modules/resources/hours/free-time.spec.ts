import {
  type Availability,
  dayOf,
  freeTimes,
  type Interval,
  isWithinHours,
  openIntervals,
} from './free-time.js';
import { WEEKDAYS } from './hours.js';
import { LocalTimes } from './local-time.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NINE_TO_NOON = [{ start: '09:00', end: '12:00' }];

const every = (hours: { start: string; end: string }[]) =>
  Object.fromEntries(WEEKDAYS.map((day) => [day, hours]));

const resource = (fields: Partial<Availability> = {}): Availability => ({
  time_zone: 'UTC',
  hours: every(NINE_TO_NOON),
  exceptions: [],
  buffer_before_minutes: 0,
  buffer_after_minutes: 0,
  ...fields,
});

const at = (text: string) => new Date(text).getTime();
const between = (start: string, end: string) => ({ start: at(start), end: at(end) });
const texts = (intervals: Iterable<Interval>) =>
  [...intervals].map(({ start, end }) =>
    [start, end].map((time) => new Date(time).toISOString().slice(0, 16)).join('/'),
  );
const open = (fields: Partial<Availability>, start: string, end: string) =>
  texts(openIntervals(resource(fields), between(start, end)));

describe('a local time', () => {
  it.each([
    ['Europe/Berlin', '2026-01-15T09:00Z', '2026-01-15T08:00Z'],
    ['Europe/Berlin', '2026-07-15T09:00Z', '2026-07-15T07:00Z'],
    // Clocks are set forward at 02:00, and back at 03:00.
    ['Europe/Berlin', '2026-03-29T01:59Z', '2026-03-29T00:59Z'],
    ['Europe/Berlin', '2026-03-29T02:00Z', '2026-03-29T01:00Z'],
    ['Europe/Berlin', '2026-03-29T02:30Z', '2026-03-29T01:30Z'],
    ['Europe/Berlin', '2026-03-29T03:00Z', '2026-03-29T01:00Z'],
    ['Europe/Berlin', '2026-10-25T01:59Z', '2026-10-24T23:59Z'],
    ['Europe/Berlin', '2026-10-25T02:30Z', '2026-10-25T00:30Z'],
    ['Europe/Berlin', '2026-10-25T03:00Z', '2026-10-25T02:00Z'],
    ['America/New_York', '2026-03-08T02:30Z', '2026-03-08T07:30Z'],
    ['America/New_York', '2026-11-01T01:30Z', '2026-11-01T05:30Z'],
    // Half hours: the zone, and the change of clocks.
    ['Asia/Kolkata', '2026-03-02T09:00Z', '2026-03-02T03:30Z'],
    ['Australia/Lord_Howe', '2026-10-04T02:15Z', '2026-10-03T15:45Z'],
    ['Australia/Lord_Howe', '2026-04-05T01:45Z', '2026-04-04T14:45Z'],
    ['Pacific/Chatham', '2026-07-01T00:00Z', '2026-06-30T11:15Z'],
    // The 30th of December 2011 does not exist.
    ['Pacific/Apia', '2011-12-30T09:00Z', '2011-12-30T19:00Z'],
    ['Pacific/Kiritimati', '2026-03-02T00:00Z', '2026-03-01T10:00Z'],
    ['Etc/GMT+12', '2026-03-02T00:00Z', '2026-03-02T12:00Z'],
    ['europe/berlin', '2026-01-15T09:00Z', '2026-01-15T08:00Z'],
    ['UTC', '0001-01-01T00:00Z', '0001-01-01T00:00Z'],
    ['UTC', '9999-12-31T23:59Z', '9999-12-31T23:59Z'],
  ])('in %s, %s is %s', (zone, local, utc) => {
    expect(texts([{ start: new LocalTimes(zone).toUtc(at(local)), end: at(utc) }])).toEqual(
      texts([{ start: at(utc), end: at(utc) }]),
    );
  });
});

describe('open intervals', () => {
  it('are those of each weekday in the zone', () => {
    const hours = { monday: NINE_TO_NOON };
    expect(
      open({ hours, time_zone: 'Asia/Kolkata' }, '2026-03-01T00:00Z', '2026-03-10T00:00Z'),
    ).toEqual(['2026-03-02T03:30/2026-03-02T06:30', '2026-03-09T03:30/2026-03-09T06:30']);
  });

  it('follow a change of clocks', () => {
    const berlin = { time_zone: 'Europe/Berlin', hours: every([{ start: '01:00', end: '03:30' }]) };
    expect(open(berlin, '2026-03-28T00:00Z', '2026-03-30T12:00Z')).toEqual([
      '2026-03-28T00:00/2026-03-28T02:30',
      '2026-03-29T00:00/2026-03-29T01:30',
      '2026-03-29T23:00/2026-03-30T01:30',
    ]);
    expect(open(berlin, '2026-10-24T12:00Z', '2026-10-25T12:00Z')).toEqual([
      '2026-10-24T23:00/2026-10-25T02:30',
    ]);
    const gap = { ...berlin, hours: every([{ start: '02:00', end: '02:30' }]) };
    expect(open(gap, '2026-03-29T00:00Z', '2026-03-29T12:00Z')).toEqual([
      '2026-03-29T01:00/2026-03-29T01:30',
    ]);
  });

  it('reach over midnight, and are one if they touch', () => {
    const nights = {
      hours: {
        monday: [{ start: '22:00', end: '06:00' }],
        tuesday: [{ start: '06:00', end: '24:00' }],
      },
    };
    expect(open(nights, '2026-03-03T05:00Z', '2026-03-03T05:30Z')).toEqual([
      '2026-03-02T22:00/2026-03-04T00:00',
    ]);
    expect(
      open(
        { hours: { monday: [{ start: '18:00', end: '00:00' }] } },
        '2026-03-02T00:00Z',
        '2026-03-04T00:00Z',
      ),
    ).toEqual(['2026-03-02T18:00/2026-03-03T00:00']);
  });

  it('of an exception replace what begins on its date, and not the night before', () => {
    const hours = every([{ start: '22:00', end: '02:00' }]);
    const exceptions = [
      { date: '2026-03-03', hours: [] },
      { date: '2026-03-05', hours: NINE_TO_NOON },
    ];
    expect(open({ hours, exceptions }, '2026-03-02T12:00Z', '2026-03-05T21:00Z')).toEqual([
      '2026-03-02T22:00/2026-03-03T02:00',
      '2026-03-04T22:00/2026-03-05T02:00',
      '2026-03-05T09:00/2026-03-05T12:00',
    ]);
    expect(open({ hours: null, exceptions }, '2026-03-02T12:00Z', '2026-03-05T21:00Z')).toEqual([
      '2026-03-05T09:00/2026-03-05T12:00',
    ]);
  });

  it('are none without hours', () => {
    expect(open({ hours: null }, '2026-03-01T00:00Z', '2026-03-10T00:00Z')).toEqual([]);
  });
});

describe('free times', () => {
  const free = (
    fields: Partial<Availability>,
    {
      busy = [],
      from = '2026-03-02T00:00Z',
      to = '2026-03-03T00:00Z',
      duration = HOUR,
      step = HOUR,
    }: {
      busy?: Interval[];
      from?: string;
      to?: string;
      duration?: number;
      step?: number;
    },
  ) =>
    texts(freeTimes(resource(fields), busy, between(from, to), { duration, step })).map((text) =>
      text.slice(11, 16),
    );

  it('begin in steps from the opening, and end by the closing', () => {
    expect(free({}, {})).toEqual(['09:00', '10:00', '11:00']);
    expect(free({}, { step: 45 * MINUTE })).toEqual(['09:00', '09:45', '10:30']);
    expect(free({}, { duration: 4 * HOUR })).toEqual([]);
  });

  it('lie in the window, whose bounds do not move the steps', () => {
    expect(
      free({}, { from: '2026-03-02T09:10Z', step: 30 * MINUTE, to: '2026-03-02T11:00Z' }),
    ).toEqual(['09:30', '10:00']);
  });

  it('do not overlap what is busy, also with their buffers', () => {
    const busy = [
      between('2026-03-02T08:00Z', '2026-03-02T09:00Z'),
      between('2026-03-02T10:00Z', '2026-03-02T10:30Z'),
    ];
    expect(free({}, { busy, step: 30 * MINUTE })).toEqual(['09:00', '10:30', '11:00']);
    expect(free({ buffer_before_minutes: 15 }, { busy, step: 30 * MINUTE })).toEqual(['11:00']);
    expect(free({ buffer_after_minutes: 15 }, { busy, step: 30 * MINUTE })).toEqual([
      '10:30',
      '11:00',
    ]);
  });
});

it('a time is within the hours if one interval contains it', () => {
  const fields = {
    hours: {
      monday: [
        { start: '09:00', end: '10:00' },
        { start: '10:00', end: '11:00' },
      ],
    },
  };
  const isWithin = (start: string, end: string) =>
    isWithinHours(resource(fields), between(`2026-03-02T${start}Z`, `2026-03-02T${end}Z`));
  expect(isWithin('09:00', '11:00')).toBe(true);
  expect(isWithin('08:59', '10:00')).toBe(false);
  expect(isWithin('10:30', '11:01')).toBe(false);
});

it('a day of a zone has 23, 24 or 25 hours', () => {
  const berlin = resource({ time_zone: 'Europe/Berlin' });
  const hoursOf = (time: string) => {
    const { start, end } = dayOf(berlin, at(time));
    return (end - start) / HOUR;
  };
  expect(hoursOf('2026-03-29T12:00Z')).toBe(23);
  expect(hoursOf('2026-03-30T12:00Z')).toBe(24);
  expect(hoursOf('2026-10-24T22:30Z')).toBe(25);
});
