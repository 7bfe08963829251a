import { Injectable } from '@nestjs/common';
import { Resource } from '../mcp/resources/resource.decorator.js';
import { Tool } from '../mcp/tools/tool.decorator.js';
import type { Call } from '../../platform/data/call.js';
import {
  AgentAppointmentDto,
  FindAppointmentsQuery,
  CancelledAppointmentDto,
  CreateAppointmentDto,
  UpdateAppointmentDto,
} from './appointment.dto.js';
import { AppointmentsService } from './appointments.service.js';

const APPOINTMENT = 'Id of the appointment, from list_appointments.';

/** Appointments for agents (docs/contract/mcp.md#tools). */
@Injectable()
export class AppointmentsTools {
  constructor(private readonly appointments: AppointmentsService) {}

  @Tool('list_appointments', {
    title: 'List appointments',
    description:
      'Find appointments by lead, status or time. Answers summaries with the exact total; get_appointment has every field.',
    effect: 'reads',
    scope: 'appointments:read',
    input: FindAppointmentsQuery,
    summary: ['id', 'lead_id', 'lead_name', 'start_time', 'end_time', 'status'],
    brief: { result: ['id'] },
    output: [AgentAppointmentDto],
  })
  list(call: Call, query: FindAppointmentsQuery) {
    return this.appointments.list(call, query);
  }

  @Tool('get_appointment', {
    title: 'Get an appointment',
    description: 'Get one appointment; update_appointment changes it.',
    effect: 'reads',
    scope: 'appointments:read',
    id: APPOINTMENT,
    output: AgentAppointmentDto,
  })
  @Resource({
    name: 'appointment',
    title: 'Appointment',
    description: 'One appointment.',
    scope: 'appointments:read',
  })
  get(call: Call, id: string) {
    return this.appointments.get(call, id);
  }

  @Tool('create_appointment', {
    title: 'Book an appointment',
    description: 'Book an appointment with a lead; find the lead with list_leads first.',
    effect: 'creates',
    scope: 'appointments:write',
    input: CreateAppointmentDto,
    brief: { result: ['id'] },
    output: AgentAppointmentDto,
  })
  create(call: Call, appointment: CreateAppointmentDto) {
    return this.appointments.create(call, appointment);
  }

  @Tool('update_appointment', {
    title: 'Update an appointment',
    description:
      'Change the given fields of one appointment, such as its times, status or outcome. Its lead stays.',
    effect: 'updates',
    scope: 'appointments:write',
    id: APPOINTMENT,
    input: UpdateAppointmentDto,
    brief: { result: ['id'] },
    output: AgentAppointmentDto,
  })
  update(call: Call, id: string, changes: UpdateAppointmentDto) {
    return this.appointments.update(call, id, changes);
  }

  @Tool('cancel_appointment', {
    title: 'Cancel an appointment',
    description:
      'Set the status of one appointment to cancelled; it stays readable. Confirm with the user first.',
    effect: 'deletes',
    scope: 'appointments:write',
    id: APPOINTMENT,
    resource: 'appointment',
    brief: { result: ['id'] },
    output: CancelledAppointmentDto,
  })
  cancel(call: Call, id: string) {
    return this.appointments.cancel(call, id);
  }
}
