import { Injectable } from '@nestjs/common';
import type { Call } from '../../../platform/data/call.js';
import { validationError } from '../../../platform/errors/api-error.js';
import { EARLIEST, LATEST, OUT_OF_YEARS } from '../../../platform/fields/kinds/date-time.js';
import { mustBeAfter } from '../../../platform/fields/kinds/rules.js';
import type { Interval } from '../hours/free-time.js';
import type { ResourceDto } from '../resource.dto.js';
import { ResourcesRepository } from '../resources.repository.js';
import { MAX_WINDOW_DAYS } from './availability.dto.js';
import { AvailabilityService } from './availability.service.js';
import { type FoundSlotsDto, type FreeSlotsQuery, momentIn } from './free-slots.dto.js';
import { compactTime, localTime } from './local-times.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** The most slots of a result. A language model reads it, so it is short. */
const MAX_SLOTS = 40;

/** The most active resources that are searched if the query names none. */
const MAX_SEARCHED = 100;

const DEFAULT_DAYS = 7;

interface Slot extends Interval {
  readonly resource: ResourceDto;
}

/** The next free times of any of several resources, for agents (docs/contract/mcp.md#bookings). */
@Injectable()
export class FreeSlotsService {
  constructor(
    private readonly resources: ResourcesRepository,
    private readonly availability: AvailabilityService,
  ) {}

  /** @throws ApiError `not_found` for a resource, `validation_error`, `query_failed` */
  async find(call: Call, query: FreeSlotsQuery): Promise<FoundSlotsDto> {
    const searched = query.any_of
      ? await this.availability.resourcesOf(call, query.any_of)
      : await this.activeResources(call);
    const windows = windowsOf(searched, query);
    const found: Slot[] = [];
    for await (const { resource, times } of this.availability.freeTimesOf(call, windows, query)) {
      // One more than is shown, to know whether there are more.
      let left = MAX_SLOTS + 1;
      for (const time of times) {
        found.push({ ...time, resource });
        if (--left === 0) break;
      }
    }
    const earliest = found.toSorted((a, b) => a.start - b.start).slice(0, MAX_SLOTS);
    const resources = searched.flatMap((resource) => {
      const own = earliest.filter((slot) => slot.resource === resource);
      return own.length === 0 ? [] : [withSlots(resource, own)];
    });
    return { resources, has_more: found.length > earliest.length };
  }

  private async activeResources(call: Call): Promise<readonly ResourceDto[]> {
    const { data, meta } = await this.resources.list(call, {
      active: true,
      page: 1,
      limit: MAX_SEARCHED,
      sort_by: 'created_at',
      sort_dir: 'asc',
    });
    if (meta.total <= data.length) return data;
    const message = `is required, because there are more than ${MAX_SEARCHED} active resources`;
    throw validationError([{ field: 'any_of', message }]);
  }
}

/**
 * The window of each resource, which depends on its time zone.
 * @throws ApiError `validation_error`
 */
function windowsOf(resources: readonly ResourceDto[], { from, to }: FreeSlotsQuery) {
  const now = Date.now();
  const windows = resources.map((resource) => {
    const { time_zone: zone } = resource;
    const start = from === undefined ? now : storableMoment(zone, 'from', from);
    const end = to === undefined ? start + DEFAULT_DAYS * DAY : storableMoment(zone, 'to', to);
    return { resource, window: { start, end } };
  });
  const lengths = windows.map(({ window }) => window.end - window.start);
  const problem = lengths.some((length) => length <= 0)
    ? mustBeAfter('from')
    : lengths.some((length) => length > MAX_WINDOW_DAYS * DAY)
      ? `must be at most ${MAX_WINDOW_DAYS} days after from`
      : undefined;
  if (problem !== undefined) throw validationError([{ field: 'to', message: problem }]);
  return windows;
}

/** @throws ApiError `validation_error` if the time in UTC is outside of the years that Latitude accepts */
function storableMoment(zone: string, field: 'from' | 'to', time: string): number {
  const moment = momentIn(zone, time);
  if (moment < EARLIEST || moment > LATEST)
    throw validationError([{ field, message: OUT_OF_YEARS }]);
  return moment;
}

function withSlots({ id, name, time_zone }: ResourceDto, slots: readonly Slot[]) {
  return {
    resource_id: id,
    name,
    time_zone,
    slots: slots.map(({ start, end }) => ({
      start_time: compactTime(new Date(start).toISOString()),
      end_time: compactTime(new Date(end).toISOString()),
      local_start: compactTime(localTime(time_zone, start)),
    })),
  };
}
