import { Module } from '@nestjs/common';
import { CustomFieldsModule } from '../custom-fields/custom-fields.module.js';
import { EventsModule } from '../events/events.module.js';
import { LeadsModule } from '../leads/leads.module.js';
import { AppointmentsController } from './appointments.controller.js';
import { AppointmentsRepository } from './appointments.repository.js';
import { AppointmentsService } from './appointments.service.js';
import { AppointmentsTools } from './appointments.tools.js';

@Module({
  imports: [CustomFieldsModule, EventsModule, LeadsModule],
  controllers: [AppointmentsController],
  providers: [AppointmentsRepository, AppointmentsService, AppointmentsTools],
  exports: [AppointmentsService],
})
export class AppointmentsModule {}
