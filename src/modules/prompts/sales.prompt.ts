import { Injectable } from '@nestjs/common';
import type { AppointmentDto, AppointmentListQuery } from '../appointments/appointment.dto.js';
import { AppointmentsService } from '../appointments/appointments.service.js';
import type { LeadDto } from '../leads/lead.dto.js';
import { LeadComplianceService } from '../leads/lead-compliance.service.js';
import { LeadsService } from '../leads/leads.service.js';
import { TASK_PRIORITIES, type TaskDto, type TaskListQuery } from '../tasks/task.dto.js';
import { TasksService } from '../tasks/tasks.service.js';
import { ApiError } from '../../platform/errors/api-error.js';
import { DateTime, Uuid } from '../../platform/fields/kinds/kinds.js';
import { LabelledId } from '../mcp/prompts/labelled-id.js';
import { Prompt, type PromptPart } from '../mcp/prompts/prompt.decorator.js';
import type { Call } from '../../platform/data/call.js';

const DAY_MS = 86_400_000;
const MAX_TASKS = 20;
const MAX_APPOINTMENTS = 10;
const MAX_APPOINTMENTS_OF_DAY = 20;

/** The first records of a list, and the number of all. */
interface Excerpt<T> {
  readonly data: readonly T[];
  readonly meta: { readonly total: number };
}

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
  constructor(
    private readonly leads: LeadsService,
    private readonly appointments: AppointmentsService,
    private readonly tasks: TasksService,
    private readonly compliance: LeadComplianceService,
  ) {}

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
    const appointment = await this.appointments.get(call, appointment_id);
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
      this.appointmentsDue(call, { start_after, start_before }),
      this.openTasks(call, { assigned_to: assigned_to_user_id, due_before: start_before }),
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
    const lead = await this.leads.get(call, lead_id);
    const [appointments, tasks, contactRule] = await Promise.all([
      this.appointmentsWith(call, lead_id),
      this.openTasks(call, { contact_id: lead_id }),
      this.contactRule(call, lead),
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
      this.leads.get(call, leadId).catch(undefinedIfNotFound),
      this.appointmentsWith(call, leadId),
      this.openTasks(call, { contact_id: leadId }),
    ]);
    const others = {
      data: appointments.data.filter((one) => one.id !== id),
      meta: { total: appointments.meta.total - 1 },
    };
    return [
      ...(lead ? ['The lead:', { kind: 'lead', record: lead }] : ['The lead has been deleted.']),
      ...listParts('Other appointments with the lead, the latest first', 'appointment', others),
      ...listParts('Open tasks about the lead, the most pressing first', 'task', tasks),
      ...(lead ? [await this.contactRule(call, lead)] : []),
    ];
  }

  /** @returns the appointments with a lead, latest first */
  private appointmentsWith(call: Call, lead_id: string): Promise<Excerpt<AppointmentDto>> {
    const order = { sort_by: 'start_time', sort_dir: 'desc' } as const;
    return this.appointments.list(call, { lead_id, page: 1, limit: MAX_APPOINTMENTS, ...order });
  }

  /** @returns the scheduled and confirmed appointments between two times, earliest first */
  private async appointmentsDue(
    call: Call,
    times: Pick<AppointmentListQuery, 'start_after' | 'start_before'>,
  ): Promise<Excerpt<AppointmentDto>> {
    const order = { sort_by: 'start_time', sort_dir: 'asc' } as const;
    const query = { page: 1, limit: MAX_APPOINTMENTS_OF_DAY, ...order, ...times };
    const statuses = ['scheduled', 'confirmed'] as const;
    const lists = statuses.map((status) => this.appointments.list(call, { ...query, status }));
    const byTime = (a: AppointmentDto, b: AppointmentDto) =>
      Number(a.start_time) - Number(b.start_time);
    return mergeLists(await Promise.all(lists), byTime, MAX_APPOINTMENTS_OF_DAY);
  }

  /** @returns the open tasks, by priority and then by due date */
  private async openTasks(
    call: Call,
    filter: Pick<TaskListQuery, 'assigned_to' | 'contact_id' | 'due_before'>,
  ): Promise<Excerpt<TaskDto>> {
    const order = { sort_by: 'priority', sort_dir: 'desc' } as const;
    const query = { page: 1, limit: MAX_TASKS, ...order, ...filter };
    const statuses = ['open', 'in_progress'] as const;
    const lists = statuses.map((status) => this.tasks.list(call, { ...query, status }));
    return mergeLists(await Promise.all(lists), byUrgency, MAX_TASKS);
  }

  /** @returns a sentence that says whether the lead may be contacted */
  private async contactRule(call: Call, lead: LeadDto): Promise<string> {
    try {
      await this.compliance.assertContactable(call, lead);
      return 'The lead may be contacted.';
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const calls = lead.on_dnc_list ? ', nor call it' : '';
      return `${error.message} Do not message the lead${calls}, and propose nothing of the kind.`;
    }
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

function byUrgency(a: TaskDto, b: TaskDto): number {
  const rank = ({ priority }: TaskDto) => TASK_PRIORITIES.indexOf(priority);
  return rank(b) - rank(a) || dueTime(a) - dueTime(b);
}

function dueTime({ due_date }: TaskDto): number {
  return due_date?.getTime() ?? Infinity;
}

/** @returns a line with the title and the number of records, followed by the records */
function listParts(
  title: string,
  kind: string,
  { data, meta: { total } }: Excerpt<{ readonly id: string }>,
): PromptPart[] {
  const count = data.length < total ? `the first ${data.length} of ${total}` : String(total);
  return [`${title}: ${count}.`, ...data.map((record) => ({ kind, record }))];
}

/**
 * Merges lists in a common order.
 * @param limit the maximum number of records to keep
 */
function mergeLists<T>(
  lists: readonly Excerpt<T>[],
  compare: (a: T, b: T) => number,
  limit: number,
): Excerpt<T> {
  return {
    data: lists
      .flatMap(({ data }) => data)
      .sort(compare)
      .slice(0, limit),
    meta: { total: lists.reduce((sum, { meta }) => sum + meta.total, 0) },
  };
}
