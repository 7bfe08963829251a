import { Injectable } from '@nestjs/common';
import type { Call } from '../../../platform/data/call.js';
import { giveWay } from '../../../platform/give-way.js';
import { validationError } from '../../../platform/errors/api-error.js';
import { notFound } from '../../../platform/errors/or-not-found.js';
import { freeTimes, type Interval, spanOf, withBuffers } from '../hours/free-time.js';
import type { ResourceDto } from '../resource.dto.js';
import { ResourcesRepository } from '../resources.repository.js';
import type { AvailabilityQuery, FreeSlotDto } from './availability.dto.js';
import { BusyTimesRepository } from './busy-times.repository.js';
import { localTime } from './local-times.js';

const MINUTE = 60_000;

/** Enough for 20 resources, 62 days and eight hours a day in steps of half an hour. */
const MAX_SLOTS = 20_000;

/** A resource, and the window in which its free times are asked for. */
interface WindowOfResource {
  readonly resource: ResourceDto;
  readonly window: Interval;
}

/** The times as text. The response would make the text of 20,000 dates at once, while others wait. */
type Slot = Readonly<Record<keyof FreeSlotDto, string>>;

type Lengths = Pick<AvailabilityQuery, 'duration_minutes' | 'step_minutes'>;

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
    const window = { start: from.getTime(), end: to.getTime() };
    const resources = await this.resourcesOf(call, ids);
    const windows = resources.map((resource) => ({ resource, window }));
    let left = MAX_SLOTS;
    const available: { resource_id: string; time_zone: string; slots: Slot[] }[] = [];
    for await (const { resource, times } of this.freeTimesOf(call, windows, query)) {
      const slots = await slotsOf(resource, times, left);
      left -= slots.length;
      available.push({ resource_id: resource.id, time_zone: resource.time_zone, slots });
    }
    return available;
  }

  /**
   * Resources in the order of their ids.
   * @throws ApiError `not_found`, `query_failed`
   */
  async resourcesOf(call: Call, ids: readonly string[]): Promise<ResourceDto[]> {
    const found = await this.resources.findMany(call, ids);
    return ids.map((id) => found.find((one) => one.id === id) ?? notFound('resource'));
  }

  /**
   * The free times of each resource in its window, which do not begin in the past. They are computed as they are read, and
   * other requests run between two resources.
   * @throws ApiError `query_failed`
   */
  async *freeTimesOf(
    call: Call,
    windows: readonly WindowOfResource[],
    { duration_minutes, step_minutes }: Lengths,
  ): AsyncGenerator<{ resource: ResourceDto; times: Iterable<Interval> }, void> {
    const now = Date.now();
    const coming = windows.map(({ resource, window: { start, end } }) => ({
      resource,
      window: { start: Math.max(start, now), end },
    }));
    const taken = coming.map(({ resource, window }) => withBuffers(resource, window));
    const ids = windows.map(({ resource }) => resource.id);
    const busy = await this.busyTimes.within(call, ids, spanOf(taken));
    const lengths = { duration: duration_minutes * MINUTE, step: step_minutes * MINUTE };
    for (const { resource, window } of coming) {
      await giveWay();
      const own = busy.get(resource.id) ?? [];
      yield { resource, times: resource.active ? freeTimes(resource, own, window, lengths) : [] };
    }
  }
}

/** @throws ApiError `validation_error` if there are more than `max` */
async function slotsOf(
  { time_zone }: ResourceDto,
  times: Iterable<Interval>,
  max: number,
): Promise<Slot[]> {
  const slots: Slot[] = [];
  for (const { start, end } of times) {
    await giveWay();
    if (slots.length === max) {
      const message = `gives more than ${MAX_SLOTS} free times: ask for a shorter window, fewer resources or longer steps`;
      throw validationError([{ field: 'to', message }]);
    }
    slots.push({
      start_time: new Date(start).toISOString(),
      end_time: new Date(end).toISOString(),
      local_start: localTime(time_zone, start),
    });
  }
  return slots;
}
