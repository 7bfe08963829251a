import { Injectable } from '@nestjs/common';
import { parseDateTime } from '../../platform/fields/kinds/date-time.js';
import {
  Completion,
  type CompletionMatches,
  MAX_COMPLETIONS,
} from '../mcp/prompts/completion.decorator.js';
import { LeadsService } from '../leads/leads.service.js';
import type { Call } from '../../platform/data/call.js';
import type { AppointmentDto } from './appointment.dto.js';
import { AppointmentsService } from './appointments.service.js';

/** Completes the ids of appointments from a part of the day, lead, type, location or id. */
@Injectable()
export class AppointmentsCompletions {
  constructor(
    private readonly appointments: AppointmentsService,
    private readonly leads: LeadsService,
  ) {}

  @Completion({ name: 'appointment', scope: 'appointments:read' })
  async find(call: Call, typed: string): Promise<CompletionMatches> {
    const byId = await this.appointments.findByIdPrefix(call, typed, MAX_COMPLETIONS + 1);
    const order = { sort_by: 'start_time', sort_dir: 'asc' } as const;
    const from = { start_after: dayIn(typed) ?? startOfToday() };
    const query = { page: 1, limit: MAX_COMPLETIONS, ...order, ...from };
    const { data, meta } = await this.appointments.list(call, query);
    const names = await this.namesOf(call, [...data, ...byId]);
    const matchOf = (appointment: AppointmentDto) => {
      return { id: appointment.id, label: labelOf(appointment, names.get(appointment.lead_id)) };
    };
    const found = data.map(matchOf).filter(({ label }) => contains(label, typed));
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

function contains(label: string, typed: string): boolean {
  return label.toLowerCase().includes(typed.toLowerCase());
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
