import { RecordOf, UpdateOf } from '../../platform/fields/field.js';
import { Flag, Integer, Text, Uuid } from '../../platform/fields/kinds/kinds.js';
import { CreatedAt, OrganizationId, UpdatedAt } from '../../platform/fields/kinds/record-fields.js';
import { TimeZone } from '../../platform/fields/kinds/time-zone.js';
import {
  After,
  Before,
  ItemFields,
  ListQuery,
  SortBy,
  UpdatedAfter,
  UpdatedBefore,
} from '../../platform/data/lists/list-query.js';
import type { HoursException, WeeklyHours } from './hours/hours.js';
import { Exceptions, Hours } from './hours/hours-fields.js';
import { RemindBeforeMinutes } from '../events/remind-before-minutes.js';

export const RESOURCE_SORTS = ['created_at', 'updated_at'] as const;

const USER = '01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18';

export const MAX_BUFFER_MINUTES = 24 * 60;

function BufferMinutes(description: string, example: number) {
  return Integer({ min: 0, max: MAX_BUFFER_MINUTES, default: 0, description, example });
}

/** Fields of a new resource (docs/contract/booking.md#resources). */
export class CreateResourceDto {
  @Text({ max: 200, required: true, description: 'What it is called.', example: 'Crew 1' })
  name: string;
  @Uuid({
    description: 'The team member whose time it is: an id of your own users.',
    example: USER,
  })
  user_id?: string | null;
  @TimeZone({
    default: 'UTC',
    description: 'The zone of its hours: a name of the IANA database.',
    example: 'Europe/Berlin',
  })
  time_zone?: string;
  @Hours({
    description:
      'When it can be booked, in local time, by weekday. An end before its start is on the next day. Without hours it is never free.',
    example: { monday: [{ start: '09:00', end: '12:00' }] },
  })
  hours?: WeeklyHours | null;
  @Exceptions({
    description: 'Dates with other hours. Without intervals, it is closed on that date.',
    example: [{ date: '2026-12-24', hours: [] }],
  })
  exceptions?: readonly HoursException[];
  @BufferMinutes('Minutes that it needs before each appointment.', 15)
  buffer_before_minutes?: number;
  @BufferMinutes('Minutes that it needs after each appointment.', 15)
  buffer_after_minutes?: number;
  @RemindBeforeMinutes({
    description:
      'How many minutes before their start its appointments write `appointment.starting`, unless they say it themselves.',
    example: [1440, 60],
  })
  remind_before_minutes?: readonly number[] | null;
  @Flag({ default: true, description: 'Whether it can be booked.', example: true })
  active?: boolean;
}

/** Changes of a resource. Fields that are left out keep their values. */
export class UpdateResourceDto extends UpdateOf(CreateResourceDto) {}

/** A resource in responses and lists. */
export class ResourceDto extends RecordOf(CreateResourceDto) {
  @OrganizationId() organization_id: string;
  @CreatedAt() created_at: Date;
  @UpdatedAt() updated_at: Date;
}

/** Filters and sorting of lists of resources (docs/contract/lists.md#resource-filters). */
export class ResourceListQuery extends ListQuery {
  @Uuid({ description: 'Only resources of this team member.', example: USER })
  user_id?: string;
  @Flag({ description: 'Only resources that can, or cannot, be booked.', example: true })
  active?: boolean;
  @UpdatedAfter('resources') updated_after?: Date;
  @UpdatedBefore('resources') updated_before?: Date;
  @SortBy(RESOURCE_SORTS, 'created_at') sort_by: (typeof RESOURCE_SORTS)[number];
  @After() after?: string;

  @Before() before?: string;
  @ItemFields(ResourceDto) fields?: readonly string[];
}
