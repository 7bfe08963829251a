import { DateTime, Integer, Uuid } from '../../../platform/fields/kinds/kinds.js';
import { CreatedAt, RecordId } from '../../../platform/fields/kinds/record-fields.js';
import { AnyOfResources } from './any-of.js';
import { type LocalBooking, LocalTime, ResourceName, ResourceTimeZone } from './local-times.js';

const MAX_SECONDS = 900;

const HOLD = '01a1fbde-41d7-7b0a-8c6f-3e5a9d2b7f18';
const RESOURCE = '01a1fbdd-6f0a-7c3e-9b52-5d8e1f7a2c64';

const START = {
  required: true,
  description: 'When it begins.',
  example: '2026-03-02T17:00:00.000Z',
} as const;

const END = {
  required: true,
  description: 'When it ends.',
  example: '2026-03-02T18:00:00.000Z',
} as const;

/** Fields of a new hold (docs/contract/booking.md#holds). */
export class CreateHoldDto {
  @Uuid({
    required: true,
    unless: 'any_of',
    description: 'The resource whose time it takes.',
    example: RESOURCE,
  })
  resource_id?: string;
  @AnyOfResources() any_of?: readonly string[];
  @DateTime(START) start_time: Date;
  @DateTime({ ...END, after: 'start_time' }) end_time: Date;
  @Integer({
    min: 1,
    max: MAX_SECONDS,
    required: true,
    description: 'How long it lasts.',
    example: 300,
  })
  seconds: number;
}

/** A hold in responses. */
export class HoldDto {
  @RecordId('hold', HOLD) id: string;
  @Uuid({ required: true, description: 'The resource whose time it takes.', example: RESOURCE })
  resource_id: string;
  @DateTime(START) start_time: Date;
  @DateTime(END) end_time: Date;
  @DateTime({
    required: true,
    description: 'When it ends by itself.',
    example: '2026-03-02T16:05:00.000Z',
  })
  expires_at: Date;
  @CreatedAt() created_at: Date;
}

/** A hold in the results of tools. */
export class AgentHoldDto extends HoldDto implements LocalBooking {
  @ResourceName() resource_name?: string | null;
  @ResourceTimeZone() time_zone?: string | null;
  @LocalTime('When it begins, in the time zone of the resource.') local_start?: string | null;
  @LocalTime('When it ends, in the time zone of the resource.') local_end?: string | null;
}
