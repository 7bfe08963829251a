import { Text } from '../../../platform/fields/kinds/kinds.js';
import { localTimesOf } from '../hours/local-time.js';
import type { ResourceDto } from '../resource.dto.js';

const MINUTE = 60_000;

/** A moment in ISO 8601, with the offset of a time zone. */
export function localTime(zone: string, utc: number): string {
  const local = localTimesOf(zone).at(utc);
  const minutes = Math.round((local - utc) / MINUTE);
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const digits = [hours, rest].map((part) => String(part).padStart(2, '0')).join(':');
  return `${new Date(local).toISOString().slice(0, -1)}${minutes < 0 ? '-' : '+'}${digits}`;
}

/** A time in ISO 8601 without seconds that are zero. */
export function compactTime(time: string): string {
  return time.replace(/(:00)?\.000(?=Z|[+-])/, '');
}

/** What takes time of a resource. */
export interface Booked {
  readonly resource_id?: string | null;
  readonly start_time: Date;
  readonly end_time: Date;
}

/** What tools add to a booking. It is missing without a resource, and if the key may not read resources. */
export interface LocalBooking {
  readonly resource_name?: string | null;
  readonly time_zone?: string | null;
  readonly local_start?: string | null;
  readonly local_end?: string | null;
}

export function ResourceName(): PropertyDecorator {
  return Text({ max: 200, description: 'Name of the resource.', example: 'Crew 1' });
}

export function ResourceTimeZone(): PropertyDecorator {
  return Text({ max: 64, description: 'Time zone of the resource.', example: 'Europe/Berlin' });
}

/** A time of a booking with the offset of the zone of its resource. */
export function LocalTime(description: string): PropertyDecorator {
  return Text({ max: 40, description, example: '2026-03-02T18:00+01:00' });
}

/** The resource of a booking, and its times there. */
export function localTimesOfBooking(
  { start_time, end_time }: Booked,
  { name, time_zone }: ResourceDto,
): LocalBooking {
  const local = (time: Date) => compactTime(localTime(time_zone, time.getTime()));
  return {
    ...{ resource_name: name, time_zone },
    ...{ local_start: local(start_time), local_end: local(end_time) },
  };
}
