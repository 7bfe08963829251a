import { Flag } from '../../platform/fields/kinds/kinds.js';
import { Names, outputField } from '../../platform/fields/kinds/output-kinds.js';
import { NestedRecords } from '../../platform/fields/nested.js';
import { AppointmentDto } from '../appointments/appointment.dto.js';
import { EventDto } from '../events/event.dto.js';
import type { RecordedEvent } from '../events/recorded-event.js';
import { PersonalLeadDto } from '../leads/lead-person.dto.js';
import { TaskDto } from '../tasks/task.dto.js';
import { DeliveryDto } from '../webhooks/delivery.dto.js';

/** Everything that is stored about a person (docs/contract/personal-data.md). */
export class PersonalDataDto {
  @NestedRecords(PersonalLeadDto, {
    description: 'The lead, and those that were merged with it. Deleted ones are included.',
  })
  leads: readonly PersonalLeadDto[];
  @NestedRecords(AppointmentDto, { description: 'Appointments of these leads.' })
  appointments: readonly object[];
  @NestedRecords(TaskDto, { description: 'Tasks about these leads. Deleted ones are included.' })
  tasks: readonly object[];
  @NestedRecords(EventDto, { description: 'Events of these records, oldest first.' })
  events: readonly RecordedEvent[];
  @NestedRecords(DeliveryDto, { description: 'Deliveries of these events to webhooks.' })
  deliveries: readonly object[];
  @outputField(
    {
      type: 'object',
      additionalProperties: {
        type: 'array',
        items: { type: 'object', additionalProperties: true },
      },
    },
    {
      description: 'Records of extensions that refer to the person, by table.',
      example: { messages: [{ id: '01a1fbde-995e-72a3-a032-ab1c988b9794', text: 'Hello' }] },
    },
  )
  other_records: Readonly<Record<string, readonly object[]>>;
}

/** The response to an erasure. */
export class ErasedLeadDto {
  @Flag({ required: true, description: 'Always true.', example: true }) erased: boolean;
  @Names({
    description: 'Ids of the erased leads: this one, and those that were merged with it.',
    example: ['01a1fbde-995e-72a3-a032-ab1c988b9794'],
  })
  lead_ids: readonly string[];
}
