import { applyDecorators } from '@nestjs/common';
import { FurtherRule } from '../../../platform/fields/field.js';
import { DateTime, Integer, Text, Uuid, Uuids } from '../../../platform/fields/kinds/kinds.js';
import { problemRule } from '../../../platform/fields/kinds/rules.js';
import { NestedRecords } from '../../../platform/fields/nested.js';
import { MAX_RESOURCES } from './any-of.js';

/** The longest window of free times. */
export const MAX_WINDOW_DAYS = 62;
const DAY = 24 * 60 * 60 * 1_000;

const RESOURCE = '01a1fbdd-6f0a-7c3e-9b52-5d8e1f7a2c64';

/** The length of free times. */
export const DURATION = {
  ...{ min: 1, max: 1_440, required: true },
  description: 'Length of the free times.',
  example: 60,
} as const;

/** The steps in which free times begin. */
export const STEP = {
  ...{ min: 5, max: 1_440, default: 30 },
  description: 'Free times begin in these steps from each opening of the hours.',
  example: 30,
} as const;

function EndOfWindow(): PropertyDecorator {
  return applyDecorators(
    DateTime({
      required: true,
      after: 'from',
      description: `Free times end by this time, at most ${MAX_WINDOW_DAYS} days after from.`,
      example: '2026-03-07T00:00:00Z',
    }),
    FurtherRule(
      problemRule('isWithinDays', (to, { from }) => {
        if (!(from instanceof Date) || !(to instanceof Date)) return undefined;
        const isLong = to.getTime() - from.getTime() > MAX_WINDOW_DAYS * DAY;
        return isLong ? `must be at most ${MAX_WINDOW_DAYS} days after from` : undefined;
      }),
    ),
  );
}

/** The parameters of free times (docs/contract/booking.md#availability). */
export class AvailabilityQuery {
  @Uuids({
    max: MAX_RESOURCES,
    required: true,
    description: 'The resources, separated by commas.',
    example: [RESOURCE],
  })
  resource_id: readonly string[];
  @DateTime({
    required: true,
    description: 'Free times begin at this time or later.',
    example: '2026-03-02T00:00:00Z',
  })
  from: Date;
  @EndOfWindow() to: Date;
  @Integer(DURATION) duration_minutes: number;
  @Integer(STEP) step_minutes: number;
}

/** A free time of a resource. */
export class FreeSlotDto {
  @DateTime({
    required: true,
    description: 'When it begins.',
    example: '2026-03-02T08:00:00.000Z',
  })
  start_time: Date;
  @DateTime({ required: true, description: 'When it ends.', example: '2026-03-02T09:00:00.000Z' })
  end_time: Date;
  @Text({
    max: 40,
    required: true,
    description: 'When it begins, with the offset of the zone.',
    example: '2026-03-02T09:00:00.000+01:00',
  })
  local_start: string;
}

/** The free times of a resource. */
export class AvailabilityDto {
  @Uuid({ required: true, description: 'The resource.', example: RESOURCE }) resource_id: string;
  @Text({ max: 64, required: true, description: 'Its time zone.', example: 'Europe/Berlin' })
  time_zone: string;
  @NestedRecords(FreeSlotDto, { description: 'Its free times, in their order.' })
  slots: readonly object[];
}

/** What the free times are of. */
export class AvailabilityMetaDto {
  @DateTime({
    required: true,
    description: 'The beginning of the window.',
    example: '2026-03-02T00:00:00.000Z',
  })
  from: Date;
  @DateTime({
    required: true,
    description: 'The end of the window.',
    example: '2026-03-07T00:00:00.000Z',
  })
  to: Date;
}
