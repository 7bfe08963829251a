import { Injectable } from '@nestjs/common';
import type { AppointmentDto, AppointmentListQuery } from '../appointments/appointment.dto.js';
import { AppointmentsService } from '../appointments/appointments.service.js';
import { ApiError } from '../../platform/errors/api-error.js';
import type { LeadDto } from '../leads/lead.dto.js';
import { LeadComplianceService } from '../leads/lead-compliance.service.js';
import { LeadsService } from '../leads/leads.service.js';
import type { Call } from '../../platform/data/call.js';
import { TASK_PRIORITIES, type TaskDto, type TaskListQuery } from '../tasks/task.dto.js';
import { TasksService } from '../tasks/tasks.service.js';
import { type ListExcerpt, mergeLists } from './prompt-parts.js';

const MAX_TASKS = 20;
const MAX_APPOINTMENTS = 10;
const MAX_APPOINTMENTS_OF_DAY = 20;

/** Reads the records that prompts attach. */
@Injectable()
export class SalesRecords {
  constructor(
    private readonly leads: LeadsService,
    private readonly appointments: AppointmentsService,
    private readonly tasks: TasksService,
    private readonly compliance: LeadComplianceService,
  ) {}

  /** @throws ApiError `not_found` */
  lead(call: Call, id: string): Promise<LeadDto> {
    return this.leads.get(call, id);
  }

  /** @throws ApiError `not_found` */
  appointment(call: Call, id: string): Promise<AppointmentDto> {
    return this.appointments.get(call, id);
  }

  /** @returns the appointments with a lead, latest first */
  async appointmentsWith(call: Call, lead_id: string): Promise<ListExcerpt<AppointmentDto>> {
    const order = { sort_by: 'start_time', sort_dir: 'desc' } as const;
    const query = { lead_id, page: 1, limit: MAX_APPOINTMENTS, ...order };
    const { data, meta } = await this.appointments.list(call, query);
    return { data, total: meta.total };
  }

  /** @returns the scheduled and confirmed appointments between two times, earliest first */
  async appointmentsDue(
    call: Call,
    times: Pick<AppointmentListQuery, 'start_after' | 'start_before'>,
  ): Promise<ListExcerpt<AppointmentDto>> {
    const order = { sort_by: 'start_time', sort_dir: 'asc' } as const;
    const query = { page: 1, limit: MAX_APPOINTMENTS_OF_DAY, ...order, ...times };
    const statuses = ['scheduled', 'confirmed'] as const;
    const lists = statuses.map((status) => this.appointments.list(call, { ...query, status }));
    const byTime = (a: AppointmentDto, b: AppointmentDto) =>
      Number(a.start_time) - Number(b.start_time);
    return mergeLists(await Promise.all(lists), byTime, MAX_APPOINTMENTS_OF_DAY);
  }

  /** @returns the open tasks, by priority and then by due date */
  async openTasks(
    call: Call,
    filter: Pick<TaskListQuery, 'assigned_to' | 'contact_id' | 'due_before'>,
  ): Promise<ListExcerpt<TaskDto>> {
    const order = { sort_by: 'priority', sort_dir: 'desc' } as const;
    const query = { page: 1, limit: MAX_TASKS, ...order, ...filter };
    const statuses = ['open', 'in_progress'] as const;
    const lists = statuses.map((status) => this.tasks.list(call, { ...query, status }));
    return mergeLists(await Promise.all(lists), byUrgency, MAX_TASKS);
  }

  /** @returns a sentence that says whether the lead may be contacted */
  async contactRule(call: Call, lead: LeadDto): Promise<string> {
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

function byUrgency(a: TaskDto, b: TaskDto): number {
  const rank = ({ priority }: TaskDto) => TASK_PRIORITIES.indexOf(priority);
  return rank(b) - rank(a) || dueTime(a) - dueTime(b);
}

function dueTime({ due_date }: TaskDto): number {
  return due_date?.getTime() ?? Infinity;
}
