import { Body, Delete, Get, Post, Put, Query } from '@nestjs/common';
import { RequireScope } from '../../platform/http/routes/access.js';
import { ApiController } from '../../platform/http/routes/api-controller.decorator.js';
import { ApiRoute } from '../../platform/http/routes/api-route.decorator.js';
import { Id } from '../../platform/http/request/id.decorator.js';
import { CurrentCall } from '../../platform/http/request/api-request.js';
import { SingleInsert } from '../../platform/http/routes/handler-declarations.js';
import { EventListQuery } from '../events/event.dto.js';
import { EventsService } from '../events/events.service.js';
import { RecordEventsRoute } from '../events/record-events-route.decorator.js';
import { BatchRoute, batchResponse } from '../../platform/http/batch-route.js';
import { CountRoute, countsResponse } from '../../platform/http/count-route.js';
import type { Call } from '../../platform/data/call.js';
import {
  AppointmentDto,
  APPOINTMENT_INCLUDES,
  AppointmentCountQuery,
  AppointmentListQuery,
  AppointmentQuery,
  CancelledAppointmentDto,
  CreateAppointmentDto,
  UpdateAppointmentDto,
} from './appointment.dto.js';
import { AppointmentsService } from './appointments.service.js';
import { RecordBatchDto } from '../../platform/data/batches/batch.dto.js';
import { itemDtosOf } from '../../platform/data/batches/batch-item.js';
import { BatchRunner } from '../../platform/data/batches/batch-runner.js';
import { isByCursor } from '../../platform/data/lists/list-query.js';

/** What can be in the way of the time of a resource. */
const BOOKING_ERRORS = ['not_found', 'outside_hours', 'resource_inactive', 'slot_taken'] as const;

const BATCH_ITEMS = itemDtosOf(CreateAppointmentDto, UpdateAppointmentDto);

/** Appointments over REST (docs/contract/endpoints.md#appointments). */
@ApiController('appointments', 'Appointments', 'Scheduled visits, each with a lead.')
export class AppointmentsController {
  constructor(
    private readonly appointments: AppointmentsService,
    private readonly batches: BatchRunner,
    private readonly events: EventsService,
  ) {}

  @Get()
  @RequireScope('appointments:read')
  @ApiRoute({
    summary: 'List appointments',
    response: [AppointmentDto],
    record: AppointmentDto,
    includes: APPOINTMENT_INCLUDES,
    errors: ['filter_too_broad'],
  })
  list(@CurrentCall() call: Call, @Query() query: AppointmentListQuery) {
    if (isByCursor(query)) return this.appointments.listAfter(call, query);
    return this.appointments.list(call, query);
  }

  @CountRoute('appointments', 'appointments:read')
  async count(@CurrentCall() call: Call, @Query() query: AppointmentCountQuery) {
    return countsResponse(await this.appointments.count(call, query));
  }

  @Get(':id')
  @RequireScope('appointments:read')
  @ApiRoute({
    summary: 'Get an appointment',
    response: AppointmentDto,
    includes: APPOINTMENT_INCLUDES,
  })
  get(@CurrentCall() call: Call, @Id() id: string, @Query() { include }: AppointmentQuery) {
    return this.appointments.get(call, id, include).stored;
  }

  @Post()
  @SingleInsert()
  @RequireScope('appointments:write')
  @ApiRoute({
    summary: 'Create an appointment',
    response: AppointmentDto,
    errors: ['lead_not_found', ...BOOKING_ERRORS],
  })
  create(@CurrentCall() call: Call, @Body() appointment: CreateAppointmentDto) {
    return this.appointments.create(call, appointment).stored;
  }

  @BatchRoute('appointments', 'appointments:write', ['lead_not_found', ...BOOKING_ERRORS])
  async batch(@CurrentCall() call: Call, @Body() batch: RecordBatchDto) {
    const outcome = await this.batches.run(call, batch, {
      items: BATCH_ITEMS,
      service: this.appointments,
      remove: (inner, id) => this.appointments.cancel(inner, id),
      removedStatus: 'cancelled',
    });
    return batchResponse(outcome);
  }

  @Put(':id')
  @RequireScope('appointments:write')
  @ApiRoute({
    summary: 'Update an appointment',
    response: AppointmentDto,
    description: 'A `status`, even the stored one, always moves `updated_at`.',
    errors: BOOKING_ERRORS,
  })
  update(@CurrentCall() call: Call, @Id() id: string, @Body() changes: UpdateAppointmentDto) {
    return this.appointments.update(call, id, changes).stored;
  }

  @Delete(':id')
  @RequireScope('appointments:write')
  @ApiRoute({
    summary: 'Cancel an appointment',
    response: CancelledAppointmentDto,
    description:
      'Its status becomes `cancelled` and it stays readable. Cancelling again is no error.',
  })
  cancel(@CurrentCall() call: Call, @Id() id: string) {
    return this.appointments.cancel(call, id);
  }

  @RecordEventsRoute('an appointment')
  listEvents(@CurrentCall() call: Call, @Id() id: string, @Query() query: EventListQuery) {
    return this.events.ofRecord(call, { kind: 'appointment', id }, query, () =>
      this.appointments.get(call, id),
    );
  }
}
