import { Module } from '@nestjs/common';
import { AppointmentsModule } from './appointments/appointments.module.js';
import { LeadsModule } from './leads/leads.module.js';
import { PromptsModule } from './prompts/prompts.module.js';
import { TasksModule } from './tasks/tasks.module.js';

/** The features of the product. A team adds its own modules to this list. */
@Module({ imports: [LeadsModule, AppointmentsModule, TasksModule, PromptsModule] })
export class AppModule {}
