import { Injectable } from '@nestjs/common';
import type { AppointmentDto } from '../appointments/appointment.dto.js';
import { ApiError } from '../../platform/errors/api-error.js';
import { DateTime, Uuid } from '../../platform/fields/kinds/kinds.js';
import { LabelledId } from '../mcp/prompts/labelled-id.js';
import { Prompt, type PromptPart } from '../mcp/prompts/prompt.decorator.js';
import type { Call } from '../../platform/data/call.js';
import { listParts } from './prompt-parts.js';
import { SalesRecords } from './sales-records.js';

const DAY_MS = 86_400_000;

class PrepareAppointmentDto {
  @LabelledId('appointment', { required: true, description: 'The appointment to prepare for.' })
  appointment_id: string;
}

class PlanMyDayDto {
  // Required, because the server does not know the time zone of the user and so not the current day.
  @DateTime({
    required: true,
    description:
      'The day to plan, such as 2026-03-02, from midnight in UTC. In another time zone give its beginning there, such as 2026-03-02T00:00-08:00.',
  })
  date: Date;
  @Uuid({ description: 'Only tasks of this team member, by the id of your own users.' })
  assigned_to_user_id?: string;
}

class FollowUpLeadDto {
  @LabelledId('lead', { required: true, description: 'The lead to follow up on.' })
  lead_id: string;
}

/** Prompts for a sales team, which combine records of several features (docs/contract/mcp.md#prompts). */
@Injectable()
export class SalesPrompts {
  constructor(private readonly records: SalesRecords) {}

  @Prompt('prepare_appointment', {
    title: 'Prepare for an appointment',
    description: 'Sum up an appointment and its lead, with all that is open between you.',
    scopes: ['appointments:read', 'leads:read', 'tasks:read'],
    input: PrepareAppointmentDto,
  })
  async prepareAppointment(
    call: Call,
    { appointment_id }: PrepareAppointmentDto,
  ): Promise<PromptPart[]> {
    const appointment = await this.records.appointment(call, appointment_id);
    return [
      `Help me prepare for an appointment. It is ${new Date().toISOString()}. The appointment:`,
      { kind: 'appointment', record: appointment },
      ...(await this.partsAbout(call, appointment)),
      'Give me one page: who the lead is and how to reach it, what the appointment is for, what happened before, ' +
        'what is still open, and three things to ask or to offer. Say what is missing in the records.',
    ];
  }

  @Prompt('plan_my_day', {
    title: 'Plan my day',
    description: 'Plan a day from its appointments, and the open tasks that are due by then.',
    scopes: ['tasks:read', 'appointments:read'],
    input: PlanMyDayDto,
  })
  async planMyDay(call: Call, { date, assigned_to_user_id }: PlanMyDayDto): Promise<PromptPart[]> {
    const start_after = date;
    const start_before = new Date(date.getTime() + DAY_MS);
    const [appointments, tasks] = await Promise.all([
      this.records.appointmentsDue(call, { start_after, start_before }),
      this.records.openTasks(call, { assigned_to: assigned_to_user_id, due_before: start_before }),
    ]);
    return [
      `Help me plan ${describeDay(date)}. All times are UTC. It is ${new Date().toISOString()}.`,
      ...listParts('Appointments of the day, the earliest first', 'appointment', appointments),
      ...listParts('Open tasks due that day or overdue, the most pressing first', 'task', tasks),
      'Make a plan for the day: the appointments are fixed, the most pressing tasks go between them. ' +
        'Say which are overdue, and which had better move to another day. Change nothing before I agree.',
    ];
  }

  @Prompt('follow_up_lead', {
    title: 'Follow up on a lead',
    description: 'Propose the next step with a lead, from its data, appointments and open tasks.',
    scopes: ['leads:read', 'appointments:read', 'tasks:read'],
    input: FollowUpLeadDto,
  })
  async followUpLead(call: Call, { lead_id }: FollowUpLeadDto): Promise<PromptPart[]> {
    const lead = await this.records.lead(call, lead_id);
    const [appointments, tasks, contactRule] = await Promise.all([
      this.records.appointmentsWith(call, lead_id),
      this.records.openTasks(call, { contact_id: lead_id }),
      this.records.contactRule(call, lead),
    ]);
    return [
      `Help me follow up on a lead. It is ${new Date().toISOString()}. The lead:`,
      { kind: 'lead', record: lead },
      ...listParts('Its appointments, the latest first', 'appointment', appointments),
      ...listParts('Open tasks about it, the most pressing first', 'task', tasks),
      contactRule,
      'Tell me in a few sentences where we stand, then propose the one next step, and when to take it. ' +
        'If it is an appointment or a task, ask me before you create it; if it is a message that may be sent, draft it.',
    ];
  }

  private async partsAbout(call: Call, { id, lead_id: leadId }: AppointmentDto) {
    const [lead, appointments, tasks] = await Promise.all([
      this.records.lead(call, leadId).catch(undefinedIfNotFound),
      this.records.appointmentsWith(call, leadId),
      this.records.openTasks(call, { contact_id: leadId }),
    ]);
    const others = {
      data: appointments.data.filter((one) => one.id !== id),
      total: appointments.total - 1,
    };
    return [
      ...(lead ? ['The lead:', { kind: 'lead', record: lead }] : ['The lead has been deleted.']),
      ...listParts('Other appointments with the lead, the latest first', 'appointment', others),
      ...listParts('Open tasks about the lead, the most pressing first', 'task', tasks),
      ...(lead ? [await this.records.contactRule(call, lead)] : []),
    ];
  }
}

/** @returns the date of a UTC day, or the 24 hours from any other start */
function describeDay(start: Date): string {
  const time = start.toISOString();
  const [day] = time.split('T00:00:00.000Z');
  return day === time ? `the 24 hours from ${time}` : String(day);
}

/** Appointments remain when their lead is deleted. */
function undefinedIfNotFound(error: unknown): undefined {
  if (error instanceof ApiError && error.code === 'not_found') return;
  throw error;
}
