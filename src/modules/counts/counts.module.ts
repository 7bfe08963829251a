import { Module } from '@nestjs/common';
import { AppointmentsModule } from '../appointments/appointments.module.js';
import { LeadsModule } from '../leads/leads.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { CountsTools } from './counts.tools.js';

/** One tool that counts the records of several resources. */
@Module({
  imports: [LeadsModule, AppointmentsModule, TasksModule],
  providers: [CountsTools],
})
export class CountsModule {}
