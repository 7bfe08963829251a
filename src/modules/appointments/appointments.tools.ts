import { Injectable } from '@nestjs/common';
import { parseDateTime } from '../../platform/fields/kinds/date-time.js';
import { LeadsService } from '../leads/leads.service.js';
import {
  Completion,
  type CompletionMatches,
  MAX_COMPLETIONS,
} from '../mcp/prompts/completion.decorator.js';
import { Resource } from '../mcp/resources/resource.decorator.js';
import { Tool } from '../mcp/tools/tool.decorator.js';
import type { Call } from '../../platform/data/call.js';
import { Page } from '../../platform/data/lists/page.js';
import {
  type AppointmentDto,
  AgentAppointmentDto,
  FindAppointmentsQuery,
  CancelledAppointmentDto,
  CreateAppointmentDto,
  UpdateAppointmentDto,
} from './appointment.dto.js';
import { ResourcesService } from '../resources/resources.service.js';
import { AppointmentsService } from './appointments.service.js';

/** What an appointment of a resource has in addition. */
const LOCAL = ['resource_name', 'time_zone', 'local_start', 'local_end'];

const APPOINTMENT = 'Id of the appointment, from list_appointments.';

/** Appointments for agents (docs/contract/mcp.md#tools). */
@Injectable()
export class AppointmentsTools {
  constructor(
    private readonly appointments: AppointmentsService,
    private readonly leads: LeadsService,
    private readonly resources: ResourcesService,
  ) {}

  @Tool('list_appointments', {
    title: 'List appointments',
    description:
      'Find appointments by lead, status or time. Answers summaries with the exact total; get_appointment has every field.',
    effect: 'reads',
    scope: 'appointments:read',
    input: FindAppointmentsQuery,
    summary: [
      ...['id', 'lead_id', 'lead_name', 'lead_phone', 'lead_email'],
      ...['start_time', 'end_time', 'status'],
      ...LOCAL,
    ],
    brief: { result: ['id'] },
    output: [AgentAppointmentDto],
  })
  async list(call: Call, query: FindAppointmentsQuery, fields: readonly string[] = []) {
    const needed = ['resource_id', ...fields];
    const page = await this.appointments.list(call, { ...query, fields: needed });
    return new Page(await this.resources.allWithLocalTimes(call, page.data), page.meta);
  }

  @Tool('get_appointment', {
    title: 'Get an appointment',
    description: 'Get one appointment; update_appointment changes it.',
    effect: 'reads',
    scope: 'appointments:read',
    id: APPOINTMENT,
    brief: { result: ['id'] },
    output: AgentAppointmentDto,
  })
  async get(call: Call, id: string): Promise<AgentAppointmentDto> {
    return this.resources.withLocalTimes(call, await this.appointments.get(call, id));
  }

  @Resource({
    name: 'appointment',
    title: 'Appointment',
    description: 'One appointment.',
    scope: 'appointments:read',
  })
  read(call: Call, id: string) {
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
  async create(call: Call, appointment: CreateAppointmentDto): Promise<AgentAppointmentDto> {
    const created = await this.appointments.create(call, appointment);
    return this.resources.withLocalTimes(call, created);
  }

  @Tool('update_appointment', {
    title: 'Update an appointment',
    description:
      'Change one appointment, such as its times, status or outcome; the fields of parameters that are not given stay.',
    effect: 'updates',
    scope: 'appointments:write',
    id: APPOINTMENT,
    input: UpdateAppointmentDto,
    brief: { result: ['id'] },
    output: AgentAppointmentDto,
  })
  async update(
    call: Call,
    id: string,
    changes: UpdateAppointmentDto,
  ): Promise<AgentAppointmentDto> {
    const updated = await this.appointments.update(call, id, changes);
    return this.resources.withLocalTimes(call, updated);
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

  /** Completes the ids of appointments from a part of the day, lead, type, location or id. */
  @Completion({ name: 'appointment', scope: 'appointments:read' })
  async complete(call: Call, typed: string): Promise<CompletionMatches> {
    const byId = await this.appointments.findByIdPrefix(call, typed, MAX_COMPLETIONS + 1);
    const order = { sort_by: 'start_time', sort_dir: 'asc' } as const;
    const from = { start_after: dayIn(typed) ?? startOfToday() };
    const query = { page: 1, limit: MAX_COMPLETIONS, ...order, ...from };
    const { data, meta } = await this.appointments.list(call, query);
    const names = await this.namesOf(call, [...data, ...byId]);
    const matchOf = (appointment: AppointmentDto) => {
      return { id: appointment.id, label: labelOf(appointment, names.get(appointment.lead_id)) };
    };
    const isMatch = (label: string) => label.toLowerCase().includes(typed.toLowerCase());
    const found = data.map(matchOf).filter(({ label }) => isMatch(label));
    return { matches: [...found, ...byId.map(matchOf)], hasMore: meta.total > data.length };
  }

  /** The names of the leads, if the key may read them. */
  private namesOf(call: Call, appointments: readonly AppointmentDto[]) {
    const ids = call.actor.scopes.has('leads:read')
      ? appointments.map(({ lead_id }) => lead_id)
      : [];
    return this.leads.findNames(call, [...new Set(ids)]);
  }
}

/** The start of the day or month that a string starts with. */
function dayIn(typed: string): Date | undefined {
  const [, month, day = '-01'] = /^(\d{4}-\d\d)(-\d\d)?/.exec(typed) ?? [];
  return month === undefined ? undefined : parseDateTime(month + day, 'down');
}

function startOfToday(): Date {
  return new Date(new Date().toISOString().slice(0, 10));
}

function labelOf({ start_time, type, location }: AppointmentDto, lead: string | undefined): string {
  const time = start_time.toISOString().slice(0, 16).replace('T', ' ');
  return [`${time} UTC`, lead, type, location].filter((part) => part != null).join(', ');
}
