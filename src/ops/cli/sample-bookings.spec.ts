import { faker } from '@faker-js/faker/locale/en_US';
import { freeTimes } from '../../modules/resources/hours/free-time.js';
import { bookingWindow, SAMPLE_RESOURCES, sampleBookings } from './sample-bookings.js';

const HOUR = 3_600_000;
const LEADS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

/** The free times of a resource in the week after a day. */
function slotsFrom(now: Date, { time_zone = 'UTC', hours = null }: (typeof SAMPLE_RESOURCES)[0]) {
  const { from, to } = bookingWindow(now);
  const buffers = { buffer_before_minutes: 0, buffer_after_minutes: 0 };
  const window = { start: from.getTime(), end: to.getTime() };
  const lengths = { duration: HOUR, step: HOUR };
  const resource = { time_zone, hours, exceptions: [], ...buffers };
  return [...freeTimes(resource, [], window, lengths)].map(({ start, end }) => ({
    start_time: new Date(start),
    end_time: new Date(end),
  }));
}

it.each(SAMPLE_RESOURCES.map((resource) => [resource.name, resource] as const))(
  'the bookings of %s are one for each lead, in the next seven days, with room for buffers',
  (_, resource) => {
    for (const day of ['2026-11-21', '2026-11-23', '2026-12-31']) {
      const now = new Date(`${day}T10:00:00Z`);
      const bookings = sampleBookings(faker, 'id', slotsFrom(now, resource), LEADS);
      expect(bookings.map(({ lead_id }) => lead_id)).toEqual(LEADS);
      const starts = bookings.map(({ start_time }) => start_time.getTime());
      expect(starts[0]!).toBeGreaterThanOrEqual(now.getTime());
      expect(starts.at(-1)! - now.getTime()).toBeLessThan(7 * 24 * HOUR);
      for (const [n, start] of starts.entries()) {
        expect(start - (starts[n - 1] ?? 0)).toBeGreaterThanOrEqual(2 * HOUR);
      }
    }
  },
);
