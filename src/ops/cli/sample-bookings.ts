import type { Faker } from '@faker-js/faker';
import type { CreateAppointmentDto } from '../../modules/appointments/appointment.dto.js';
import { CreateCustomFieldDto } from '../../modules/custom-fields/custom-field.dto.js';
import type { WeeklyHours } from '../../modules/resources/hours/hours.js';
import { CreateResourceDto } from '../../modules/resources/resource.dto.js';
import { readInput } from '../../platform/fields/input/read-input.js';
import { FUTURE_APPOINTMENTS, PROJECTS, VISITS } from './sample.js';

const DAY_MS = 86_400_000;

/** The days ahead in which resources are booked. */
const DAYS = 7;

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'] as const;
const ALL_DAYS = [...WEEKDAYS, 'saturday', 'sunday'] as const;

/** When a resource is free. */
type FreeSlot = Pick<CreateAppointmentDto, 'start_time' | 'end_time'>;

/** The people and rooms of the company, in the zones of its branches. */
export const SAMPLE_RESOURCES = [
  {
    name: 'Crew East',
    time_zone: 'America/New_York',
    hours: onDays(WEEKDAYS, ['08:00', '12:00'], ['13:00', '17:00']),
    buffer_before_minutes: 30,
    remind_before_minutes: [1440, 60],
  },
  {
    name: 'Crew West',
    time_zone: 'America/Los_Angeles',
    hours: onDays([...WEEKDAYS, 'saturday'], ['07:30', '16:00']),
    buffer_before_minutes: 30,
  },
  {
    name: 'Showroom',
    time_zone: 'America/Chicago',
    hours: onDays(ALL_DAYS, ['09:00', '19:00']),
  },
].map((fields) => readInput(CreateResourceDto, fields).value);

/** The definitions of the custom fields that leads have. */
export const SAMPLE_FIELDS = [
  {
    key: 'project',
    type: 'select',
    label: 'Project',
    options: PROJECTS.map((value) => ({ value })),
  },
  { key: 'budget', type: 'number', label: 'Budget in dollars', filterable: true },
].map((fields) => readInput(CreateCustomFieldDto, fields).value);

function onDays(
  days: readonly (typeof ALL_DAYS)[number][],
  ...intervals: readonly [string, string][]
): WeeklyHours {
  const hours = intervals.map(([start, end]) => ({ start, end }));
  return Object.fromEntries(days.map((day) => [day, hours]));
}

/** What is asked of the availability of a resource. */
export function bookingWindow(now: Date) {
  const to = new Date(now.getTime() + DAYS * DAY_MS);
  return { from: now, to, duration_minutes: 60, step_minutes: 60 };
}

/** Appointments of leads with a resource, at times that are spread over those that are free. */
export function sampleBookings(
  faker: Faker,
  resource_id: string,
  slots: readonly FreeSlot[],
  leads: readonly string[],
): CreateAppointmentDto[] {
  return leads.flatMap((lead_id, n) => {
    const slot = slots[Math.floor((n * slots.length) / leads.length)];
    if (!slot) return [];
    const { start_time, end_time } = slot;
    const type = faker.helpers.arrayElement(VISITS);
    const status = faker.helpers.arrayElement(FUTURE_APPOINTMENTS);
    return [{ lead_id, resource_id, start_time, end_time, type, status }];
  });
}
