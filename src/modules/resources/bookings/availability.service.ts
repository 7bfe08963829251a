import { Injectable } from '@nestjs/common';
import type { Call } from '../../../platform/data/call.js';
import { giveWay } from '../../../platform/give-way.js';
import { validationError } from '../../../platform/errors/api-error.js';
import { notFound } from '../../../platform/errors/or-not-found.js';
import { freeTimes, type Interval, withBuffers } from '../hours/free-time.js';
import { localTimesOf } from '../hours/local-time.js';
import type { ResourceDto } from '../resource.dto.js';
import { ResourcesRepository } from '../resources.repository.js';
import type { AvailabilityQuery } from './availability.dto.js';
import { type BusyInterval, BusyTimesRepository } from './busy-times.repository.js';

const MINUTE = 60_000;

/** Enough for 20 resources, 62 days and eight hours a day in steps of half an hour. */
const MAX_SLOTS = 20_000;

/** Free times of resources (docs/contract/booking.md#availability). */
@Injectable()
export class AvailabilityService {
  constructor(
    private readonly resources: ResourcesRepository,
    private readonly busyTimes: BusyTimesRepository,
  ) {}

  /** @throws ApiError `not_found` for a resource, `validation_error` for too many times, `query_failed` */
  async find(call: Call, query: AvailabilityQuery) {
    const { resource_id: ids, from, to } = query;
    const found = await this.resources.findMany(call, ids);
    const resources = ids.map((id) => found.find((one) => one.id === id) ?? notFound('resource'));
    const window = { start: Math.max(from.getTime(), Date.now()), end: to.getTime() };
    const windows = resources.map((resource) => withBuffers(resource, window));
    const start = Math.min(...windows.map((one) => one.start));
    const end = Math.max(...windows.map((one) => one.end));
    const busy = await this.busyTimes.within(call, ids, { start, end });
    let left = MAX_SLOTS;
    const available: { resource_id: string; time_zone: string; slots: object[] }[] = [];
    for (const resource of resources) {
      const slots = await slotsOf(resource, busy, window, query, left);
      left -= slots.length;
      available.push({ resource_id: resource.id, time_zone: resource.time_zone, slots });
    }
    return available;
  }
}

/** @throws ApiError `validation_error` if there are more than `max` */
async function slotsOf(
  resource: ResourceDto,
  busy: readonly BusyInterval[],
  window: Interval,
  { duration_minutes, step_minutes }: AvailabilityQuery,
  max: number,
): Promise<object[]> {
  if (!resource.active) return [];
  await giveWay();
  const own = busy.filter(({ resource_id }) => resource_id === resource.id);
  const lengths = { duration: duration_minutes * MINUTE, step: step_minutes * MINUTE };
  const times = localTimesOf(resource.time_zone);
  const slots: object[] = [];
  for (const { start, end } of freeTimes(resource, own, window, lengths)) {
    await giveWay();
    if (slots.length === max) {
      const message = `gives more than ${MAX_SLOTS} free times: ask for a shorter window, fewer resources or longer steps`;
      throw validationError([{ field: 'to', message }]);
    }
    slots.push({
      start_time: new Date(start),
      end_time: new Date(end),
      local_start: withOffset(times.at(start), start),
    });
  }
  return slots;
}

/** A local time in ISO 8601, with its offset. */
function withOffset(local: number, utc: number): string {
  const minutes = Math.round((local - utc) / MINUTE);
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const digits = [hours, rest].map((part) => String(part).padStart(2, '0')).join(':');
  return `${new Date(local).toISOString().slice(0, -1)}${minutes < 0 ? '-' : '+'}${digits}`;
}
