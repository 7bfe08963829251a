import { RecordOf } from '../../../platform/fields/field.js';
import { Flag, Text, Uuid } from '../../../platform/fields/kinds/kinds.js';
import { CreatedAt } from '../../../platform/fields/kinds/record-fields.js';

/** What a new calendar shows (docs/contract/booking.md#calendar-feed). */
export class CreateCalendarDto {
  @Flag({
    default: false,
    description:
      'Whether appointments show their location and the name of the lead, for which the key needs `leads:read`.',
    example: false,
  })
  details?: boolean;
}

/** A calendar of a resource in responses and lists, without its address. */
export class CalendarDto extends RecordOf(CreateCalendarDto) {
  @Uuid({
    required: true,
    description: 'The resource whose appointments it has.',
    example: '01a1fbdd-7c3e-7b18-9a4f-2d1c7e6b5a43',
  })
  resource_id: string;
  @CreatedAt() created_at: Date;
}

/** A calendar with its address, which is shown once. */
export class CalendarWithAddressDto extends CalendarDto {
  @Text({
    max: 2_000,
    isSecret: true,
    description:
      'The secret address for calendar applications. It is never shown again, also not in a replay.',
    example: 'https://crm.example/calendars/Yh1rVn0oUQ2mCq8sXlT5eJ7wK3zB9dGa.ics',
  })
  url?: string;
}
