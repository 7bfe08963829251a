import { PickOf, RecordOf, UpdateOf } from '../../platform/fields/field.js';
import { AnyOfResources } from '../resources/bookings/any-of.js';
import {
  type LocalBooking,
  LocalTime,
  ResourceName,
  ResourceTimeZone,
} from '../resources/bookings/local-times.js';
import { RemindBeforeMinutes } from '../events/remind-before-minutes.js';
import { DateTime, Flag, OneOf, Text, Uuid } from '../../platform/fields/kinds/kinds.js';
import { AppendedNotes, MAX_NOTES } from '../../platform/fields/note-changes.js';
import { CreatedAt, OrganizationId, UpdatedAt } from '../../platform/fields/kinds/record-fields.js';
import type { UntypedFilter } from '../../platform/data/filters/filter.js';
import { FilterBy } from '../../platform/data/filters/filter-parameter.js';
import { CountQueryOf } from '../../platform/data/lists/count.dto.js';
import type { Groupings } from '../../platform/data/lists/grouping.js';
import { Include, Includes } from '../../platform/data/lists/includes.js';
import { filterTargetOf, relate } from '../../platform/data/filters/filter-target.js';
import { INCLUDED_LEAD, LEADS } from '../leads/lead.dto.js';
import {
  After,
  Before,
  type FiltersOf,
  ItemFields,
  ListQuery,
  SortBy,
  TimeFilter,
  UpdatedAfter,
  UpdatedBefore,
} from '../../platform/data/lists/list-query.js';

const APPOINTMENT_STATUSES = [
  'scheduled',
  'confirmed',
  'completed',
  'cancelled',
  'no_show',
] as const;
export type AppointmentStatus = (typeof APPOINTMENT_STATUSES)[number];

const BOOKED_BY = ['api', 'ai'] as const;
export const APPOINTMENT_SORTS = ['start_time', 'created_at', 'updated_at'] as const;

const LEAD = '01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43';
const RESOURCE = '01a1fbdd-6f0a-7c3e-9b52-5d8e1f7a2c64';

/** The fields of an appointment that callers set. */
export class AppointmentFields {
  @Uuid({
    required: true,
    description:
      'The lead that it is with. It must exist in the organization and cannot be changed.',
    example: LEAD,
  })
  lead_id: string;
  @DateTime({
    required: true,
    unless: 'hold_id',
    description: 'When it begins. Times in the past are allowed, and overlaps without a resource.',
    example: '2026-03-02T17:00:00.000Z',
  })
  start_time: Date;
  @DateTime({
    required: true,
    unless: 'hold_id',
    after: 'start_time',
    description: 'When it ends.',
    example: '2026-03-02T18:00:00.000Z',
  })
  end_time: Date;
  @Uuid({
    description: 'The resource whose time it takes.',
    example: RESOURCE,
    isAlternative: true,
  })
  resource_id?: string | null;
  @Text({ max: 100, description: 'What it is for; free text.', example: 'Estimate' })
  type?: string | null;
  @Text({ max: 500, description: 'Where it is.', example: '12 Pier Street, Oakland' })
  location?: string | null;
  @Text({ max: MAX_NOTES, description: 'Free text.', example: 'Bring samples of slate.' })
  notes?: string | null;
  @OneOf(APPOINTMENT_STATUSES, {
    default: 'scheduled',
    description: 'Any status may follow any other.',
    example: 'scheduled',
  })
  status?: AppointmentStatus;
  @RemindBeforeMinutes({
    description:
      'Minutes before the start at which to remind. It then writes `appointment.starting`. Without it, those of the resource count.',
    example: [1440, 60],
  })
  remind_before_minutes?: readonly number[] | null;
  @Text({ max: 100, description: 'What came of it; free text.', example: 'Offer accepted' })
  outcome?: string | null;
  @Text({ max: 5000, description: 'More about what came of it.', example: 'Starts in April.' })
  outcome_notes?: string | null;
}

const WITHIN_HOURS = {
  description: 'Whether to refuse a time outside of the hours of the resource.',
  example: false,
};

/** Fields of a new appointment (docs/contract/resources.md#appointments). */
export class CreateAppointmentDto extends AppointmentFields {
  @AnyOfResources() any_of?: readonly string[];
  @Uuid({
    description: 'Hold that becomes the appointment, with its times and resource.',
    example: '01a1fbde-41d7-7b0a-8c6f-3e5a9d2b7f18',
    isAlternative: true,
  })
  hold_id?: string | null;
  @Flag(WITHIN_HOURS) within_hours?: boolean;
}

/** Changes of an appointment. Its lead cannot be changed. */
export class UpdateAppointmentDto extends UpdateOf(AppointmentFields, { fixed: ['lead_id'] }) {
  @AppendedNotes() append_notes?: string;
  // There is nothing that null could clear.
  @Flag({ ...WITHIN_HOURS, required: true }) within_hours?: boolean;
}

/** An appointment in responses and lists. */
export class AppointmentDto extends RecordOf(AppointmentFields) {
  @OrganizationId() organization_id: string;
  @OneOf(BOOKED_BY, {
    required: true,
    description: 'Who booked it: `api` through REST, `ai` through /mcp.',
    example: 'api',
  })
  booked_by: (typeof BOOKED_BY)[number];
  @CreatedAt() created_at: Date;
  @UpdatedAt() updated_at: Date;
}

/** The next appointment of a lead in lists of leads. */
export class NextAppointmentDto extends PickOf(AppointmentDto, [
  'id',
  'start_time',
  'end_time',
  'type',
  'status',
]) {}

/** What filters of appointments can name (docs/contract/filters.md). */
export const APPOINTMENTS = filterTargetOf('appointments', AppointmentDto, {
  searchable: ['type', 'location'],
  indexed: ['id', 'lead_id', 'status', 'type', 'start_time', 'created_at', 'updated_at'],
});
relate({ from: APPOINTMENTS, to: LEADS, column: 'lead_id', one: 'lead' });

/** An appointment in the results of tools. */
export class AgentAppointmentDto extends AppointmentDto implements LocalBooking {
  @Text({
    max: 201,
    description: 'Name of the lead, if the key may read leads.',
    example: 'Grace Hopper',
  })
  lead_name?: string | null;
  @Text({ max: 50, description: 'Phone number of the lead.', example: '+1 415 555 0132' })
  lead_phone?: string | null;
  @Text({ max: 254, description: 'E-mail address of the lead.', example: 'grace@example.com' })
  lead_email?: string | null;
  @ResourceName() resource_name?: string | null;
  @ResourceTimeZone() time_zone?: string | null;
  @LocalTime('When it begins, in the time zone of the resource.') local_start?: string | null;
  @LocalTime('When it ends, in the time zone of the resource.') local_end?: string | null;
}

class Cancellation {
  @Flag({ required: true, description: 'Always true.', example: true }) cancelled: boolean;
}

/** The response to the cancellation of an appointment. */
export class CancelledAppointmentDto extends RecordOf(Cancellation) {}

/** Filters and sorting of lists of appointments (docs/contract/lists.md#appointment-filters), as far as tools have them. */
export class FindAppointmentsQuery extends ListQuery {
  @OneOf(APPOINTMENT_STATUSES, {
    description: 'Only appointments with this status.',
    example: 'scheduled',
  })
  status?: AppointmentStatus;
  @Uuid({ description: 'Only appointments of this lead.', example: LEAD })
  lead_id?: string;
  @Uuid({ description: 'Only appointments of this resource.', example: RESOURCE })
  resource_id?: string;
  @TimeFilter('Only appointments that start at this time or later.', '2026-03-01T00:00:00Z')
  start_after?: Date;
  @TimeFilter('Only appointments that start before this time.', '2026-04-01T00:00:00Z')
  start_before?: Date;
  @FilterBy(APPOINTMENTS, { status: { ne: 'cancelled' }, lead: { temperature: 'hot' } })
  filter?: UntypedFilter;
  @SortBy(APPOINTMENT_SORTS, 'start_time') sort_by: (typeof APPOINTMENT_SORTS)[number];
}

/** What lists of appointments, and an appointment, can add. */
export const APPOINTMENT_INCLUDES = new Includes(INCLUDED_LEAD);

/** The parameters of lists of appointments. */
export class AppointmentListQuery extends FindAppointmentsQuery {
  @Text({ max: 100, description: 'Only appointments with exactly this type.', example: 'Estimate' })
  type?: string;
  @TimeFilter('Only appointments that end before this time.', '2026-04-01T00:00:00Z')
  end_before?: Date;
  @UpdatedAfter('appointments') updated_after?: Date;
  @UpdatedBefore('appointments') updated_before?: Date;
  @After() after?: string;

  @Before() before?: string;
  @ItemFields(AppointmentDto) fields?: readonly string[];
  @Include(APPOINTMENT_INCLUDES) include?: readonly string[];
}

/** The parameters of a request for an appointment. */
export class AppointmentQuery {
  @Include(APPOINTMENT_INCLUDES) include?: readonly string[];
}

/** What a list of appointments selects, without its order and paging. */
export type AppointmentFilters = FiltersOf<AppointmentListQuery>;

/** By what appointments are counted. */
export const APPOINTMENT_GROUPINGS = {
  status: { column: 'status' },
  type: { column: 'type' },
  resource_id: { column: 'resource_id' },
  start_day: { column: 'start_time', per: 'day' },
} as const satisfies Groupings;

/** The parameters of counts of appointments. */
export class AppointmentCountQuery extends CountQueryOf(
  AppointmentListQuery,
  APPOINTMENT_GROUPINGS,
) {}
