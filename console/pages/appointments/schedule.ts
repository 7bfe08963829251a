import type { Appointment, BookableResource, LatitudeClient, LeadListItem } from 'latitude/client';
import { addDays, startOf } from './days.js';

/** As many resources as one request for free times takes. */
const MAX_RESOURCES = 20;
const MAX_LIMIT = 100;
const MAX_PAGES = 5;
/** How far apart long free times begin. */
const MAX_STEP_MINUTES = 60;

export type Booked = Appointment & { lead?: LeadListItem | null };

/** A free time of a resource. */
export interface Slot {
  readonly resource_id: string;
  readonly start_time: string;
  readonly end_time: string;
}

/** What a schedule shows. */
export interface Choice {
  /** The dates, one after another. */
  readonly days: readonly string[];
  /** Only this resource. */
  readonly resource: string | undefined;
  /** Which page of the resources. */
  readonly page: number;
  /** How long free times are. */
  readonly minutes: number;
  readonly withCancelled: boolean;
  /** Whether the appointments have their leads. */
  readonly withLeads: boolean;
}

export interface Schedule {
  readonly resources: readonly BookableResource[];
  readonly pages: number;
  readonly appointments: readonly Booked[];
  /** Whether there are more appointments than were read. */
  readonly isCut: boolean;
  readonly slots: readonly Slot[];
}

export async function readSchedule(
  client: LatitudeClient,
  choice: Choice,
  signal: AbortSignal,
): Promise<Schedule> {
  const { resources, pages } = await readResources(client, choice, signal);
  const [booked, slots] = await Promise.all([
    readAppointments(client, choice, signal),
    readSlots(client, choice, resources, signal),
  ]);
  return { resources, pages, ...booked, slots };
}

async function readResources(
  client: LatitudeClient,
  { resource, page }: Choice,
  signal: AbortSignal,
) {
  if (resource !== undefined) {
    return { resources: [await client.resources.get(resource, { signal })], pages: 1 };
  }
  const query = { page, limit: MAX_RESOURCES, sort_dir: 'asc' } as const;
  const { data, meta } = await client.resources.list(query, { signal });
  return { resources: data, pages: meta.total_pages };
}

/** Those of the window, and those that began on the day before and last into it. */
async function readAppointments(client: LatitudeClient, choice: Choice, signal: AbortSignal) {
  const [from = '', to = ''] = windowOf(choice);
  const { resource, withCancelled, withLeads } = choice;
  const appointments: Booked[] = [];
  for (let page = 1; ; page++) {
    const query = {
      page,
      limit: MAX_LIMIT,
      start_after: startOf(addDays(choice.days[0] ?? '', -1)).toISOString(),
      start_before: to,
      resource_id: resource,
      filter: {
        end_time: { gt: from },
        status: withCancelled ? undefined : { ne: 'cancelled' as const },
      },
      sort_dir: 'asc',
      include: withLeads ? 'lead' : undefined,
    } as const;
    const { data, meta } = await client.appointments.list(query, { signal });
    appointments.push(...data);
    if (page >= meta.total_pages) return { appointments, isCut: false };
    if (page === MAX_PAGES) return { appointments, isCut: true };
  }
}

async function readSlots(
  client: LatitudeClient,
  choice: Choice,
  resources: readonly BookableResource[],
  signal: AbortSignal,
): Promise<Slot[]> {
  const active = resources.filter((resource) => resource.active).map(({ id }) => id);
  const [from = '', to = ''] = windowOf(choice);
  if (active.length === 0 || Date.parse(to) <= Date.now()) return [];
  const query = {
    resource_id: active.join(','),
    from,
    to,
    duration_minutes: choice.minutes,
    step_minutes: Math.min(choice.minutes, MAX_STEP_MINUTES),
  };
  const { data } = await client.availability(query, { signal });
  return data.flatMap(({ resource_id, slots }) =>
    slots.map(({ start_time, end_time }) => ({ resource_id, start_time, end_time })),
  );
}

/** When the first day begins and the last one ends. */
export const windowOf = ({ days }: Choice) =>
  [startOf(days[0] ?? ''), startOf(addDays(days.at(-1) ?? '', 1))].map((time) =>
    time.toISOString(),
  );

/** What a day of a resource has. An appointment is on each day that it touches. */
export interface Day {
  readonly booked: readonly Booked[];
  readonly free: readonly Slot[];
}

export function dayAt(schedule: Schedule, resource: string | null, date: string): Day {
  const from = startOf(date).toISOString();
  const to = startOf(addDays(date, 1)).toISOString();
  return {
    booked: schedule.appointments.filter(
      ({ resource_id, start_time, end_time }) =>
        resource_id === resource && start_time < to && end_time > from,
    ),
    free: schedule.slots.filter(
      ({ resource_id, start_time }) =>
        resource_id === resource && start_time >= from && start_time < to,
    ),
  };
}
