import { Injectable, type Type } from '@nestjs/common';
import { assertScopes } from '../../platform/access/scopes.js';
import type { Call } from '../../platform/data/call.js';
import { type Counts, CountsDto } from '../../platform/data/lists/count.dto.js';
import { validationError } from '../../platform/errors/api-error.js';
import { scopesOfValues } from '../../platform/fields/field.js';
import { readInput } from '../../platform/fields/input/read-input.js';
import { AppointmentCountQuery } from '../appointments/appointment.dto.js';
import { AppointmentsService } from '../appointments/appointments.service.js';
import { LeadCountQuery } from '../leads/lead.dto.js';
import { LeadsService } from '../leads/leads.service.js';
import { Tool } from '../mcp/tools/tool.decorator.js';
import { TaskCountQuery } from '../tasks/task.dto.js';
import { TasksService } from '../tasks/tasks.service.js';
import { type CountedKind, CountRecordsDto } from './counts-tools.dto.js';

/** The tool that counts records of every kind (docs/contract/mcp.md#tools). */
@Injectable()
export class CountsTools {
  private readonly countOf: Readonly<
    Record<CountedKind, (call: Call, input: object) => Promise<Counts>>
  >;

  constructor(leads: LeadsService, appointments: AppointmentsService, tasks: TasksService) {
    this.countOf = {
      lead: (call, input) => leads.count(call, read(call, LeadCountQuery, input)),
      appointment: (call, input) =>
        appointments.count(call, read(call, AppointmentCountQuery, input)),
      task: (call, input) => tasks.count(call, read(call, TaskCountQuery, input)),
    };
  }

  @Tool('count_records', {
    title: 'Count records',
    description:
      'Count leads, appointments or tasks by value, day, week or month, with the exact total. Use it for every question of how many.',
    effect: 'reads',
    scope: 'any-key',
    someScope: ['leads:read', 'appointments:read', 'tasks:read'],
    input: CountRecordsDto,
    output: CountsDto,
  })
  count(call: Call, { record, ...input }: CountRecordsDto) {
    return this.countOf[record](call, input);
  }
}

/**
 * Reads the arguments as the parameters of the counts of one kind of record.
 * @throws ApiError `validation_error`, `insufficient_scope`
 */
function read<T extends object>(call: Call, query: Type<T>, input: object): T {
  const { value, problems } = readInput(query, input);
  if (problems.length > 0) throw validationError(problems);
  assertScopes(call.actor, scopesOfValues(query)?.(value) ?? []);
  return value;
}
