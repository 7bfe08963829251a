import { Module } from '@nestjs/common';
import { AppointmentsModule } from '../appointments/appointments.module.js';
import { LeadsModule } from '../leads/leads.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { SalesPrompts } from './sales.prompt.js';

/** Prompts for a sales team, which combine records of several features. */
@Module({
  imports: [LeadsModule, AppointmentsModule, TasksModule],
  providers: [SalesPrompts],
})
export class PromptsModule {}
