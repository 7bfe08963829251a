import { Injectable } from '@nestjs/common';
import { DateTime, Uuid } from '../../platform/fields/kinds/kinds.js';
import { Prompt, type PromptPart } from '../mcp/prompts/prompt.decorator.js';
import type { Call } from '../../platform/data/call.js';
import { listParts } from './prompt-parts.js';
import { SalesRecords } from './sales-records.js';

const DAY_MS = 86_400_000;

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

@Injectable()
export class PlanMyDayPrompt {
  constructor(private readonly records: SalesRecords) {}

  @Prompt('plan_my_day', {
    title: 'Plan my day',
    description: 'Plan a day from its appointments, and the open tasks that are due by then.',
    scopes: ['tasks:read', 'appointments:read'],
    input: PlanMyDayDto,
  })
  async build(call: Call, { date, assigned_to_user_id }: PlanMyDayDto): Promise<PromptPart[]> {
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
}

/** @returns the date of a UTC day, or the 24 hours from any other start */
function describeDay(start: Date): string {
  const time = start.toISOString();
  const [day] = time.split('T00:00:00.000Z');
  return day === time ? `the 24 hours from ${time}` : String(day);
}
