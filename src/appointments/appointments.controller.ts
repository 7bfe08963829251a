import { Body, Controller, Delete, Get, Post, Put, Query } from '@nestjs/common';
import { RequireScope } from '../auth/access.js';
import { Id } from '../http/id.decorator.js';
import { type Actor, Caller } from '../tenancy/actor.js';
import {
  AppointmentListQuery,
  CreateAppointmentDto,
  UpdateAppointmentDto,
} from './appointment.dto.js';
import { AppointmentsService } from './appointments.service.js';

/** Appointments over REST (api.md 4.2). */
@Controller('api/v1/appointments')
export class AppointmentsController {
  constructor(private readonly appointments: AppointmentsService) {}

  @Get()
  @RequireScope('appointments:read')
  list(@Caller() actor: Actor, @Query() query: AppointmentListQuery) {
    return this.appointments.list(actor, query);
  }

  @Get(':id')
  @RequireScope('appointments:read')
  get(@Caller() actor: Actor, @Id() id: string) {
    return this.appointments.get(actor, id);
  }

  @Post()
  @RequireScope('appointments:write')
  create(@Caller() actor: Actor, @Body() appointment: CreateAppointmentDto) {
    return this.appointments.create(actor, appointment);
  }

  @Put(':id')
  @RequireScope('appointments:write')
  update(@Caller() actor: Actor, @Id() id: string, @Body() changes: UpdateAppointmentDto) {
    return this.appointments.update(actor, id, changes);
  }

  @Delete(':id')
  @RequireScope('appointments:write')
  cancel(@Caller() actor: Actor, @Id() id: string) {
    return this.appointments.cancel(actor, id);
  }
}
