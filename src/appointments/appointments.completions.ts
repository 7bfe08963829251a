import { Injectable } from '@nestjs/common';
import { parseDateTime } from '../fields/date-time.js';
import { Completion, type Matches } from '../mcp/completion.decorator.js';
import type { Actor } from '../tenancy/actor.js';
import type { AppointmentDto } from './appointment.dto.js';
import { AppointmentsService } from './appointments.service.js';

const MOST = 100;

/** Finds appointments by what was typed of their days, types, places or ids. */
@Injectable()
export class AppointmentsCompletions {
  constructor(private readonly appointments: AppointmentsService) {}

  @Completion({ name: 'appointment', scope: 'appointments:read' })
  async find(actor: Actor, typed: string): Promise<Matches> {
    const byId = await this.appointments.startingWith(actor, typed, MOST + 1);
    const order = { sort_by: 'start_time', sort_dir: 'asc' } as const;
    const from = { start_after: dayIn(typed) ?? startOfToday() };
    const query = { page: 1, limit: MOST, ...order, ...from };
    const { data, meta } = await this.appointments.list(actor, query);
    const found = data.map(matchOf).filter(({ label }) => contains(label, typed));
    return { found: [...found, ...byId.map(matchOf)], hasMore: meta.total > data.length };
  }
}

function contains(label: string, typed: string): boolean {
  return label.toLowerCase().includes(typed.toLowerCase());
}

/** The first moment of the day, or month, that a text begins with. */
function dayIn(typed: string): Date | undefined {
  const [, month, day = '-01'] = /^(\d{4}-\d\d)(-\d\d)?/.exec(typed) ?? [];
  return month === undefined ? undefined : parseDateTime(month + day, 'down');
}

function startOfToday(): Date {
  return new Date(new Date().toISOString().slice(0, 10));
}

function matchOf({ id, start_time, type, location }: AppointmentDto) {
  const time = start_time.toISOString().slice(0, 16).replace('T', ' ');
  return { id, label: [`${time} UTC`, type, location].filter((part) => part !== null).join(', ') };
}
