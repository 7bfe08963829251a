import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { LeadsModule } from '../leads/leads.module.js';
import { ResourcesModule } from '../resources/resources.module.js';
import { AppointmentBookings } from './appointment-bookings.service.js';
import { AppointmentsController } from './appointments.controller.js';
import { AppointmentsRepository } from './appointments.repository.js';
import { AppointmentsService } from './appointments.service.js';
import { AppointmentsTools } from './appointments.tools.js';

@Module({
  imports: [EventsModule, LeadsModule, ResourcesModule],
  controllers: [AppointmentsController],
  providers: [AppointmentsRepository, AppointmentBookings, AppointmentsService, AppointmentsTools],
  exports: [AppointmentsService],
})
export class AppointmentsModule {}
