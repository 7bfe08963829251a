import { Injectable } from '@nestjs/common';
import { DateTime, Uuid } from '../fields/kinds.js';
import { Prompt, type PromptPart } from '../mcp/prompt.decorator.js';
import type { Actor } from '../tenancy/actor.js';
import { listed } from './parts.js';
import { SalesRecords } from './sales-records.js';

const DAY_MS = 86_400_000;

class PlanMyDayDto {
  @DateTime({ description: 'The day, in UTC, such as 2026-03-02; today if left out.' })
  date?: Date;
  @Uuid({ description: 'Only tasks of this team member, by the id of your own users.' })
  assigned_to_user_id?: string;
}

/** What is to be done on a day. */
@Injectable()
export class PlanMyDayPrompt {
  constructor(private readonly records: SalesRecords) {}

  @Prompt('plan_my_day', {
    title: 'Plan my day',
    description: 'Plan a day from its appointments, and the open tasks that are due by then.',
    scopes: ['tasks:read', 'appointments:read'],
    input: PlanMyDayDto,
  })
  async make(
    actor: Actor,
    { date = new Date(), assigned_to_user_id }: PlanMyDayDto,
  ): Promise<PromptPart[]> {
    const day = date.toISOString().slice(0, 10);
    const start_after = new Date(day);
    const start_before = new Date(start_after.getTime() + DAY_MS);
    const [appointments, tasks] = await Promise.all([
      this.records.appointmentsDue(actor, { start_after, start_before }),
      this.records.openTasks(actor, { assigned_to: assigned_to_user_id, due_before: start_before }),
    ]);
    return [
      `Help me plan ${day}. All times are UTC. It is ${new Date().toISOString()}.`,
      ...listed('Appointments of the day, the earliest first', 'appointment', appointments),
      ...listed('Open tasks due that day or overdue, the most pressing first', 'task', tasks),
      'Make a plan for the day: the appointments are fixed, the most pressing tasks go between them. ' +
        'Say which are overdue, and which had better move to another day. Change nothing before I agree.',
    ];
  }
}
