import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Post,
  Put,
  Query,
  UseFilters,
} from '@nestjs/common';
import { RequireScope } from '../../platform/http/routes/access.js';
import { ApiRoute, ApiTag } from '../../platform/http/routes/api-route.decorator.js';
import { Id } from '../../platform/http/request/id.decorator.js';
import { CurrentCall } from '../../platform/http/request/api-request.js';
import { CheckBody, SingleInsert } from '../../platform/http/routes/handler-declarations.js';
import { EventDto, EventListQuery } from '../events/event.dto.js';
import { EventsService } from '../events/events.service.js';
import type { Call } from '../../platform/data/call.js';
import {
  AppointmentDto,
  AppointmentListQuery,
  CancelledAppointmentDto,
  CreateAppointmentDto,
  UpdateAppointmentDto,
} from './appointment.dto.js';
import { AppointmentsService } from './appointments.service.js';
import { ErrorFilter } from '../../platform/http/error.filter.js';

import {
  BatchMetaDto,
  BatchResultDto,
  RecordBatchDto,
} from '../../platform/data/batches/batch.dto.js';
import { batchResponse } from '../../platform/http/response/batch-response.js';
import { BatchLimit } from '../../platform/http/guards/batch-limit.js';
import { AppointmentBatchService } from './appointment-batch.service.js';

/** Appointments over REST (docs/contract/endpoints.md#appointments). */
@Controller('api/v1/appointments')
@UseFilters(ErrorFilter)
@ApiTag('Appointments', 'Scheduled visits, each with a lead.')
export class AppointmentsController {
  constructor(
    private readonly appointments: AppointmentsService,
    private readonly batches: AppointmentBatchService,
    private readonly events: EventsService,
  ) {}

  @Get()
  @RequireScope('appointments:read')
  @ApiRoute({ summary: 'List appointments', response: [AppointmentDto], record: AppointmentDto })
  list(@CurrentCall() call: Call, @Query() query: AppointmentListQuery) {
    if (query.after !== undefined) return this.appointments.listAfter(call, query);
    return this.appointments.list(call, query);
  }

  @Get(':id')
  @RequireScope('appointments:read')
  @ApiRoute({ summary: 'Get an appointment', response: AppointmentDto })
  get(@CurrentCall() call: Call, @Id() id: string) {
    return this.appointments.getStored(call, id);
  }

  @Post()
  @SingleInsert()
  @RequireScope('appointments:write')
  @ApiRoute({
    summary: 'Create an appointment',
    response: AppointmentDto,
    errors: ['lead_not_found'],
  })
  create(@CurrentCall() call: Call, @Body() appointment: CreateAppointmentDto) {
    return this.appointments.createStored(call, appointment);
  }

  @Post('batch')
  @HttpCode(200)
  @RequireScope('appointments:write')
  @CheckBody(BatchLimit)
  @ApiRoute({
    summary: 'Change several appointments',
    description: 'Every ten items begun count as one write. 207 means that an item failed.',
    response: [BatchResultDto],
    meta: BatchMetaDto,
    statuses: [207],
    errors: ['not_found', 'lead_not_found', 'duplicate', 'precondition_failed'],
  })
  async batch(@CurrentCall() call: Call, @Body() batch: RecordBatchDto) {
    return batchResponse(await this.batches.run(call, batch));
  }

  @Put(':id')
  @RequireScope('appointments:write')
  @ApiRoute({
    summary: 'Update an appointment',
    response: AppointmentDto,
    description: 'A `status`, even the stored one, always moves `updated_at`.',
  })
  update(@CurrentCall() call: Call, @Id() id: string, @Body() changes: UpdateAppointmentDto) {
    return this.appointments.updateStored(call, id, changes);
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

  @Get(':id/events')
  @RequireScope('events:read')
  @ApiRoute({
    summary: 'List the events of an appointment',
    description: 'Who changed it and how, oldest first, also after its deletion.',
    response: [EventDto],
    paging: 'cursor',
    errors: ['cursor_expired'],
  })
  listEvents(@CurrentCall() call: Call, @Id() id: string, @Query() query: EventListQuery) {
    return this.events.ofRecord(call, { kind: 'appointment', id }, query, () =>
      this.appointments.get(call, id),
    );
  }
}
